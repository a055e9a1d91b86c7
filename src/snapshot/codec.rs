//! bincode, behind one door: the serde route, a limit, and nothing left over.

use bincode::enc::write::Writer;
use bincode::error::EncodeError;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, ErrorCode};

/// The largest value that is decoded, in bytes.
const LIMIT: usize = 64 << 20;

pub(super) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    encode_onto(value, &mut bytes)?;
    Ok(bytes)
}

/// Appends a value; what cannot be encoded leaves no trace.
pub(super) fn encode_onto<T: Serialize>(value: &T, bytes: &mut Vec<u8>) -> Result<(), Error> {
    struct End<'a>(&'a mut Vec<u8>);
    impl Writer for End<'_> {
        fn write(&mut self, bytes: &[u8]) -> Result<(), EncodeError> {
            self.0.extend_from_slice(bytes);
            Ok(())
        }
    }
    let before = bytes.len();
    bincode::serde::encode_into_writer(value, End(bytes), bincode::config::standard()).map_err(|error| {
        bytes.truncate(before);
        Error::new(ErrorCode::InvalidRecord, format!("cannot be encoded: {error}"))
    })
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
