//! From a new machine with rustup and Node to everything the other commands use.
//! Each step looks first, and does nothing when its work is already done.

pub mod browser;
mod debian;
mod installed;
mod npm;
mod rebuilt;
mod wasm_target;

use std::fs::File;

pub use npm::{Node, node, script};
pub use wasm_target::Wasm;

use crate::{Result, paths};

/// Everything, for every command.
pub fn everything() -> Result<()> {
    for_build()?;
    for_wasm_tests()?;
    for_hosts()?;
    for_integrations()?;
    browser::ready()?;
    println!("Set-up is complete.");
    Ok(())
}

/// What building the module needs.
pub fn for_build() -> Result<Wasm> {
    let _alone = alone()?;
    npm::ready()?;
    let wasm = wasm_target::ready()?;
    installed::wasm_bindgen()?;
    Ok(wasm)
}

/// What `wasm-pack test` needs besides a browser.
pub fn for_wasm_tests() -> Result<Wasm> {
    let _alone = alone()?;
    let wasm = wasm_target::ready()?;
    installed::wasm_bindgen()?;
    installed::wasm_pack()?;
    Ok(wasm)
}

/// The runtimes and bundlers that the package is tried in.
pub fn for_hosts() -> Result<()> {
    let _alone = alone()?;
    npm::hosts()
}

/// The SDKs that the package's integrations meet.
pub fn for_integrations() -> Result<()> {
    let _alone = alone()?;
    npm::integrations()
}

/// Two checkouts may be set up at the same time, and share one cache: the second waits.
fn alone() -> Result<File> {
    let path = paths::cache()?.join("lock");
    let cannot = |e: std::io::Error| format!("cannot lock {}: {e}", path.display());
    let file = File::create(&path).map_err(cannot)?;
    if file.try_lock().is_err() {
        println!("  Another set-up is running; waiting for it to end.");
        file.lock().map_err(cannot)?;
    }
    Ok(file)
}
