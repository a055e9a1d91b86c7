//! A standard library for wasm32-unknown-unknown, and its source, which the shipped module is compiled with.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use super::rebuilt;
use crate::Result;
use crate::process::{Failed, Step, capture, command};

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

/// Takes the first road that is open: target and source are there; rustup fetches them; both are Debian's.
pub fn ready() -> Result<Wasm> {
    let forced = std::env::var("FOREWORD_WASM_ROAD").is_ok_and(|road| road == "rebuilt");
    let missing = missing_from_active()?;
    if !forced && missing.is_empty() {
        return Ok(Wasm { linked: None });
    }
    if rebuilt::is_current() {
        return Ok(Wasm { linked: Some(rebuilt::NAME) });
    }
    if !forced {
        match fetch(&missing) {
            Ok(()) => return Ok(Wasm { linked: None }),
            Err(failed) => println!("    not possible here ({}); rebuilding it instead", failed.reason),
        }
    }
    rebuilt::make()?;
    Ok(Wasm { linked: Some(rebuilt::NAME) })
}

/// What rustup is to add to the active toolchain: each item the arguments of one call.
fn missing_from_active() -> Result<Vec<[&'static str; 3]>> {
    let sysroot = capture(command("rustc").args(["--print", "sysroot"]))
        .map_err(|why| format!("{why}\n  Install Rust with rustup, then run this again."))?;
    let rustlib = PathBuf::from(sysroot).join("lib/rustlib");
    let mut missing = Vec::new();
    if !rustlib.join(TRIPLE).join("lib").is_dir() {
        missing.push(["target", "add", TRIPLE]);
    }
    if !rustlib.join("src/rust/library/Cargo.lock").is_file() {
        missing.push(["component", "add", "rust-src"]);
    }
    Ok(missing)
}

fn fetch(missing: &[[&str; 3]]) -> Result<(), Failed> {
    for args in missing {
        let what = format!("rustup {}", args.join(" "));
        Step { what: &what, usually: "10 s", give_up: Duration::from_secs(300) }.run(command("rustup").args(args))?;
    }
    Ok(())
}
