//! Tools that `cargo install` builds, each at one exact version.

use std::time::Duration;

use crate::process::{Step, capture, command};
use crate::{Result, paths};

const WASM_PACK: &str = "0.15.1";

pub fn wasm_pack() -> Result<()> {
    install("wasm-pack", "wasm-pack", WASM_PACK, true)
}

/// The command-line tool must equal the library in Cargo.lock: both sides of the glue are made by one version.
/// Its own lock names a withdrawn crate, so it is built without.
pub fn wasm_bindgen() -> Result<()> {
    let lock = String::from_utf8_lossy(&paths::read(&paths::root().join("Cargo.lock"))?).into_owned();
    let version = locked_version(&lock, "wasm-bindgen").ok_or("Cargo.lock does not name wasm-bindgen")?;
    install("wasm-bindgen-cli", "wasm-bindgen", version, false)
}

fn install(package: &str, program: &str, version: &str, locked: bool) -> Result<()> {
    // "wasm-pack 0.15.1", "wasm-bindgen 0.2.130"
    let present = capture(command(paths::tool(program)?).arg("--version"));
    if present.is_ok_and(|line| line.split(' ').nth(1) == Some(version)) {
        return Ok(());
    }
    let cache = paths::cache()?;
    let build = cache.join("build");
    let what = format!("cargo install {package} {version}");
    let step = Step { what: &what, usually: "3 minutes, once", give_up: Duration::from_secs(3600) };
    let mut cargo = command("cargo");
    cargo
        .current_dir(&cache)
        .args(["install", package, "--force", "--version", &format!("={version}"), "--root"])
        .arg(cache.join("tools"))
        // Kept while building, so that an interrupted set-up goes on where it stopped.
        .env("CARGO_TARGET_DIR", &build)
        // The tools work on small files: a quick build beats a quick program.
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    if locked {
        cargo.arg("--locked");
    }
    step.run(&mut cargo)?;
    let _ = std::fs::remove_dir_all(build);
    Ok(())
}

fn locked_version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let mut lines = lock.lines();
    let name = format!("name = \"{package}\"");
    lines.find(|line| *line == name)?;
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[test]
fn finds_the_locked_version() {
    let lock = "[[package]]\nname = \"a-b\"\nversion = \"2.0.0\"\n\n[[package]]\nname = \"a\"\nversion = \"1.2.3\"\n";
    assert_eq!(locked_version(lock, "a"), Some("1.2.3"));
    assert_eq!(locked_version(lock, "c"), None);
}
