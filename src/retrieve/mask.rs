use std::sync::{Arc, Mutex};

use crate::memory::{Scope, Status, Timestamp};
use crate::snapshot::{Facts, Segment};

/// Who asks, when, and for what: the filter that every record passes before it is scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct View {
    /// The request's scope.
    pub scope: Scope,
    /// The present.
    pub now: Option<Timestamp>,
    /// What was true then, from validity times and from what replaced what, instead of what is true now. Records that expired
    /// at `now` stay gone.
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
    /// The view of a request.
    pub fn new(
        scope: &Scope,
        now: Option<Timestamp>,
        as_of: Option<Timestamp>,
        history: bool,
        kinds: &[String],
    ) -> View {
        View { scope: scope.clone(), now, as_of, history, kinds: kinds.to_vec() }
    }

    /// Whether another view differs in nothing but its moment.
    fn is_alike(&self, other: &View) -> bool {
        self.scope == other.scope
            && self.as_of == other.as_of
            && self.history == other.history
            && self.kinds == other.kinds
    }

    /// Whether a record with these facts, in a scope that is visible, may be retrieved.
    pub fn admits(&self, facts: &Facts) -> bool {
        facts.status != Status::Deleted && !lapsed(facts.expires, self.now) && (self.history || self.is_in_force(facts))
    }

    /// Whether a record holds at the view's moment: `as_of`, else `now`.
    ///
    /// Now, it holds if it is active, nothing replaced it, and the moment is within its validity. As of a moment in the
    /// past, what was replaced or archived since still held; see [`held_at`].
    pub fn is_in_force(&self, facts: &Facts) -> bool {
        match self.as_of {
            Some(moment) => held_at(facts, moment),
            None => {
                let begun = !matches!((facts.valid_from, self.now), (Some(from), Some(now)) if from > now);
                begun && facts.status == Status::Active && !facts.superseded && !lapsed(facts.valid_until, self.now)
            }
        }
    }

    /// The records of `segment` that this view may retrieve, less those that `hidden` names. Narrows `span` to the moments at which it holds.
    pub fn mask(&self, segment: &Segment, span: &mut Span, hidden: &mut dyn FnMut(u32) -> bool) -> Mask {
        let scopes: Vec<bool> = segment.scopes().iter().map(|owner| self.scope.admits(owner)).collect();
        let kinds: Vec<bool> =
            segment.kinds().iter().map(|kind| self.kinds.is_empty() || self.kinds.contains(kind)).collect();
        let mut bits = vec![0u64; segment.len().div_ceil(64)];
        let mut visible = 0;
        for (word, first) in bits.iter_mut().zip((0..).step_by(64)) {
            *word = self.word(segment, first, (&scopes, &kinds), span, hidden);
            visible += word.count_ones() as usize;
        }
        Mask { bits: (visible < segment.len()).then_some(bits), visible }
    }

    /// A bit for each of 64 records that may be retrieved. By itself because a WebAssembly engine goes over to optimized code only between two calls:
    /// a loop over all records would be walked through slowly to its end.
    #[inline(never)]
    fn word(
        &self,
        segment: &Segment,
        first: usize,
        (scopes, kinds): (&[bool], &[bool]),
        span: &mut Span,
        hidden: &mut dyn FnMut(u32) -> bool,
    ) -> u64 {
        let mut word = 0;
        for (facts, at) in segment.facts_from(first).take(64).zip(0..) {
            if let Some(now) = self.now {
                for moment in [facts.expires, facts.valid_from, facts.valid_until].into_iter().flatten() {
                    span.cut(moment, now);
                }
            }
            let in_scope = scopes.get(facts.scope as usize).copied().unwrap_or(false);
            let of_kind = kinds.get(facts.kind as usize).copied().unwrap_or(false);
            let admitted = in_scope && of_kind && self.admits(&facts) && !hidden(first as u32 + at);
            word |= u64::from(admitted) << at;
        }
        word
    }
}

/// Moments between which nothing begins, ends or expires.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Span {
    /// The last change so far; `None` if there was none.
    begin: Option<Timestamp>,
    /// The next change; `None` if there is none to come.
    end: Option<Timestamp>,
}

impl Span {
    fn cut(&mut self, moment: Timestamp, now: Timestamp) {
        if moment <= now {
            self.begin = Some(self.begin.map_or(moment, |begin| begin.max(moment)));
        } else {
            self.end = Some(self.end.map_or(moment, |end| end.min(moment)));
        }
    }

    fn holds(&self, now: Timestamp) -> bool {
        self.begin.is_none_or(|begin| begin <= now) && self.end.is_none_or(|end| now < end)
    }
}

