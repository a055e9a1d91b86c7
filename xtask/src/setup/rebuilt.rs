//! The second road to the wasm target: Debian ships a recent compiler together with the source of its standard
//! library, so the library is compiled for wasm here, once, and laid out as a toolchain that rustup can link.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::debian;
use super::wasm_target::TRIPLE;
use crate::process::{Step, capture, command};
use crate::{Result, paths};

/// The name under which rustup knows the toolchain.
pub const NAME: &str = "foreword-wasm";

const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-clippy", "rust-web-src"];
const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const CLIPPY: &str = "/usr/bin/cargo-clippy";
const SOURCE: &str = "/usr/lib/rustlib/src/rust/library";
const HOST: &str = "x86_64-unknown-linux-gnu";
const OLDEST: (u32, u32) = (1, 95);

/// Holds `rustc -vV` of the compiler that built the library: written last, so an interrupted set-up starts anew.
const STAMP: &str = "built-by";

pub fn is_current() -> bool {
    let Ok(dir) = folder() else { return false };
    let Ok(stamp) = fs::read_to_string(dir.join(STAMP)) else { return false };
    let same_compiler = capture(command(RUSTC).arg("-vV")).is_ok_and(|version| version == stamp);
    let linked = capture(command("rustup").args(["run", NAME, "rustc", "--print", "sysroot"]))
        .is_ok_and(|sysroot| Path::new(&sysroot) == dir);
    same_compiler && linked && linker_in(&dir).exists()
}

pub fn make() -> Result<()> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(format!("the target could not be added. Run `rustup target add {TRIPLE}`, then this again."));
    }
    if !debian_is_ready() {
        debian::install(&PACKAGES, "the wasm32 target")?;
    }
    let dir = folder()?;
    lay_out(&dir, &build_std()?)?;
    capture(command("rustup").args(["toolchain", "link", NAME]).arg(&dir))?;
    paths::write(&dir.join(STAMP), capture(command(RUSTC).arg("-vV"))?)
}

fn folder() -> Result<PathBuf> {
    Ok(paths::cache()?.join("toolchain"))
}

fn linker_in(dir: &Path) -> PathBuf {
    dir.join("lib/rustlib").join(HOST).join("bin/rust-lld")
}

fn debian_is_ready() -> bool {
    let recent = |program: &str| {
        // "rustc 1.96.0 (…)"
        let version = capture(command(program).arg("--version")).unwrap_or_default();
        let mut parts = version.split([' ', '.']).skip(1).map_while(|part| part.parse::<u32>().ok());
        let (Some(major), Some(minor)) = (parts.next(), parts.next()) else { return false };
        (major, minor) >= OLDEST
    };
    recent(RUSTC) && recent(CARGO) && Path::new(CLIPPY).exists() && Path::new(SOURCE).is_dir()
}

/// Compiles std in an empty crate; returns the folder with its `.rlib` files.
fn build_std() -> Result<PathBuf> {
    let dir = paths::cache()?.join("std");
    let _ = fs::remove_dir_all(&dir);
    paths::create_dir(&dir.join("src"))?;
    paths::write(&dir.join("Cargo.toml"), "[package]\nname = \"empty\"\nedition = \"2024\"\n[workspace]\n")?;
    paths::write(&dir.join("src/lib.rs"), "#![no_std]\n")?;
    let step = Step {
        what: "compiling the standard library for wasm32",
        usually: "1 to 2 minutes, once",
        give_up: Duration::from_secs(1800),
    };
    step.run(
        command(CARGO)
            .current_dir(&dir)
            .args(["build", "--release", "-Zbuild-std=std,panic_abort,test", "--target", TRIPLE])
            .env("RUSTC", RUSTC)
            .env("RUSTC_BOOTSTRAP", "1")
            // Without bitcode in the library, link-time optimization fails.
            .env("RUSTFLAGS", "-Cembed-bitcode=yes")
            .env("CARGO_TARGET_DIR", dir.join("target")),
    )?;
    Ok(dir.join("target").join(TRIPLE).join("release/deps"))
}

#[cfg(unix)]
fn lay_out(dir: &Path, rlibs: &Path) -> Result<()> {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let failed = |e: std::io::Error| format!("cannot lay out {}: {e}", dir.display());
    let _ = fs::remove_dir_all(dir);
    let rustlib = dir.join("lib/rustlib");
    let (host, wasm, bin) = (rustlib.join(HOST), rustlib.join(TRIPLE).join("lib"), dir.join("bin"));
    for folder in [&host.join("bin"), &wasm, &bin] {
        paths::create_dir(folder)?;
    }

    for entry in fs::read_dir(rlibs).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|ext| ext == "rlib") && !file_name(&path).starts_with("libempty-") {
            fs::copy(&path, wasm.join(file_name(&path))).map_err(failed)?;
        }
    }
    let shared = Path::new("/usr/lib/rustlib");
    symlink(shared.join(HOST).join("lib"), host.join("lib")).map_err(failed)?;
    for name in ["src", "etc"] {
        symlink(shared.join(name), rustlib.join(name)).map_err(failed)?;
    }
    // Debian's compiler comes without a linker for wasm; rustup's has one.
    let sysroot = capture(command("rustc").args(["--print", "sysroot"]))?;
    symlink(linker_in(Path::new(&sysroot)), linker_in(dir)).map_err(failed)?;

    symlink(CARGO, bin.join("cargo")).map_err(failed)?;
    let dir = dir.display();
    for (name, run) in [
        ("rustc", format!("/usr/bin/rustc --sysroot '{dir}'")),
        ("rustdoc", format!("/usr/bin/rustdoc --sysroot '{dir}'")),
        ("cargo-clippy", format!("env SYSROOT='{dir}' {CLIPPY}")),
    ] {
        let wrapper = bin.join(name);
        paths::write(&wrapper, format!("#!/bin/sh\nexec {run} \"$@\"\n"))?;
        fs::set_permissions(&wrapper, fs::Permissions::from_mode(0o755)).map_err(failed)?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn lay_out(_: &Path, _: &Path) -> Result<()> {
    unreachable!("refused before")
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
