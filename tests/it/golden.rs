//! A snapshot that is kept as a file: today's reader reads it, and today's builder writes its bytes again.
//!
//! Where a change of the format, the texts' analysis or the embedder is meant, `FOREWORD_RENEW_GOLDEN=1 cargo test --test it golden` writes the file anew;
//! docs/snapshot-format.md and the reader in tests/js/node/format.test.mjs have to say the same then.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use foreword::embed::HashEmbedder;
use foreword::engine::{Config, Engine, Request};
use foreword::memory::{KnownEntity, Record, Scope, Topic};
use foreword::retrieve::LocalModel;
use foreword::snapshot::{IndexConfig, Segment, SnapshotBuilder};
use serde::de::DeserializeOwned;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden").join(name)
}

fn json<T: DeserializeOwned>(name: &str) -> T {
    serde_json::from_str(&fs::read_to_string(file(name)).unwrap()).unwrap()
}

fn records() -> Vec<Record> {
    let text = fs::read_to_string(file("records.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn model() -> LocalModel {
    Arc::new(HashEmbedder)
}

fn golden() -> Vec<u8> {
    fs::read(file("v1.fwd")).unwrap()
}

#[test]
fn golden_bytes_are_written_again() {
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), Some(model()));
    json::<Vec<Topic>>("topics.json").into_iter().for_each(|topic| builder.add_topic(topic).unwrap());
    json::<Vec<KnownEntity>>("entities.json").into_iter().for_each(|entity| builder.add_entity(entity));
    records().into_iter().for_each(|record| builder.add(record).unwrap());
    let built = builder.finish().unwrap();
    if std::env::var_os("FOREWORD_RENEW_GOLDEN").is_some() {
        fs::write(file("v1.fwd"), &built).unwrap();
    }
    let kept = golden();
    let differs = built.iter().zip(&kept).position(|(a, b)| a != b);
    assert!(
        built == kept,
        "the same input gives other bytes than the file that is kept: {} and {} bytes, different from {differs:?} on; \
         if that is meant, the head of tests/it/golden.rs says how to renew it",
        built.len(),
        kept.len(),
    );
}

#[test]
fn golden_content_is_read() {
    let segment = Segment::from_bytes(golden()).unwrap();
    let mut expected = records();
    // Whom a record was replaced by is worked out when the file is built.
    expected[2].superseded_by = Some("berth-new".into());
    let read: Vec<Record> = (0..segment.len() as u32).map(|number| segment.record(number).unwrap()).collect();
    assert_eq!(read, expected);
    for (number, record) in (0u32..).zip(&expected) {
        assert_eq!((segment.id(number), segment.find(&record.id)), (record.id.as_str(), Some(number)));
        let facts = segment.facts(number).unwrap();
        assert_eq!((facts.status, facts.shape), (record.status, record.shape()));
        assert_eq!((facts.created, facts.expires), (record.created, record.expires));
        assert_eq!(segment.scopes()[facts.scope as usize], record.scope);
        assert_eq!(segment.kinds()[facts.kind as usize], record.kind);
        let group = facts.group.map(|group| segment.group_name(group)).unwrap_or_default();
        assert_eq!(group, record.source.session);
    }
    assert!(segment.facts(7).unwrap().instruction_like);
    assert_eq!(segment.facts(2).unwrap().replaced, expected[3].created);
    assert_eq!((segment.model(), segment.vectors().len()), (HashEmbedder::ID, 8));
    assert_eq!(segment.catalog().topics, json::<Vec<Topic>>("topics.json"));
    assert_eq!(segment.catalog().entities, json::<Vec<KnownEntity>>("entities.json"));
}

#[test]
fn golden_store_answers() {
    let engine = Engine::load(golden(), Config::default(), Some(model())).unwrap();
    let first = |prompt: &str, scope: Scope| {
        let request = Request { prompt: prompt.into(), scope, ..Request::default() };
        let result = engine.run(engine.search(request).unwrap());
        result.evidence.first().map(|evidence| evidence.id.clone())
    };
    assert_eq!(first("Which berth does Odile have?", Scope::global()).as_deref(), Some("berth-new"));
    assert_eq!(first("When does the last ferry leave?", Scope::global()).as_deref(), Some("ferry-2"));
    assert_ne!(first("gate code", Scope::global()).as_deref(), Some("code"));
    let member = Scope::global().with("tenant", "club").with("user", "odile");
    assert_eq!(first("gate code", member).as_deref(), Some("code"));
}
