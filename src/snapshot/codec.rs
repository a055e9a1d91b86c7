//! bincode, behind one door: the serde route, a limit, and nothing left over.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorCode};

/// The largest value that is decoded, in bytes.
const LIMIT: usize = 64 << 20;

pub(super) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    bincode::serde::encode_to_vec(value, bincode::config::standard())
        .map_err(|error| Error::new(ErrorCode::InvalidRecord, format!("cannot be encoded: {error}")))
}

pub(super) fn decode<T: DeserializeOwned>(section: &str, bytes: &[u8]) -> Result<T, Error> {
    let config = bincode::config::standard().with_limit::<LIMIT>();
    match bincode::serde::decode_from_slice(bytes, config) {
        Ok((value, read)) if read == bytes.len() => Ok(value),
        Ok((_, read)) => Err(corrupt(section, format!("{} bytes are left over", bytes.len() - read))),
        Err(error) => Err(corrupt(section, error.to_string())),
    }
}

pub(super) fn corrupt(section: &str, what: impl AsRef<str>) -> Error {
    Error::new(
        ErrorCode::SnapshotCorrupt,
        format!("section {section}: {}; fetch or build the snapshot again", what.as_ref()),
    )
}
