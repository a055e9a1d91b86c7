use crate::index::U32s;
use crate::memory::{Shape, Status, Timestamp};

/// The fixed-size facts of a record, readable without decoding it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Index into [`Segment::scopes`](super::Segment::scopes).
    pub scope: u32,
    /// Index into [`Segment::kinds`](super::Segment::kinds).
    pub kind: u32,
    /// Session or document, if it is part of one.
    pub group: Option<u32>,
    /// Place in the group.
    pub position: Option<u32>,
    /// Whether it is in use.
    pub status: Status,
    /// Whether another record replaced it.
    pub superseded: bool,
    /// Whether it is unfinished work.
    pub unresolved: bool,
    /// Whether its text is shaped like an instruction to a model.
    pub instruction_like: bool,
    /// What it looks like to the ranking.
    pub shape: Shape,
    /// Declared importance, 0 to 1.
    pub importance: Option<f32>,
    /// Declared confidence, 0 to 1.
    pub confidence: Option<f32>,
    /// When it was last changed, else created.
    pub changed: Option<Timestamp>,
    /// When it was created.
    pub created: Option<Timestamp>,
    /// When it stops being retrievable.
    pub expires: Option<Timestamp>,
    /// From when on it holds.
    pub valid_from: Option<Timestamp>,
    /// Until when it holds.
    pub valid_until: Option<Timestamp>,
    /// From when on the record that replaced it holds, if it was replaced and that is known.
    pub replaced: Option<Timestamp>,
}

impl Facts {
    /// Of a record that is not there: nobody retrieves it.
    pub(super) const NONE: Facts = Facts {
        scope: u32::MAX,
        kind: u32::MAX,
        group: None,
        position: None,
        status: Status::Deleted,
        superseded: false,
        unresolved: false,
        instruction_like: false,
        shape: Shape::Fact,
        importance: None,
        confidence: None,
        changed: None,
        created: None,
        expires: None,
        valid_from: None,
        valid_until: None,
        replaced: None,
    };
}

/// The facts of all records in columns, little-endian. A column that says nothing of any record is empty.
#[derive(Clone, Copy, Debug)]
pub(super) struct FactColumns<'a> {
    /// Scope, kind, flags, shape, importance, confidence.
    heads: &'a [[u8; HEAD]],
    groups: U32s<'a>,
    positions: U32s<'a>,
    times: [&'a [[u8; 8]]; TIMES],
}

/// `u32` scope, `u32` kind, a byte each of flags, shape, importance and confidence.
const HEAD: usize = 12;
/// Created, changed where that is something else, expires, valid from, valid until, replaced.
const TIMES: usize = 6;
/// Number of columns.
pub(super) const FACT_ARRAYS: usize = 3 + TIMES;
const NO_INDEX: u32 = u32::MAX;
const NO_TIME: i64 = i64::MIN;
const NO_SHARE: u8 = u8::MAX;
const SHARE_STEPS: f32 = 254.0;
const SUPERSEDED: u8 = 1 << 2;
const UNRESOLVED: u8 = 1 << 3;
const INSTRUCTION_LIKE: u8 = 1 << 4;