/// The masks of the views that were last asked for: a mask visits every record, and requests mostly come in one view.
///
/// A cache belongs to one state of a store; whoever changes the store takes a new one.
#[derive(Debug, Default)]
pub struct MaskCache(Mutex<Vec<Cached>>);

#[derive(Debug)]
struct Cached {
    view: View,
    span: Span,
    masks: Arc<[Mask; 2]>,
}

/// Views that are kept: scopes of one user at one time are few.
const KEPT_VIEWS: usize = 4;

impl MaskCache {
    /// The masks of `view`, worked out by `make` if they are not known.
    pub fn get(&self, view: &View, make: impl FnOnce(&mut Span) -> [Mask; 2]) -> Arc<[Mask; 2]> {
        // A poisoned cache is as good as an empty one: it is only a cache.
        let mut kept = self.0.lock().unwrap_or_else(|poisoned| {
            let mut kept = poisoned.into_inner();
            kept.clear();
            kept
        });
        let known = kept.iter().position(|known| {
            let now = match (known.view.now, view.now) {
                (Some(_), Some(now)) => known.span.holds(now),
                (then, now) => then == now,
            };
            now && known.view.is_alike(view)
        });
        if let Some(known) = known.and_then(|at| kept.get(at)) {
            return Arc::clone(&known.masks);
        }
        let mut span = Span::default();
        let masks = Arc::new(make(&mut span));
        if kept.len() >= KEPT_VIEWS {
            kept.remove(0);
        }
        kept.push(Cached { view: view.clone(), span, masks: Arc::clone(&masks) });
        masks
    }
}

