use std::fmt;

/// What went wrong, as a stable code and a sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: ErrorCode,
    message: String,
}

/// Stable codes; their text form is what JavaScript sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorCode {
    /// A snapshot is damaged, cut short, or not a snapshot.
    SnapshotCorrupt,
    /// A snapshot was written by a newer version.
    SnapshotVersion,
    /// A snapshot or vector belongs to another embedding model.
    ModelMismatch,
    /// A record, topic or entity cannot be stored.
    InvalidRecord,
    /// A setting is out of range or contradicts another.
    InvalidConfig,
    /// A request cannot be carried out as asked.
    InvalidRequest,
    /// A provider id is not registered, or registered twice.
    UnknownProvider,
    /// A file of token vectors is damaged.
    StaticTable,
    /// A reranker failed in `search`, which never reorders silently.
    RerankFailed,
    /// A size passes what the format can hold.
    TooLarge,
}

impl ErrorCode {
    /// The code as text, such as `SNAPSHOT_CORRUPT`.
    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::SnapshotCorrupt => "SNAPSHOT_CORRUPT",
            ErrorCode::SnapshotVersion => "SNAPSHOT_VERSION",
            ErrorCode::ModelMismatch => "MODEL_MISMATCH",
            ErrorCode::InvalidRecord => "INVALID_RECORD",
            ErrorCode::InvalidConfig => "INVALID_CONFIG",
            ErrorCode::InvalidRequest => "INVALID_REQUEST",
            ErrorCode::UnknownProvider => "UNKNOWN_PROVIDER",
            ErrorCode::StaticTable => "STATIC_TABLE",
            ErrorCode::RerankFailed => "RERANK_FAILED",
            ErrorCode::TooLarge => "TOO_LARGE",
        }
    }
}

impl Error {
    /// An error of the given code.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Error { code, message: message.into() }
    }

    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        self.code
    }

    /// What happened and what to do, without the code.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for Error {}
