//! Running other programs: shown, captured, or logged with a heartbeat.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::{Result, paths};

const HEARTBEAT: Duration = Duration::from_secs(15);
const TAIL_LINES: usize = 15;

/// A command in the checkout, without what `cargo run` has put into the environment for xtask itself:
/// the library path would reach programs of another toolchain.
pub fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(paths::root());
    for (name, _) in std::env::vars_os() {
        let ours = name.to_str().is_some_and(|name| {
            name.starts_with("CARGO_PKG_")
                || matches!(name, "CARGO" | "CARGO_MANIFEST_DIR" | "CARGO_MANIFEST_PATH")
                || matches!(name, "LD_LIBRARY_PATH" | "DYLD_FALLBACK_LIBRARY_PATH" | "RUST_RECURSION_COUNT")
        });
        if ours {
            command.env_remove(name);
        }
    }
    command
}

/// Puts a folder before PATH.
pub fn path_first(command: &mut Command, dir: &Path) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(dir.to_path_buf()).chain(std::env::split_paths(&path));
    let joined = std::env::join_paths(all).map_err(|e| format!("PATH cannot be extended: {e}"))?;
    command.env("PATH", joined);
    Ok(())
}

/// Runs with the output on the terminal.
pub fn show(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().map_err(|e| not_started(command, &e))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` failed ({status})", line_of(command))) }
}

/// Runs silently and returns what it printed, or what it complained of.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output().map_err(|e| not_started(command, &e))?;
    let Output { status, stdout, stderr } = output;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).trim().to_string());
    }
    let stderr = String::from_utf8_lossy(&stderr);
    Err(format!("`{}` failed ({status}): {}", line_of(command), stderr.trim()))
}

/// A long step: what it does, how long it usually takes, and when to give up.
pub struct Step<'a> {
    pub what: &'a str,
    pub usually: &'a str,
    pub give_up: Duration,
}

/// What remains of a step that failed.
pub struct Failed {
    /// The first error in the output, or its last line: why, in few words.
    pub reason: String,
    /// Reason, name of the log, and its tail.
    pub full: String,
}

impl From<Failed> for String {
    fn from(failed: Failed) -> String {
        failed.full
    }
}

impl From<String> for Failed {
    fn from(full: String) -> Failed {
        Failed { reason: full.clone(), full }
    }
}

impl Step<'_> {
    /// Says what is being done, shows that it is alive, keeps the output in a log; returns the output.
    pub fn run(&self, command: &mut Command) -> Result<String, Failed> {
        println!("  → {} (usually {})", self.what, self.usually);
        let path = log_path(self.what)?;
        let start = Instant::now();
        let ended = wait_logged(command, &path, self.give_up);
        let text = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text).into_owned();
        match ended {
            Ok(()) => {
                println!("    done in {} s", start.elapsed().as_secs());
                Ok(text)
            }
            Err(why) => {
                let error = text.lines().find(|line| line.to_ascii_lowercase().starts_with("error"));
                let reason = error.or(last_line(&text)).unwrap_or(&why).to_string();
                let lines: Vec<&str> = text.lines().collect();
                let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n    | ");
                let log = path.display();
                let full = format!("{} failed: {why}\n    | {tail}\n  The whole output is in {log}", self.what);
                Err(Failed { reason, full })
            }
        }
    }
}

fn wait_logged(command: &mut Command, log: &Path, give_up: Duration) -> Result<()> {
    let file = File::create(log).map_err(|e| format!("cannot write {}: {e}", log.display()))?;
    let twin = file.try_clone().map_err(|e| format!("cannot write {}: {e}", log.display()))?;
    command.stdin(Stdio::null()).stdout(file).stderr(twin);
    let mut child = command.spawn().map_err(|e| not_started(command, &e))?;
    let start = Instant::now();
    let mut next_beat = HEARTBEAT;
    loop {
        let state = child.try_wait().map_err(|e| format!("lost sight of `{}`: {e}", line_of(command)))?;
        if let Some(status) = state {
            return if status.success() { Ok(()) } else { Err(format!("`{}`: {status}", line_of(command))) };
        }
        if start.elapsed() > give_up {
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("`{}` had not ended after {} s", line_of(command), give_up.as_secs()));
        }
        if start.elapsed() >= next_beat {
            let text = std::fs::read(log).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let last: String = last_line(&text).unwrap_or("").chars().take(90).collect();
            println!("    {:>4} s  {last}", start.elapsed().as_secs());
            next_beat += HEARTBEAT;
        }
        sleep(Duration::from_millis(100));
    }
}

fn last_line(text: &str) -> Option<&str> {
    text.lines().rev().flat_map(|line| line.rsplit('\r')).map(str::trim).find(|line| !line.is_empty())
}

fn log_path(what: &str) -> Result<PathBuf> {
    let dir = paths::cache()?.join("log");
    paths::create_dir(&dir)?;
    let slug: String = what.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect();
    Ok(dir.join(format!("{}.log", slug.trim_matches('-'))))
}

fn not_started(command: &Command, error: &std::io::Error) -> String {
    format!("cannot start `{}`: {error}", line_of(command))
}

fn line_of(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}
