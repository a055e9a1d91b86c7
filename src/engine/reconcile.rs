//! Keeping a semantic backend at the state of the store: whole states, in order, one at a time.

use serde::Serialize;

use crate::memory::{Record, Scope};

/// What a semantic backend is told of a record that may be retrieved.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActiveRecord {
    /// What its `search` answers with.
    pub id: String,
    /// A short heading; may be empty.
    pub title: String,
    /// What to embed.
    pub text: String,
    /// Phrases and questions that should bring it back.
    pub cues: Vec<String>,
    /// Who may see it.
    pub scope: Scope,
}

impl From<Record> for ActiveRecord {
    fn from(record: Record) -> Self {
        let text = record.text().to_string();
        ActiveRecord { id: record.id, title: record.title, text, cues: record.cues, scope: record.scope }
    }
}

/// Decides when a backend is told the state of the store.
///
/// A state is the whole desired state and has a revision. Older revisions than one that is wanted are ignored; revision 0 has no order and is
/// always wanted. One state is on its way at a time; those that come up meanwhile are told as one, the latest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reconciler {
    wanted: Option<u64>,
    running: Option<u64>,
    newest: u64,
    fault: Option<String>,
}

impl Reconciler {
    /// Asks for the state of this revision to be told. False if it is older than one that was asked for, and ignored.
    pub fn want(&mut self, revision: u64) -> bool {
        if revision != 0 && revision < self.newest {
            return false;
        }
        self.newest = self.newest.max(revision);
        // What is on its way is not told again after it.
        if revision == 0 || self.running != Some(revision) {
            self.wanted = Some(revision);
        }
        true
    }

    /// Begins to tell a state: true if one is wanted and none is on its way. To be answered with [`settle`](Self::settle).
    pub fn begin(&mut self) -> bool {
        let begins = self.wanted.is_some() && self.running.is_none();
        if begins {
            self.running = self.wanted.take();
        }
        begins
    }

    /// Says how the state that was begun went. A failure is kept until a later state arrives; it is not tried again before.
    pub fn settle(&mut self, told: Result<(), String>) {
        self.running = None;
        self.fault = told.err();
    }

    /// Whether a state is on its way or wanted.
    pub fn is_busy(&self) -> bool {
        self.running.is_some() || self.wanted.is_some()
    }

    /// Why the backend is not at the latest state it was told, if it is not.
    pub fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn older_revisions_are_ignored_and_zero_has_no_order() {
        let mut reconciler = Reconciler::default();
        assert!(reconciler.want(5) && !reconciler.want(4) && reconciler.want(5) && reconciler.want(0));
        assert!(reconciler.begin());
        reconciler.settle(Ok(()));
        assert!(!reconciler.want(3) && !reconciler.begin(), "ignored for good");
        assert!(reconciler.want(6) && reconciler.begin());
    }

    #[test]
    fn one_state_at_a_time_and_the_latest_next() {
        let mut reconciler = Reconciler::default();
        reconciler.want(1);
        assert!(reconciler.begin());
        reconciler.want(2);
        reconciler.want(3);
        assert!(!reconciler.begin(), "one is on its way");
        assert!(reconciler.want(3), "the same again");
        reconciler.settle(Err("no network".into()));
        assert_eq!(reconciler.fault(), Some("no network"));
        assert!(reconciler.begin());
        reconciler.settle(Ok(()));
        assert_eq!(reconciler.fault(), None);
        assert!(!reconciler.begin(), "2 and 3 were one state");
        assert!(reconciler.want(3) && reconciler.begin() && reconciler.want(3));
        reconciler.settle(Ok(()));
        assert!(!reconciler.begin(), "it was on its way when it was wanted again");
    }
}
