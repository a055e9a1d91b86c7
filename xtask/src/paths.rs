//! Where things are: the checkout, and the cache outside it.

use std::env;
use std::path::{Path, PathBuf};

use crate::Result;

/// The root of the checkout.
pub fn root() -> PathBuf {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().expect("xtask lies in the checkout").to_path_buf()
}

/// Where cargo puts what it builds.
pub fn target() -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(dir) => root().join(dir),
        None => root().join("target"),
    }
}

/// The shipped module and its glue.
pub fn wasm_out() -> PathBuf {
    root().join("pkg/wasm")
}

/// The JavaScript tests, whose package.json also pins the npm tools.
pub fn js() -> PathBuf {
    root().join("tests/js")
}

/// The JavaScript tests that need other hosts than Node, and their own package.json.
pub fn hosts() -> PathBuf {
    js().join("hosts")
}

/// The JavaScript tests against other people's clients and stores, and their own package.json.
pub fn integrations() -> PathBuf {
    js().join("integrations")
}

/// Tools and logs, shared by every checkout of this user.
pub fn cache() -> Result<PathBuf> {
    let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute("XDG_CACHE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
        .or_else(|| absolute("LOCALAPPDATA"))
        .ok_or("no place for the tools: set HOME or XDG_CACHE_HOME to an absolute path")?;
    let dir = base.join("foreword");
    create_dir(&dir)?;
    Ok(dir)
}

/// The tools that `cargo install` built.
pub fn tool(name: &str) -> Result<PathBuf> {
    Ok(cache()?.join("tools/bin").join(format!("{name}{}", env::consts::EXE_SUFFIX)))
}

pub fn create_dir(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|e| format!("cannot create {}: {e}", dir.display()))
}

pub fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| format!("cannot read {}: {e}", path.display()))
}

pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
}

/// The program of that name on PATH.
pub fn on_path(program: &str) -> Option<PathBuf> {
    let file = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|dir| dir.join(&file)).find(|path| path.is_file())
}

/// Every file that lies in a folder itself, in order.
pub fn files_in(dir: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |e| format!("cannot read {}: {e}", dir.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(cannot)? {
        files.push(entry.map_err(cannot)?.path());
    }
    files.retain(|path| path.is_file());
    files.sort();
    Ok(files)
}

/// Every file of a folder and the folders in it, in order.
pub fn files_under(dir: &Path) -> Result<Vec<PathBuf>> {
    let cannot = |e| format!("cannot read {}: {e}", dir.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).map_err(cannot)? {
        let path = entry.map_err(cannot)?.path();
        if path.is_dir() {
            files.extend(files_under(&path)?);
        } else {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
