//! Every chore of this repository. `cargo xtask` alone lists them.

mod demo;
mod glue;
mod module;
mod parts;
mod paths;
mod process;
mod setup;
mod size;
mod stages;

use std::process::ExitCode;

/// The sentence to show a person: what failed, and what to do about it.
pub type Result<T, E = String> = std::result::Result<T, E>;

const HELP: &str = "\
cargo xtask setup          install what the other commands need, outside this folder
cargo xtask build          build the wasm module into pkg/wasm
cargo xtask parts          say what each part of the module costs, by room and library
cargo xtask test [STAGE..] run every test, or the stages named
cargo xtask demo [ARGS..]  build, then run the main job in Node; ARGS go to www/demo.mjs
cargo xtask playground     build, then serve the playground page on this machine

Each command sets up what it needs first; everything may be run twice, and the second run is quick.
Tools and logs live in $XDG_CACHE_HOME/foreword (by default ~/.cache/foreword).
Set FOREWORD_WASM_ROAD=rebuilt to skip `rustup target add` and rebuild the wasm standard library.";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (command, rest) = match args.split_first() {
        Some((command, rest)) => (command.as_str(), rest),
        None => ("help", &[][..]),
    };
    let done = match command {
        "setup" => setup::everything(),
        "build" => module::build(),
        "parts" => module::parts(),
        "test" => stages::run(rest),
        "demo" => demo::run(rest),
        "playground" => demo::playground(rest),
        "help" | "--help" | "-h" => {
            println!("{HELP}\n\nStages of test: {}", stages::names());
            Ok(())
        }
        other => Err(format!("there is no `cargo xtask {other}`; the commands are:\n{HELP}")),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("\nxtask: {why}");
            ExitCode::FAILURE
        }
    }
}
