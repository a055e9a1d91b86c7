//! The command line: the only room that knows a terminal.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
