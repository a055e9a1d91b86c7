//! The shipped module: compile, bind, optimize, into pkg/wasm.

use std::path::{Path, PathBuf};

use crate::setup::{self, Node, Wasm};
use crate::{Result, glue, parts, paths, process, size};

const TRIPLE: &str = "wasm32-unknown-unknown";
/// Of Cargo.toml.
const PROFILE: &str = "wasm";
const MODULE: &str = "foreword_bg.wasm";

/// The standard library is compiled with the module: without panic messages and formatting, and with the small one
/// of two sorts where it has both. On one state of the crate that took a fifth off the compressed module. A panic
/// is a trap either way; the host sees no message in either.
const RUST_FLAGS: [&str; 4] =
    ["-Zunstable-options", "-Cpanic=immediate-abort", "-Zlocation-detail=none", "-Zfmt-debug=none"];
const STD_FLAGS: [&str; 2] = ["-Zbuild-std=std,panic_abort", "-Zbuild-std-features=optimize_for_size"];

/// What the oldest hosts know (Node 20.19, Chrome 96, Firefox 89, Safari 16.4) and the compiler uses.
/// Enabling more makes a file that loads in none of them.
const WASM_OPT: [&str; 9] = [
    "-Oz",
    // It takes 2 % off the compressed module, and an engine compiles a hot loop without all that its only caller does besides.
    "--one-caller-inline-max-function-size=100",
    "--enable-bulk-memory",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
    "--enable-simd",
];
const STRIP: [&str; 2] = ["--strip-debug", "--strip-producers"];
const KEEP_NAMES: [&str; 1] = ["--debuginfo"];

/// Builds, and says how large the result is.
pub fn build() -> Result<()> {
    ready()?;
    size::print()
}

/// Builds with the names of the functions kept, and says what each part costs.
pub fn parts() -> Result<()> {
    let bound = paths::target().join("bound-with-names");
    bind(&compile(&setup::for_build()?)?, &bound, &["--no-demangle"])?;
    optimize(&bound, &KEEP_NAMES)?;
    parts::print(&bound.join(MODULE))
}

/// Builds unless nothing has changed.
pub fn ready() -> Result<()> {
    let wasm = setup::for_build()?;
    let inputs = fingerprint(&wasm)?;
    let stamp = paths::target().join("pkg-wasm.stamp");
    if std::fs::read_to_string(&stamp).is_ok_and(|done| done == stamp_of(&inputs)) {
        println!("pkg/wasm is up to date.");
        return Ok(());
    }
    println!("Building the wasm module (usually 1 to 2 minutes, less when little has changed)");
    let compiled = compile(&wasm)?;
    let bound = paths::target().join("bound");
    bind(&compiled, &bound, &[])?;
    optimize(&bound, &STRIP)?;
    paths::write(&bound.join("inline.js"), glue::inline(&paths::read(&bound.join(MODULE))?))?;
    publish(&bound)?;
    paths::write(&stamp, stamp_of(&inputs))
}

fn compile(wasm: &Wasm) -> Result<PathBuf> {
    // A crate type of its own: as one of several, a cdylib silently loses link-time optimization.
    let mut cargo = wasm.command("cargo");
    cargo.args(["rustc", "--locked", "--lib", "--no-default-features", "--crate-type", "cdylib"]);
    cargo.args(["--profile", PROFILE, "--target", TRIPLE]).args(STD_FLAGS);
    // Joined to those of .cargo/config.toml; the environment's would take their place.
    cargo.arg("--config").arg(format!("target.{TRIPLE}.rustflags={RUST_FLAGS:?}"));
    // The flags are not stable yet; a stable compiler takes them with this said.
    process::show(cargo.env("RUSTC_BOOTSTRAP", "1"))?;
    Ok(paths::target().join(TRIPLE).join(PROFILE).join("foreword.wasm"))
}

fn bind(compiled: &Path, out: &Path, more: &[&str]) -> Result<()> {
    let _ = std::fs::remove_dir_all(out);
    let mut bindgen = process::command(paths::tool("wasm-bindgen")?);
    bindgen.arg(compiled).arg("--out-dir").arg(out);
    process::show(bindgen.args(["--target", "web", "--out-name", "foreword", "--no-typescript"]).args(more))?;
    let file = out.join("foreword.js");
    let written = String::from_utf8_lossy(&paths::read(&file)?).into_owned();
    paths::write(&file, glue::wrap(&written)?)
}

fn optimize(dir: &Path, more: &[&str]) -> Result<()> {
    let file = dir.join(MODULE);
    let mut wasm_opt = setup::script(Node::OnPath, "binaryen/bin/wasm-opt");
    process::show(wasm_opt.args(WASM_OPT).args(more).arg(&file).arg("-o").arg(&file))
}

/// Puts the finished files in place only when all of them are there.
fn publish(from: &Path) -> Result<()> {
    let out = paths::wasm_out();
    let _ = std::fs::remove_dir_all(&out);
    paths::create_dir(&out)?;
    for file in paths::files_under(from)? {
        let name = file.strip_prefix(from).expect("a file of this folder");
        let to = out.join(name);
        paths::create_dir(to.parent().expect("a folder"))?;
        std::fs::copy(&file, &to).map_err(|e| format!("cannot copy to {}: {e}", to.display()))?;
    }
    Ok(())
}

/// Both sides: what went in, and what came out, should somebody have touched it since.
fn stamp_of(inputs: &str) -> String {
    let mut outputs = Hash::new();
    for file in paths::files_under(&paths::wasm_out()).unwrap_or_default() {
        outputs.file(&file);
    }
    format!("{inputs} {:016x}\n", outputs.0)
}

fn fingerprint(wasm: &Wasm) -> Result<String> {
    let root = paths::root();
    let mut hash = Hash::new();
    for folder in ["src", ".cargo"] {
        for file in paths::files_under(&root.join(folder))? {
            hash.bytes(file.strip_prefix(&root).expect("a file of the checkout").to_string_lossy().as_bytes());
            hash.file(&file);
        }
    }
    for file in ["Cargo.toml", "Cargo.lock", "tests/js/package-lock.json", "xtask/src/module.rs", "xtask/src/glue.rs"] {
        hash.file(&root.join(file));
    }
    hash.bytes(process::capture(wasm.command("rustc").arg("-vV"))?.as_bytes());
    hash.bytes(std::env::var("RUSTFLAGS").unwrap_or_default().as_bytes());
    Ok(format!("{:016x}", hash.0))
}

/// FNV-1a: it has to notice edits, not enemies, and to be the same in every run.
struct Hash(u64);

impl Hash {
    fn new() -> Hash {
        Hash(0xcbf2_9ce4_8422_2325)
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // The length first, so that bytes cannot move from one part to the next unnoticed.
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn file(&mut self, path: &Path) {
        self.bytes(&std::fs::read(path).unwrap_or_default());
    }
}
