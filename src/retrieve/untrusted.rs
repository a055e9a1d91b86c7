//! Snapshots that somebody else made: damaged ones are refused, forged ones do no harm.

use std::hash::Hasher;

use proptest::prelude::*;
use twox_hash::XxHash64;

use super::{BrowseRequest, Query, Scratch, SearchConfig, Side, Store, ThemesRequest, View};
use crate::embed::{HashEmbedder, quantize};
use crate::error::ErrorCode;
use crate::memory::{Record, Scope, Timestamp, Topic};
use crate::snapshot::{IndexConfig, Segment, SnapshotBuilder};

fn snapshot() -> Vec<u8> {
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), Some(std::sync::Arc::new(HashEmbedder)));
    let texts = [
        "The kiln broke during glaze firing.",
        "The kiln needs an element before glaze firing.",
        "A hotter kiln suits the glaze.",
    ];
    for (text, at) in texts.iter().zip(0u32..) {
        let mut record = Record::new(format!("r{at}"), *text);
        record.created = Some(Timestamp(i64::from(at)));
        record.entities = vec!["Ana".into()];
        record.source.session = "studio".into();
        record.source.position = Some(at);
        builder.add(record).unwrap();
    }
    builder
        .add(Record { scope: Scope::global().with("user", "ana"), ..Record::new("hers", "Ana keeps bees.") })
        .unwrap();
    builder.add_topic(Topic { title: "Pottery".into(), ..Topic::default() }).unwrap();
    builder.finish().unwrap()
}

/// Writes the checksums that fit the file as it is.
fn seal(file: &mut [u8]) {
    let sum = |bytes: &[u8]| {
        let mut hasher = XxHash64::with_seed(0);
        hasher.write(bytes);
        hasher.finish().to_le_bytes()
    };
    let sections = usize::from(u16::from_le_bytes([file[10], file[11]]));
    for entry in (0..sections).map(|at| 24 + 32 * at) {
        let number = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap()) as usize;
        let (start, length) = (number(entry + 8), number(entry + 16));
        if let Some(section) = start.checked_add(length).and_then(|end| file.get(start..end)) {
            let sum = sum(section);
            file[entry + 24..entry + 32].copy_from_slice(&sum);
        }
    }
    let sum = sum(&file[24..24 + 32 * sections]);
    file[16..24].copy_from_slice(&sum);
}

/// Everything that reads a segment.
fn use_it(segment: Segment) {
    let Ok(mut store) = Store::new(segment, Some(std::sync::Arc::new(HashEmbedder))) else { return };
    let mut vector = [0f32; HashEmbedder::DIMENSIONS];
    crate::embed::EmbeddingModel::embed(&HashEmbedder, "kiln", &mut vector);
    let side = Side { vector: crate::index::Probe::new(&quantize(&vector)), share: 0.3 };
    for history in [false, true] {
        let view = View { history, now: Some(Timestamp(5)), ..View::default() };
        let query =
            Query::new("Which kiln did Ana break on 1970-01-01?", &store.catalog().entities, &view.scope, view.now);
        let masks = store.masks(&view);
        let found = store.search(&query, Some(&side), &masks, &SearchConfig::default(), &mut Scratch::default());
        for hit in &found.hits {
            let _ = store.segment(hit).record(hit.record);
        }
        let _ = store.browse(&BrowseRequest { history, as_of: Some(Timestamp(1)), ..BrowseRequest::default() });
    }
    let _ = store.themes(&ThemesRequest::default());
    let _ = store.forget("r0");
    let _ = store.supersede("r1", Record::new("new", "The kiln is repaired."));
    let _ = store.compact();
}

#[test]
fn every_damaged_byte_and_every_cut_is_noticed() {
    let whole = snapshot();
    use_it(Segment::from_bytes(whole.clone()).unwrap());
    let refused = |bytes: &[u8], what: &str| {
        let error = Segment::from_bytes(bytes.to_vec()).expect_err(what);
        assert!(matches!(error.code(), ErrorCode::SnapshotCorrupt | ErrorCode::SnapshotVersion), "{what}: {error}");
    };
    let mut damaged = whole.clone();
    for at in 0..whole.len() {
        for flip in [1, 0x80, 0xff] {
            damaged[at] ^= flip;
            refused(&damaged, &format!("byte {at} with {flip:#x}"));
            damaged[at] ^= flip;
        }
        refused(&whole[..at], &format!("cut at {at}"));
    }
    damaged.push(0);
    refused(&damaged, "a byte too many");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// The checksums fit, what they cover does not.
    #[test]
    fn forged_sections_do_no_harm(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4)) {
        let mut forged = snapshot();
        for (at, value) in changes {
            // Behind the header; lengths in the table may lie too.
            let at = 24 + at.index(forged.len() - 24);
            forged[at] = value;
        }
        seal(&mut forged);
        if let Ok(segment) = Segment::from_bytes(forged) {
            use_it(segment);
        }
    }
}