/// Whether a record held at `moment`, from its validity and from when what replaced it began to hold.
///
/// - It begins at `valid_from`, else when it was created; a record without either has always held.
/// - It ends at `valid_until`, or where its earliest successor begins, whichever comes first; the end is exclusive.
/// - Where it was replaced or archived and neither end is known, nobody can say that it still held: it did not.
fn held_at(facts: &Facts, moment: Timestamp) -> bool {
    let begun = facts.valid_from.or(facts.created).is_none_or(|begins| begins <= moment);
    let withdrawn = facts.superseded || facts.status == Status::Archived;
    let end = match (facts.valid_until, facts.replaced) {
        (Some(until), Some(replaced)) => Some(until.min(replaced)),
        (until, replaced) => until.or(replaced),
    };
    begun && facts.status != Status::Deleted && !lapsed(end, Some(moment)) && (!withdrawn || end.is_some())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Record;
    use crate::retrieve::Store;
    use crate::snapshot::{IndexConfig, SnapshotBuilder};

    fn day(day: &str) -> Option<Timestamp> {
        if day.is_empty() { None } else { Some(Timestamp::parse(day).unwrap()) }
    }

    fn record(id: &str, created: &str, from: &str, until: &str, supersedes: &str) -> Record {
        Record {
            created: day(created),
            valid_from: day(from),
            valid_until: day(until),
            supersedes: if supersedes.is_empty() { Vec::new() } else { vec![supersedes.into()] },
            ..Record::new(id, format!("statement {id}"))
        }
    }

    fn true_at(store: &Store, moment: &str) -> String {
        let view = View { as_of: day(moment), now: day("2030-01-01"), ..View::default() };
        let ids = ["a", "b", "c"].into_iter().filter(|id| store.is_retrievable(id, &view));
        ids.collect()
    }

    /// Each case: records (id, created, valid from, valid until, supersedes), then moments with what was true.
    type Case = (&'static str, &'static [[&'static str; 5]], &'static [(&'static str, &'static str)]);

    const CASES: &[Case] = &[
        (
            "a record counts from when it was created",
            &[["a", "2020-05-01", "", "", ""]],
            &[("2020-04-30", ""), ("2020-05-01", "a"), ("2029-01-01", "a")],
        ),
        (
            "validity comes before creation",
            &[["a", "2025-01-01", "2020-05-01", "2021-05-01", ""]],
            &[("2020-04-30", ""), ("2020-05-01", "a"), ("2021-04-30", "a"), ("2021-05-01", "")],
        ),
        ("undated records always held", &[["a", "", "", "", ""]], &[("1990-01-01", "a")]),
        (
            "what was replaced held until its successor began",
            &[["a", "2020-01-01", "", "", ""], ["b", "2022-01-01", "", "", "a"], ["c", "2024-01-01", "", "", "b"]],
            &[("2019-01-01", ""), ("2021-01-01", "a"), ("2022-01-01", "b"), ("2023-06-01", "b"), ("2024-01-01", "c")],
        ),
        (
            "a successor's validity says when it took over",
            &[["a", "2020-01-01", "", "", ""], ["b", "2022-01-01", "2023-01-01", "", "a"]],
            &[("2022-06-01", "a"), ("2023-01-01", "b")],
        ),
        (
            "a successor may be backdated",
            &[["a", "2020-01-01", "", "", ""], ["b", "2022-01-01", "2021-01-01", "", "a"]],
            &[("2020-06-01", "a"), ("2021-06-01", "b")],
        ),
        (
            "the earlier end counts",
            &[["a", "2020-01-01", "", "2021-01-01", ""], ["b", "2022-01-01", "", "", "a"]],
            &[("2020-06-01", "a"), ("2021-06-01", ""), ("2022-06-01", "b")],
        ),
        (
            "an undated successor leaves the end unknown",
            &[["a", "2020-01-01", "", "", ""], ["b", "", "", "", "a"]],
            &[("2020-06-01", "b")],
        ),
        (
            "an undated successor, but a validity",
            &[["a", "2020-01-01", "", "2021-01-01", ""], ["b", "", "", "", "a"]],
            &[("2020-06-01", "ab"), ("2021-06-01", "b")],
        ),
        (
            "of two successors the first to begin counts",
            &[["a", "2020-01-01", "", "", ""], ["b", "2024-01-01", "", "", "a"], ["c", "2022-01-01", "", "", "a"]],
            &[("2021-01-01", "a"), ("2023-01-01", "c"), ("2025-01-01", "bc")],
        ),
        (
            "whichever of them is named last",
            &[["a", "2020-01-01", "", "", ""], ["b", "2022-01-01", "", "", "a"], ["c", "2024-01-01", "", "", "a"]],
            &[("2021-01-01", "a"), ("2023-01-01", "b"), ("2025-01-01", "bc")],
        ),
    ];

    #[test]
    fn what_was_true_then() {
        for (name, records, moments) in CASES {
            let records: Vec<Record> =
                records.iter().map(|[id, created, from, until, old]| record(id, created, from, until, old)).collect();
            // The same in the snapshot, in the overlay, learned one by one, and folded in.
            for in_snapshot in 0..=records.len() {
                let (old, new) = records.split_at(in_snapshot);
                let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
                old.iter().for_each(|record| builder.add(record.clone()).unwrap());
                let mut store = Store::new(builder.finish_segment().unwrap(), None).unwrap();
                for record in new {
                    store.remember(vec![record.clone()]).unwrap();
                }
                let folded = Segment::from_bytes(store.compact().unwrap()).unwrap();
                for store in [&store, &Store::new(folded, None).unwrap()] {
                    for (moment, expected) in *moments {
                        assert_eq!(
                            true_at(store, moment),
                            *expected,
                            "{name}: {in_snapshot} in the snapshot, {moment}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn forgotten_expired_and_archived_records_do_not_come_back() {
        let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
        let expired = Record { expires: day("2025-01-01"), ..record("a", "2020-01-01", "", "", "") };
        let archived = Record { status: Status::Archived, ..record("b", "2020-01-01", "", "", "") };
        builder.add(expired).unwrap();
        builder.add(archived).unwrap();
        builder.add(record("c", "2020-01-01", "", "", "")).unwrap();
        let mut store = Store::new(builder.finish_segment().unwrap(), None).unwrap();
        store.forget("c");
        assert_eq!(true_at(&store, "2021-01-01"), "");
    }

    #[test]
    fn a_successor_in_another_scope_says_nothing() {
        let ana = Scope::global().with("user", "ana");
        let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
        let old = Record { superseded_by: Some("b".into()), ..record("a", "2020-01-01", "", "", "") };
        builder.add(old).unwrap();
        builder.add(Record { scope: ana, ..record("b", "2022-01-01", "", "", "") }).unwrap();
        let store = Store::new(builder.finish_segment().unwrap(), None).unwrap();
        assert_eq!(true_at(&store, "2021-01-01"), "");
    }

    proptest::proptest! {
        #[test]
        fn a_kept_mask_is_the_one_of_the_moment(
            records in proptest::collection::vec((-1i64..9, -1i64..9, -1i64..9), 1..6),
            moments in proptest::collection::vec(-1i64..10, 1..12),
        ) {
            let time = |at: i64| (at >= 0).then_some(Timestamp(at));
            let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
            for (at, (from, until, expires)) in records.iter().enumerate() {
                let (valid_from, valid_until, expires) = (time(*from), time(*until), time(*expires));
                let record = Record { valid_from, valid_until, expires, ..Record::new(at.to_string(), "statement") };
                builder.add(record).unwrap();
            }
            let store = Store::new(builder.finish_segment().unwrap(), None).unwrap();
            for moment in moments {
                let view = View { now: time(moment), ..View::default() };
                let fresh = view.mask(store.base(), &mut Span::default(), &mut |_| false);
                proptest::prop_assert_eq!(&store.masks(&view)[0], &fresh, "at {}", moment);
            }
        }
    }
}
