use crate::memory::{Scope, Status, Timestamp};
use crate::snapshot::{Facts, Segment};

/// Who asks, when, and for what: the filter that every record passes before it is scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The request's scope.
    pub scope: Scope,
    /// The present.
    pub now: Option<Timestamp>,
    /// What was true then, from validity times, instead of what is true now.
    pub as_of: Option<Timestamp>,
    /// Also superseded, archived and lapsed records.
    pub history: bool,
    /// Only these kinds; none means all.
    pub kinds: Vec<String>,
}

/// The records of one segment that a view may retrieve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mask {
    /// A bit a record; `None` where all are visible.
    bits: Option<Vec<u64>>,
    visible: usize,
}

impl View {
    /// Whether a record with these facts, in a scope that is visible, may be retrieved.
    pub fn admits(&self, facts: &Facts) -> bool {
        facts.status != Status::Deleted && !lapsed(facts.expires, self.now) && (self.history || self.is_in_force(facts))
    }

    /// Whether a record holds: active, not superseded, within its validity.
    pub fn is_in_force(&self, facts: &Facts) -> bool {
        let moment = self.as_of.or(self.now);
        let begun = match (facts.valid_from, moment) {
            (Some(from), Some(moment)) => from <= moment,
            _ => true,
        };
        // Seen from the past, what has been replaced since was still in force, if its validity says so.
        let replaced = facts.superseded || facts.status == Status::Archived;
        let replaced = replaced && !(self.as_of.is_some() && facts.valid_until.is_some());
        begun && !replaced && !lapsed(facts.valid_until, moment)
    }

    /// The records of `segment` that this view may retrieve, less those that `hidden` names.
    pub fn mask(&self, segment: &Segment, hidden: &mut dyn FnMut(u32) -> bool) -> Mask {
        let scopes: Vec<bool> = segment.scopes().iter().map(|owner| self.scope.admits(owner)).collect();
        let kinds: Vec<bool> =
            segment.kinds().iter().map(|kind| self.kinds.is_empty() || self.kinds.contains(kind)).collect();
        let mut bits = vec![0u64; segment.len().div_ceil(64)];
        let mut visible = 0;
        for (record, facts) in segment.all_facts().enumerate() {
            let in_scope = scopes.get(facts.scope as usize).copied().unwrap_or(false);
            let of_kind = kinds.get(facts.kind as usize).copied().unwrap_or(false);
            if in_scope
                && of_kind
                && self.admits(&facts)
                && !hidden(record as u32)
                && let Some(word) = bits.get_mut(record / 64)
            {
                *word |= 1 << (record % 64);
                visible += 1;
            }
        }
        Mask { bits: (visible < segment.len()).then_some(bits), visible }
    }
}

fn lapsed(end: Option<Timestamp>, moment: Option<Timestamp>) -> bool {
    matches!((end, moment), (Some(end), Some(moment)) if end <= moment)
}

impl Mask {
    /// Number of visible records.
    pub fn visible(&self) -> usize {
        self.visible
    }

    /// Whether every record is visible.
    pub fn is_full(&self) -> bool {
        self.bits.is_none()
    }

    /// Whether a record is visible.
    pub fn sees(&self, record: u32) -> bool {
        match &self.bits {
            None => true,
            Some(bits) => bits.get(record as usize / 64).is_some_and(|word| word >> (record % 64) & 1 == 1),
        }
    }
}