impl<'a> FactColumns<'a> {
    /// The columns in the arrays of [`write`](Self::write).
    pub(super) fn new([heads, groups, positions, times @ ..]: [&'a [u8]; FACT_ARRAYS]) -> Self {
        FactColumns {
            heads: heads.as_chunks().0,
            groups: U32s::new(groups),
            positions: U32s::new(positions),
            times: times.map(|times| times.as_chunks().0),
        }
    }

    /// Whether each column says something of every record or of none.
    #[inline(never)]
    pub(super) fn is_consistent(self, records: usize) -> bool {
        let fits = |length: usize| length == 0 || length == records;
        self.heads.len() == records
            && fits(self.groups.len())
            && fits(self.positions.len())
            && self.times.iter().all(|times| fits(times.len()))
    }

    /// Writes the columns.
    pub(super) fn write(facts: &[Facts]) -> [Vec<u8>; FACT_ARRAYS] {
        let mut heads = Vec::with_capacity(facts.len() * HEAD);
        for facts in facts {
            let share = |share: Option<f32>| {
                share.map_or(NO_SHARE, |share| (share.clamp(0.0, 1.0) * SHARE_STEPS).round() as u8)
            };
            let status = match facts.status {
                Status::Active => 0,
                Status::Archived => 1,
                Status::Deleted => 2,
            };
            let shape = match facts.shape {
                Shape::Turn => 0,
                Shape::Fact => 1,
                Shape::Section => 2,
            };
            let flag = |set: bool, flag: u8| if set { flag } else { 0 };
            heads.extend_from_slice(&facts.scope.to_le_bytes());
            heads.extend_from_slice(&facts.kind.to_le_bytes());
            let instruction = flag(facts.instruction_like, INSTRUCTION_LIKE);
            heads.push(status | flag(facts.superseded, SUPERSEDED) | flag(facts.unresolved, UNRESOLVED) | instruction);
            heads.extend([shape, share(facts.importance), share(facts.confidence)]);
        }
        let changed = |facts: &Facts| facts.changed.filter(|_| facts.changed != facts.created);
        [
            heads,
            column(facts, |facts| facts.group, |group| group.unwrap_or(NO_INDEX).to_le_bytes()),
            column(facts, |facts| facts.position, |position| position.unwrap_or(NO_INDEX).to_le_bytes()),
            column(facts, |facts| facts.created, bytes_of),
            column(facts, changed, bytes_of),
            column(facts, |facts| facts.expires, bytes_of),
            column(facts, |facts| facts.valid_from, bytes_of),
            column(facts, |facts| facts.valid_until, bytes_of),
            column(facts, |facts| facts.replaced, bytes_of),
        ]
    }

    /// The facts of one record.
    pub(super) fn read(self, record: usize) -> Option<Facts> {
        let (words, _) = self.heads.get(record)?.as_chunks::<4>();
        let [scope, kind, flags] = *words else { return None };
        let [flags, shape, importance, confidence] = flags;
        let share = |share: u8| (share != NO_SHARE).then(|| f32::from(share) / SHARE_STEPS);
        let [created, changed, expires, valid_from, valid_until, replaced] =
            self.times.map(|times| time(times, record));
        Some(Facts {
            scope: u32::from_le_bytes(scope),
            kind: u32::from_le_bytes(kind),
            group: self.group(record),
            position: self.positions.get(record).filter(|position| *position != NO_INDEX),
            status: match flags & 3 {
                0 => Status::Active,
                1 => Status::Archived,
                _ => Status::Deleted,
            },
            superseded: flags & SUPERSEDED != 0,
            unresolved: flags & UNRESOLVED != 0,
            instruction_like: flags & INSTRUCTION_LIKE != 0,
            shape: match shape {
                0 => Shape::Turn,
                1 => Shape::Fact,
                _ => Shape::Section,
            },
            importance: share(importance),
            confidence: share(confidence),
            changed: changed.or(created),
            created,
            expires,
            valid_from,
            valid_until,
            replaced,
        })
    }

    /// The session or document of one record.
    pub(super) fn group(self, record: usize) -> Option<u32> {
        self.groups.get(record).filter(|group| *group != NO_INDEX)
    }

    /// When one record begins to hold: valid from, else created.
    pub(super) fn begins(self, record: usize) -> Option<Timestamp> {
        let [created, _, _, valid_from, ..] = self.times;
        time(valid_from, record).or_else(|| time(created, record))
    }

    /// Whether any record begins at a known time.
    pub(super) fn is_dated(self) -> bool {
        let [created, _, _, valid_from, ..] = self.times;
        !created.is_empty() || !valid_from.is_empty()
    }
}

fn time(times: &[[u8; 8]], record: usize) -> Option<Timestamp> {
    times.get(record).map(|time| i64::from_le_bytes(*time)).filter(|ms| *ms != NO_TIME).map(Timestamp)
}

fn bytes_of(time: Option<Timestamp>) -> [u8; 8] {
    time.map_or(NO_TIME, |time| time.0).to_le_bytes()
}

/// One value a record, or nothing where no record has one.
fn column<T: Copy, const N: usize>(
    facts: &[Facts],
    get: impl Fn(&Facts) -> Option<T>,
    bytes: impl Fn(Option<T>) -> [u8; N],
) -> Vec<u8> {
    if facts.iter().all(|facts| get(facts).is_none()) {
        return Vec::new();
    }
    facts.iter().flat_map(|facts| bytes(get(facts))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_give_the_facts_back() {
        let plain = Facts { scope: 0, kind: 3, status: Status::Active, ..Facts::NONE };
        let full = Facts {
            scope: 7,
            group: Some(2),
            position: Some(9),
            status: Status::Archived,
            superseded: true,
            unresolved: true,
            instruction_like: true,
            shape: Shape::Section,
            importance: Some(1.0),
            confidence: Some(0.0),
            changed: Some(Timestamp(5)),
            created: Some(Timestamp(-4)),
            expires: Some(Timestamp(3)),
            valid_from: Some(Timestamp(2)),
            valid_until: Some(Timestamp(1)),
            replaced: Some(Timestamp(0)),
            ..plain
        };
        let unchanged = Facts { changed: Some(Timestamp(8)), created: Some(Timestamp(8)), ..plain };
        for facts in [vec![plain; 3], vec![plain, full, unchanged], vec![unchanged; 2], vec![]] {
            let arrays = FactColumns::write(&facts);
            let columns = FactColumns::new(arrays.each_ref().map(Vec::as_slice));
            assert!(columns.is_consistent(facts.len()));
            let read: Vec<Facts> = (0..facts.len()).filter_map(|record| columns.read(record)).collect();
            assert_eq!(read, facts);
        }
        let arrays = FactColumns::write(&[plain; 3]);
        assert!(arrays.iter().skip(1).all(Vec::is_empty), "what nobody says takes no room");
    }
}
