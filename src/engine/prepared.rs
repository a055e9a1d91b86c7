//! Results that were prepared while the user was still typing.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Engine, Recall, RecallResult, Request, Revisions};
use crate::memory::Timestamp;

/// A small cache of prepared results. A key is everything in a request that shapes its result, and both revisions of the store.
#[derive(Clone, Default)]
pub(super) struct PreparedCache {
    entries: VecDeque<Arc<Entry>>,
}

struct Entry {
    key: Request,
    revisions: Revisions,
    result: RecallResult,
}

/// A request without what may differ between preparing and asking.
fn key(request: &Request) -> Request {
    let mut key = request.clone();
    key.prompt = key.prompt.trim().to_string();
    key.now = None;
    key.turn = None;
    key.deadline_ms = None;
    key.mode = Default::default();
    key
}

impl PreparedCache {
    /// The prepared result for a request, if it may be served in this turn: the first turn is reached, it has not expired, and nothing
    /// was learned, withdrawn or loaded since.
    pub(super) fn serve(&self, request: &Request, turn: u64, engine: &Engine) -> Option<RecallResult> {
        if self.entries.is_empty() {
            return None;
        }
        let wanted = key(request);
        let holds = |entry: &&Arc<Entry>| {
            entry
                .result
                .prepared
                .as_ref()
                .is_some_and(|prepared| prepared.first_turn <= turn && !expired(prepared.expires, request.now))
                && entry.revisions == engine.revisions()
                && entry.key == wanted
        };
        let entry = self.entries.iter().rev().find(holds)?;
        let mut result = entry.result.clone();
        if let Some(prepared) = &mut result.prepared {
            prepared.served = true;
        }
        Some(result)
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Keeps a prepared result. A "no", a result that something is missing from, and one whose decision saw an older state are not kept.
    pub(super) fn keep(&mut self, recall: &Recall, result: &RecallResult, engine_at: Revisions, most: usize) -> bool {
        let complete = result.plan.should_retrieve && result.degraded.is_empty();
        if result.prepared.is_none() || !complete || recall.decided != engine_at || most == 0 {
            return false;
        }
        let key = key(&recall.request);
        self.entries.retain(|entry| entry.key != key && entry.revisions == engine_at);
        while self.entries.len() >= most {
            self.entries.pop_front();
        }
        self.entries.push_back(Arc::new(Entry { key, revisions: engine_at, result: result.clone() }));
        true
    }
}

/// Whether the moment has come. Where only one of the two is known, nobody can say that it has not.
fn expired(expires: Option<Timestamp>, now: Option<Timestamp>) -> bool {
    match (expires, now) {
        (Some(expires), Some(now)) => expires <= now,
        (None, None) => false,
        _ => true,
    }
}
