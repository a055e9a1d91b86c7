//! Snapshots on wasm32, where a usize is half as wide as where most snapshots are built.

use foreword::error::{Error, ErrorCode};
use foreword::memory::Record;
use foreword::snapshot::{IndexConfig, Segment, SnapshotBuilder};
use wasm_bindgen_test::wasm_bindgen_test;

fn snapshot() -> Result<Vec<u8>, Error> {
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
    builder.add(Record::new("tea", "Ada drinks green tea in the morning."))?;
    builder.add(Record::new("train", "The train to Lyon leaves at nine."))?;
    builder.finish()
}

#[wasm_bindgen_test]
fn two_builds_are_the_same_bytes() {
    let first = snapshot().unwrap();
    assert_eq!(first, snapshot().unwrap());
    let segment = Segment::from_bytes(first).unwrap();
    assert_eq!(segment.len(), 2);
    assert_eq!(segment.find("train"), Some(1));
}

#[wasm_bindgen_test]
fn damage_is_an_error_with_a_code() {
    let whole = snapshot().unwrap();
    for length in 0..whole.len() {
        refused(&whole[..length]);
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        refused(&bytes);
    }
}

fn refused(bytes: &[u8]) {
    let Err(error) = Segment::from_bytes(bytes.to_vec()) else { panic!("{} bytes were accepted", bytes.len()) };
    let codes = [ErrorCode::SnapshotCorrupt, ErrorCode::SnapshotVersion];
    assert!(codes.contains(&error.code()), "{error}");
}
