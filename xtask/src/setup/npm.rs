//! The tools that come from npm, pinned by tests/js/package-lock.json: wasm-opt, Node 24, the browser fetcher.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::process::{Step, capture, command};
use crate::{Result, paths};

/// The oldest Node that the package promises to run on.
const OLDEST: (u32, u32) = (20, 19);

#[derive(Clone, Copy)]
pub enum Node {
    /// The machine's own.
    OnPath,
    /// The one that npm brought.
    TwentyFour,
}

pub fn node(which: Node) -> Command {
    match which {
        Node::OnPath => command("node"),
        Node::TwentyFour => command(modules().join(".bin/node")),
    }
}

/// Runs a program of an npm package with Node.
pub fn script(which: Node, path_in_modules: &str) -> Command {
    let mut command = node(which);
    command.arg(modules().join(path_in_modules));
    command
}

pub fn ready() -> Result<()> {
    install(&paths::js(), "npm ci in tests/js: wasm-opt, Node 24 and other tools", "20 s")
}

/// The hosts and bundlers that the package is tried in.
pub fn hosts() -> Result<()> {
    install(&paths::hosts(), "npm ci in tests/js/hosts: Deno, Bun, workerd, bundlers", "40 s")
}

/// The SDKs, stores and databases that the integrations meet.
pub fn integrations() -> Result<()> {
    install(&paths::integrations(), "npm ci in tests/js/integrations: SDKs, miniflare, PostgreSQL", "60 s")
}

fn install(dir: &Path, what: &str, usually: &str) -> Result<()> {
    check_node()?;
    let lock = paths::read(&dir.join("package-lock.json"))?;
    let stamp = dir.join("node_modules/.foreword-lock");
    if std::fs::read(&stamp).is_ok_and(|done| done == lock) {
        return Ok(());
    }
    let step = Step { what, usually, give_up: Duration::from_secs(1200) };
    let npm = if cfg!(windows) { "npm.cmd" } else { "npm" };
    step.run(command(npm).current_dir(dir).args(["ci", "--no-fund", "--no-audit"]))?;
    paths::write(&stamp, lock)
}

fn modules() -> PathBuf {
    paths::js().join("node_modules")
}

fn check_node() -> Result<()> {
    let (major, minor) = OLDEST;
    let wanted = format!("Install Node {major}.{minor} or newer, with npm, then run this again.");
    let version = capture(command("node").arg("--version")).map_err(|why| format!("{why}\n  {wanted}"))?;
    let mut parts = version.trim_start_matches('v').split('.').map_while(|part| part.parse::<u32>().ok());
    let found = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if found < OLDEST { Err(format!("Node {version} is too old. {wanted}")) } else { Ok(()) }
}
