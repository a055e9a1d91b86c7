use std::fmt;
use std::io;
use std::path::Path;

use foreword::error::Error;

/// Why a command did not do what was asked.
#[derive(Debug)]
pub enum Failure {
    /// The engine refused: a stable code and a sentence.
    Engine(Error),
    /// Something outside the engine: a file, a line of input, a missing piece.
    Other(String),
    /// The command was called wrongly.
    Usage(String),
    /// Whoever reads the output has gone; nobody is left to tell.
    Gone,
}

impl Failure {
    /// A failure to do something with a file.
    pub fn file(path: &Path, error: impl fmt::Display) -> Failure {
        Failure::Other(format!("{}: {error}", path.display()))
    }

    /// The stable code: the engine's own, or `IO` and `USAGE`.
    pub fn code(&self) -> &'static str {
        match self {
            Failure::Engine(error) => error.code().as_str(),
            Failure::Other(_) | Failure::Gone => "IO",
            Failure::Usage(_) => "USAGE",
        }
    }

    /// What happened, without the code.
    pub fn message(&self) -> &str {
        match self {
            Failure::Engine(error) => error.message(),
            Failure::Other(message) | Failure::Usage(message) => message,
            Failure::Gone => "nobody reads the output",
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Engine(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe { Failure::Gone } else { Failure::Other(error.to_string()) }
    }
}
