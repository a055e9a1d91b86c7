//! A standard library for wasm32-unknown-unknown.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::rebuilt;
use crate::Result;
use crate::process::{Step, capture, command};

pub const TRIPLE: &str = "wasm32-unknown-unknown";

/// The toolchain that can build for wasm: the active one, or the one linked under this name.
pub struct Wasm {
    linked: Option<&'static str>,
}

impl Wasm {
    /// A command in which `cargo` and `rustc` are those of this toolchain.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = command(program);
        if let Some(name) = self.linked {
            command.env("RUSTUP_TOOLCHAIN", name);
        }
        command
    }
}

/// Takes the first road that is open: the target is there; rustup fetches it; it is rebuilt from Debian's packages.
pub fn ready() -> Result<Wasm> {
    let forced = std::env::var("FOREWORD_WASM_ROAD").is_ok_and(|road| road == "rebuilt");
    if !forced && active_has_target()? {
        return Ok(Wasm { linked: None });
    }
    if rebuilt::is_current() {
        return Ok(Wasm { linked: Some(rebuilt::NAME) });
    }
    if !forced {
        let step = Step {
            what: "rustup target add wasm32-unknown-unknown",
            usually: "10 s",
            give_up: Duration::from_secs(300),
        };
        match step.run(command("rustup").args(["target", "add", TRIPLE])) {
            Ok(_) => return Ok(Wasm { linked: None }),
            Err(failed) => println!("    not possible here ({}); rebuilding it instead", failed.reason),
        }
    }
    rebuilt::make()?;
    Ok(Wasm { linked: Some(rebuilt::NAME) })
}

fn active_has_target() -> Result<bool> {
    let sysroot = capture(command("rustc").args(["--print", "sysroot"]))
        .map_err(|why| format!("{why}\n  Install Rust with rustup, then run this again."))?;
    Ok(PathBuf::from(sysroot).join("lib/rustlib").join(TRIPLE).join("lib").is_dir())
}
