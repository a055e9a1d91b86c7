use std::hash::Hasher;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

use super::{Store, View};
use crate::error::{Error, ErrorCode};
use crate::memory::{Record, Scope, Timestamp};
use crate::snapshot::Facts;

/// What to list, and from where on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BrowseRequest {
    /// What to order by. Default `created_at`.
    pub order: BrowseOrder,
    /// Which end comes first. Default `desc`, the newest.
    pub direction: Direction,
    /// Where the page before ended: its `nextCursor`. None begins at the beginning.
    pub cursor: Option<String>,
    /// The most records on a page, 1 to 1,000. Default 20.
    pub limit: usize,
    /// In whose name; none sees global records only.
    pub scope: Scope,
    /// The present; without it nothing expires.
    pub now: Option<Timestamp>,
    /// What was true then, instead of now.
    pub as_of: Option<Timestamp>,
    /// Also what is no longer in force, labelled.
    pub history: bool,
    /// Only records of these kinds; none means all.
    pub kinds: Vec<String>,
}

impl Default for BrowseRequest {
    fn default() -> Self {
        BrowseRequest {
            order: BrowseOrder::CreatedAt,
            direction: Direction::Desc,
            cursor: None,
            limit: 20,
            scope: Scope::global(),
            now: None,
            as_of: None,
            history: false,
            kinds: Vec::new(),
        }
    }
}

/// What a page is ordered by; equal times go by id, and records without the time are older than all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BrowseOrder {
    /// When it was created.
    CreatedAt,
    /// When it was last changed, else created.
    UpdatedAt,
}

/// Which end comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The newest.
    Desc,
    /// The oldest.
    Asc,
}

/// Some of the records that a view sees, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Page {
    /// In the order that was asked for.
    pub items: Vec<BrowseItem>,
    /// What the next request gives as `cursor`; none on the last page.
    pub next_cursor: Option<String>,
    /// Number of records on all pages together, right now.
    pub total: usize,
}

/// A record on a page.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BrowseItem {
    /// The record, as it is stored.
    pub record: Record,
    /// Whether it is no longer in force; only where history was asked for.
    pub historical: bool,
}

/// A place in the order.
type Key<'a> = (Option<Timestamp>, &'a str);

