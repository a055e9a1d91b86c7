//! One file for each command; each is a thin wrapper over the engine that the product uses.

mod failure;
mod output;
mod options;
mod progress;
mod build;
mod inspect;
mod recall;
mod search;
mod themes;
mod eval;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::Output;

/// The memory layer that stands before a prompt: builds snapshots, asks them, and measures what comes back.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Print one JSON object on standard output, a failure included.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Build a snapshot from folders of Markdown notes, JSON lines, and exports of ChatGPT or the MCP memory server.
    Build(build::Args),
    /// Check a snapshot and tell what is in it.
    Inspect(inspect::Args),
    /// Decide whether a prompt needs memory, find it, and write the block to stand before the prompt.
    Recall(recall::Args),
    /// Find what matches, without the decision and the block.
    Search(search::Args),
    /// List what a snapshot's records are mostly about.
    Themes(themes::Args),
    /// Measure ranking and decision on data with known answers.
    #[command(subcommand)]
    Eval(eval::Command),
}

/// Runs the command of this process's arguments: 0 if it did what was asked, 1 if it failed, 2 if it was called wrongly.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut output = Output::new(cli.json);
    let done = match cli.command {
        Command::Build(args) => build::run(&args, &mut output),
        Command::Inspect(args) => inspect::run(&args, &mut output),
        Command::Recall(args) => recall::run(&args, &mut output),
        Command::Search(args) => search::run(&args, &mut output),
        Command::Themes(args) => themes::run(&args, &mut output),
        Command::Eval(command) => eval::run(&command, &mut output),
    };
    match done.and_then(|()| output.finish()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => output.fail(&failure),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_options_of_every_command_fit_together() {
        super::Cli::command().debug_assert();
    }
}
