//! The engine driven natively, everything injected.

mod calls;
mod planner;
mod prepared;
mod hints;
mod interleaving;
mod store;

use std::sync::Arc;

use super::*;
use crate::embed::HashEmbedder;
use crate::memory::Scope;
use crate::snapshot::SnapshotBuilder;

/// An engine over a snapshot of these records.
fn engine(records: Vec<Record>) -> Engine {
    engine_with(records, Config::default())
}

fn engine_with(records: Vec<Record>, config: Config) -> Engine {
    let model: LocalModel = Arc::new(HashEmbedder);
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), Some(model.clone()));
    for record in records {
        builder.add(record).unwrap();
    }
    let mut engine = Engine::load(builder.finish().unwrap(), config, Some(model)).unwrap();
    engine.set_nonce(Nonce::new("0123456789ab").unwrap());
    engine
}

fn ask(prompt: &str) -> Request {
    Request { prompt: prompt.into(), ..Request::default() }
}

fn ids(result: &RecallResult) -> Vec<&str> {
    result.evidence.iter().map(|entry| entry.id.as_str()).collect()
}

fn parts(result: &RecallResult) -> Vec<&str> {
    result.degraded.iter().map(|entry| entry.part.as_str()).collect()
}

/// What an injected thing does, one kind of trouble each.
fn troubles() -> [(&'static str, Outcome); 4] {
    [
        ("hangs", Outcome::TimedOut),
        ("throws", Outcome::Failed("it threw".into())),
        ("is called off", Outcome::Aborted),
        ("answers with junk", Outcome::Vectors(vec![vec![f32::NAN]])),
    ]
}

fn named(ids: &[&str]) -> Outcome {
    Outcome::Ids(ids.iter().map(|id| id.to_string()).collect())
}

/// Drives with one answer for every call of the wanted kind; other calls fail.
fn drive(engine: &Engine, mut recall: Recall, answer: impl Fn(&CallKind) -> Option<Outcome>) -> RecallResult {
    let mut call = |call: &Call| (answer(&call.kind).unwrap_or(Outcome::TimedOut), 1.0);
    engine.drive(&mut recall, &mut call).unwrap()
}