impl Store {
    /// One page of the records that a view sees, snapshot and overlay together.
    ///
    /// A cursor is the place of a record in the order, not a count: records added or removed between two pages neither
    /// repeat nor hide another. It stays good after [`compact`](Self::compact).
    ///
    /// # Errors
    ///
    /// `INVALID_REQUEST` if the limit is out of range, or the cursor is damaged or from a request with another order,
    /// scope or filter.
    pub fn browse(&self, request: &BrowseRequest) -> Result<Page, Error> {
        if !(1..=1000).contains(&request.limit) {
            return Err(Error::new(ErrorCode::InvalidRequest, "limit must be 1 to 1000"));
        }
        let after = request.cursor.as_deref().map(|cursor| read_cursor(cursor, request)).transpose()?;
        let after: Option<Key<'_>> = after.as_ref().map(|(time, id)| (*time, id.as_str()));
        let view = View::new(&request.scope, request.now, request.as_of, request.history, &request.kinds);
        let precedes = |a: &Key<'_>, b: &Key<'_>| match request.direction {
            Direction::Asc => a < b,
            Direction::Desc => a > b,
        };
        let masks = self.masks(&view);
        let mut page = Page { total: masks.iter().map(super::Mask::visible).sum(), ..Page::default() };
        // One more than the page holds tells whether there is a next one.
        let mut best: Vec<(Key<'_>, u8, u32, Facts)> = Vec::with_capacity(request.limit + 2);
        for ((segment, mask), part) in self.segments().into_iter().zip(&*masks).zip(0u8..) {
            for (record, facts) in (0u32..).zip(segment.all_facts()) {
                if !mask.sees(record) {
                    continue;
                }
                let time = match request.order {
                    BrowseOrder::CreatedAt => facts.created,
                    BrowseOrder::UpdatedAt => facts.changed,
                };
                let key = (time, segment.id(record));
                let full = best.get(request.limit).is_some_and(|(last, ..)| precedes(last, &key));
                if !full && after.is_none_or(|after| precedes(&after, &key)) {
                    let at = best.partition_point(|(other, ..)| precedes(other, &key));
                    best.insert(at, (key, part, record, facts));
                    best.truncate(request.limit + 1);
                }
            }
        }
        let more = best.len() > request.limit;
        best.truncate(request.limit);
        page.next_cursor = best.last().filter(|_| more).map(|(key, ..)| write_cursor(*key, request));
        for (_, part, record, facts) in best {
            if let Some(segment) = self.segments().get(usize::from(part)) {
                let facts = self.facts(part, record).unwrap_or(facts);
                page.items.push(BrowseItem { record: segment.record(record)?, historical: !view.is_in_force(&facts) });
            }
        }
        Ok(page)
    }
}

/// Whether the place has a time, the time, a checksum; then the id.
const HEAD: usize = 1 + 8 + 8;

fn write_cursor((time, id): Key<'_>, request: &BrowseRequest) -> String {
    let mut bytes = Vec::with_capacity(HEAD + id.len());
    bytes.push(u8::from(time.is_some()));
    bytes.extend_from_slice(&time.map_or(0, |time| time.0).to_le_bytes());
    bytes.extend_from_slice(&checksum((time, id), request).to_le_bytes());
    bytes.extend_from_slice(id.as_bytes());
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn read_cursor(cursor: &str, request: &BrowseRequest) -> Result<(Option<Timestamp>, String), Error> {
    let fault = || {
        Error::new(
            ErrorCode::InvalidRequest,
            "the cursor is damaged, or from a request with another order, scope or filter: begin without one",
        )
    };
    if cursor.len() > 2 * (HEAD + Record::MAX_ID_BYTES) {
        return Err(fault());
    }
    let (pairs, rest) = cursor.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let bytes: Option<Vec<u8>> = pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect();
    let bytes = bytes.filter(|_| rest.is_empty()).ok_or_else(fault)?;
    let (head, id) = bytes.split_at_checked(HEAD).ok_or_else(fault)?;
    let (has_time, words) = head.split_first().ok_or_else(fault)?;
    let [time, sum] = words.as_chunks::<8>().0 else { return Err(fault()) };
    let time = (*has_time == 1).then_some(Timestamp(i64::from_le_bytes(*time)));
    let id = String::from_utf8(id.to_vec()).map_err(|_| fault())?;
    if *has_time > 1 || checksum((time, &id), request) != u64::from_le_bytes(*sum) {
        return Err(fault());
    }
    Ok((time, id))
}

/// Of the place and of everything that decides what is on the pages, the present excepted.
fn checksum((time, id): Key<'_>, request: &BrowseRequest) -> u64 {
    let mut hasher = XxHash64::with_seed(u64::from_le_bytes(*b"foreword"));
    hasher.write(&[request.order as u8, request.direction as u8, u8::from(request.history), u8::from(time.is_some())]);
    for moment in [time, request.as_of] {
        hasher.write(&moment.map_or(i64::MIN, |moment| moment.0).to_le_bytes());
    }
    let mut text = |text: &str| {
        hasher.write(&(text.len() as u64).to_le_bytes());
        hasher.write(text.as_bytes());
    };
    text(id);
    for (name, value) in request.scope.dimensions() {
        text(name);
        text(value);
    }
    text("");
    request.kinds.iter().for_each(|kind| text(kind));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::{IndexConfig, SnapshotBuilder};

    fn record(id: &str, created: Option<i64>) -> Record {
        Record { created: created.map(Timestamp), ..Record::new(id, format!("statement {id}")) }
    }

    fn store(records: &[Record]) -> Store {
        let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
        records.iter().for_each(|record| builder.add(record.clone()).unwrap());
        Store::new(builder.finish_segment().unwrap(), None).unwrap()
    }

    fn ids(page: &Page) -> Vec<&str> {
        page.items.iter().map(|item| item.record.id.as_str()).collect()
    }

    #[test]
    fn newest_and_oldest_first_over_snapshot_and_overlay() {
        let mut store = store(&[record("b", Some(2)), record("d", Some(4)), record("z", None), record("a", Some(2))]);
        store.remember(vec![record("c", Some(3)), record("e", Some(5))]).unwrap();
        let mut request = BrowseRequest { limit: 4, ..BrowseRequest::default() };
        let first = store.browse(&request).unwrap();
        assert_eq!((ids(&first), first.total), (vec!["e", "d", "c", "b"], 6));
        request.cursor = first.next_cursor;
        let second = store.browse(&request).unwrap();
        assert_eq!((ids(&second), &second.next_cursor), (vec!["a", "z"], &None));
        let oldest = BrowseRequest { direction: Direction::Asc, ..BrowseRequest::default() };
        assert_eq!(ids(&store.browse(&oldest).unwrap()), ["z", "a", "b", "c", "d", "e"]);
    }

    #[test]
    fn pages_hold_while_records_come_and_go() {
        let mut store = store(&(0..10).map(|at| record(&format!("r{at}"), Some(at))).collect::<Vec<_>>());
        let mut request = BrowseRequest { limit: 3, ..BrowseRequest::default() };
        let mut seen = Vec::new();
        for round in 0..10i64 {
            let page = store.browse(&request).unwrap();
            seen.extend(ids(&page).into_iter().map(String::from));
            // Newer and older ones are added, and the very record that the cursor names is forgotten.
            store.remember(vec![record(&format!("new{round}"), Some(100 + round))]).unwrap();
            if let Some(last) = page.items.last() {
                store.forget(&last.record.id);
            }
            if round == 1 {
                store =
                    Store::new(crate::snapshot::Segment::from_bytes(store.compact().unwrap()).unwrap(), None).unwrap();
            }
            match page.next_cursor {
                Some(cursor) => request.cursor = Some(cursor),
                None => break,
            }
        }
        assert_eq!(seen, ["r9", "r8", "r7", "r6", "r5", "r4", "r3", "r2", "r1", "r0"]);
    }

    #[test]
    fn the_view_holds() {
        let ana = Scope::global().with("user", "ana");
        let old = record("old", Some(1));
        let new = Record { supersedes: vec!["old".into()], kind: "fact".into(), ..record("new", Some(2)) };
        let hers = Record { scope: ana.clone(), ..record("hers", Some(3)) };
        let lapsed = Record { expires: Some(Timestamp(5)), ..record("lapsed", Some(4)) };
        let store = store(&[old, new, hers, lapsed]);
        let list = |change: &dyn Fn(&mut BrowseRequest)| {
            let mut request = BrowseRequest { now: Some(Timestamp(9)), ..BrowseRequest::default() };
            change(&mut request);
            ids(&store.browse(&request).unwrap()).join(" ")
        };
        assert_eq!(list(&|_| ()), "new");
        assert_eq!(list(&|request| request.scope = ana.clone()), "hers new");
        assert_eq!(list(&|request| request.history = true), "new old");
        assert_eq!(list(&|request| request.as_of = Some(Timestamp(1))), "old");
        assert_eq!(list(&|request| request.kinds = vec!["fact".into()]), "new");
        assert_eq!(list(&|request| request.now = None), "lapsed new");
        let history = BrowseRequest { history: true, ..BrowseRequest::default() };
        let page = store.browse(&history).unwrap();
        let labels: Vec<bool> = page.items.iter().map(|item| item.historical).collect();
        assert_eq!((ids(&page), labels), (vec!["lapsed", "new", "old"], vec![false, false, true]));
    }

    #[test]
    fn a_foreign_or_damaged_cursor_is_an_error() {
        let store = store(&[record("a", Some(1)), record("b", Some(2))]);
        let request = BrowseRequest { limit: 1, ..BrowseRequest::default() };
        let cursor = store.browse(&request).unwrap().next_cursor.unwrap();
        let with = |cursor: &str| BrowseRequest { cursor: Some(cursor.into()), ..request.clone() };
        assert_eq!(ids(&store.browse(&with(&cursor)).unwrap()), ["a"]);
        let refused = |request: &BrowseRequest| store.browse(request).unwrap_err().code() == ErrorCode::InvalidRequest;
        assert!(refused(&BrowseRequest { scope: Scope::global().with("user", "ana"), ..with(&cursor) }));
        assert!(refused(&BrowseRequest { direction: Direction::Asc, ..with(&cursor) }));
        assert!(refused(&BrowseRequest { kinds: vec!["fact".into()], ..with(&cursor) }));
        assert!(refused(&BrowseRequest { limit: 0, ..request.clone() }));
        for at in 0..cursor.len() {
            let mut flipped: Vec<char> = cursor.chars().collect();
            flipped[at] = if flipped[at] == '1' { '2' } else { '1' };
            let flipped: String = flipped.into_iter().collect();
            assert!(refused(&with(&flipped)), "{at}");
            assert!(refused(&with(&cursor[..at])), "cut at {at}");
        }
        for junk in ["é", "zz", "00", &"0".repeat(5000), &"f".repeat(34)] {
            assert!(refused(&with(junk)), "{junk}");
        }
    }
}
