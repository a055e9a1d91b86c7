//! The main job, end to end: notes → snapshot (native program) → prompts asked of the wasm module in Node.

use crate::setup::{self, Node};
use crate::{Result, module, process};

pub fn run(args: &[String]) -> Result<()> {
    println!("1. The wasm module, which the demo loads in Node");
    module::build()?;
    println!("2. The native program `foreword`, which turns notes into a snapshot (first time about a minute)");
    process::show(process::command("cargo").args(["build", "--locked", "--release", "--bin", "foreword"]))?;
    println!("3. The demo\n");
    process::show(setup::node(Node::OnPath).arg("www/demo.mjs").args(args))
}

/// The same in a page, until it is ended.
pub fn playground(args: &[String]) -> Result<()> {
    module::ready()?;
    process::show(setup::node(Node::OnPath).arg("www/playground/serve.mjs").args(args))
}
