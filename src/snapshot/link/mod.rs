//! What belongs together: entities, nearest neighbours, communities and what to say of them. Worked out when a snapshot
//! is built, in bounded slices, and within one scope at a time: nothing here ever looks from one scope into another.

mod community;
mod entity;
mod near;
mod summary;
#[cfg(test)]
mod tests;

use community::Communities;
use entity::Entities;
use near::Near;
use summary::Summaries;

use super::Facts;
use crate::index::{LinksParts, Vocabulary};
use crate::memory::{Record, Status};

/// What the builder knows already.
pub(super) struct Known<'a> {
    pub records: &'a [Record],
    pub facts: &'a [Facts],
    /// Terms of each record, weighted by field.
    pub terms: &'a [Vec<(u32, f32)>],
    pub vocabulary: &'a mut Vocabulary,
}

impl Known<'_> {
    /// The facts of a record, if it is linked at all: what is forgotten, archived or replaced belongs to nothing.
    fn linked(&self, record: usize) -> Option<&Facts> {
        self.facts.get(record).filter(|facts| facts.status == Status::Active && !facts.superseded)
    }
}

/// Rounds in which records join the community of most of their neighbours; later ones change little.
const ROUNDS: u32 = 6;

/// Works out the links of a store, slice by slice.
#[derive(Default)]
pub(super) struct Linker {
    stage: Stage,
    next: usize,
    entities: Entities,
    near: Near,
    communities: Communities,
    summaries: Summaries,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Count,
    Weigh,
    Near,
    Spread(u32),
    Gather,
    Sum,
    Done,
}

impl Linker {
    /// Works through up to `records` records. True once only [`finish`](Self::finish) is left.
    pub(super) fn step(&mut self, known: &mut Known<'_>, records: usize) -> bool {
        let all = known.records.len();
        let end = self.next.saturating_add(records.max(1)).min(all);
        let slice = self.next..end;
        match self.stage {
            Stage::Count => slice.for_each(|record| {
                self.entities.add(known, record);
                self.near.count(known, record);
            }),
            Stage::Weigh => slice.for_each(|record| self.near.weigh(known, record)),
            Stage::Near => slice.for_each(|record| self.near.find(known, record)),
            Stage::Spread(_) => slice.for_each(|record| self.communities.spread(self.near.edges(record), record, all)),
            Stage::Gather => slice.for_each(|record| self.communities.gather(record)),
            Stage::Sum => return self.sum(known, records),
            Stage::Done => return true,
        }
        self.next = end;
        if end == all {
            self.next = 0;
            match self.stage {
                Stage::Count => self.near.counted(),
                Stage::Weigh => self.near.weighed(),
                _ => {}
            }
            self.stage = match self.stage {
                Stage::Count => Stage::Weigh,
                Stage::Weigh => Stage::Near,
                Stage::Near => Stage::Spread(1),
                Stage::Spread(round) if round < ROUNDS => Stage::Spread(round + 1),
                Stage::Spread(_) => Stage::Gather,
                _ => Stage::Sum,
            };
        }
        false
    }

    /// Orders and sums up communities, as many as `records` members allow.
    fn sum(&mut self, known: &mut Known<'_>, records: usize) -> bool {
        let mut left = records;
        while let Some(members) = self.communities.at(self.next) {
            summary::order(members, known, &self.near);
            self.summaries.add(members, known, &self.near);
            self.next += 1;
            if left <= members.len() {
                return false;
            }
            left -= members.len();
        }
        self.stage = Stage::Done;
        true
    }

    /// Share of the work that is done, 0 to 1.
    pub(super) fn progress(&self, records: usize) -> f64 {
        let within = if records == 0 { 0.0 } else { (self.next as f64 / records as f64).min(1.0) };
        match self.stage {
            Stage::Count => 0.15 * within,
            Stage::Weigh => 0.15 + 0.15 * within,
            Stage::Near => 0.3 + 0.4 * within,
            Stage::Spread(round) => 0.7 + 0.1 * f64::from(round) / f64::from(ROUNDS),
            Stage::Gather => 0.8,
            Stage::Sum => 0.8 + 0.2 * within,
            Stage::Done => 1.0,
        }
    }

    /// The arrays; all empty if nothing was worked out.
    pub(super) fn finish(self) -> LinksParts {
        let mut parts = LinksParts::default();
        if self.stage == Stage::Done {
            self.entities.write(&mut parts);
            self.near.write(&mut parts);
            self.communities.write(&mut parts);
            self.summaries.write(&mut parts);
        }
        parts
    }
}

fn push(bytes: &mut Vec<u8>, number: u32) {
    bytes.extend_from_slice(&number.to_le_bytes());
}

/// Appends one part of a list of lists: its numbers, and where they end.
fn push_part(numbers: &mut Vec<u8>, ends: &mut Vec<u8>, part: impl IntoIterator<Item = u32>) {
    part.into_iter().for_each(|number| push(numbers, number));
    push(ends, (numbers.len() / 4) as u32);
}
