use super::U32s;

/// Number that stands for "none" in the arrays of [`LinksParts`].
pub const NO_LINK: u32 = u32::MAX;

/// The flat arrays of what belongs together, little-endian; all empty where nothing was linked.
///
/// Entities, neighbours and communities never reach over a scope: each has records of one scope only.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinksParts {
    /// Keys of all entities, ordered by key and then by scope, one after the other.
    pub entity_keys: Vec<u8>,
    /// `u32` an entity: where its key ends.
    pub entity_key_ends: Vec<u8>,
    /// `u32` an entity: where its top records end.
    pub entity_ends: Vec<u8>,
    /// `u32`: top records of the entities, best first.
    pub entity_records: Vec<u8>,
    /// `u32` a record: where its entities end.
    pub record_ends: Vec<u8>,
    /// `u32`: entities of the records.
    pub record_entities: Vec<u8>,
    /// `u32` a record: where its neighbours end.
    pub near_ends: Vec<u8>,
    /// `u32`: neighbours of the records, nearest first.
    pub near: Vec<u8>,
    /// A byte a neighbour: how near it is, in 255ths.
    pub nearness: Vec<u8>,
    /// `u32` a record: its community, or [`NO_LINK`].
    pub communities: Vec<u8>,
    /// `u32` a community: where its members end.
    pub member_ends: Vec<u8>,
    /// `u32`: members of the communities, most central first.
    pub members: Vec<u8>,
    /// `u32` a community: where its spans end, counted in spans.
    pub span_ends: Vec<u8>,
    /// Four `u32` a span: record, [`SpanKind`], and from where to where in bytes.
    pub spans: Vec<u8>,
}

impl LinksParts {
    /// Number of arrays.
    pub const ARRAYS: usize = 14;

    /// The arrays in the order of the fields.
    pub fn into_arrays(self) -> [Vec<u8>; Self::ARRAYS] {
        [
            self.entity_keys,
            self.entity_key_ends,
            self.entity_ends,
            self.entity_records,
            self.record_ends,
            self.record_entities,
            self.near_ends,
            self.near,
            self.nearness,
            self.communities,
            self.member_ends,
            self.members,
            self.span_ends,
            self.spans,
        ]
    }
}

/// What a span of a community's records is for. The text stays with the record: where that may not be seen, or was
/// forgotten since, its words are gone from the summary too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    /// A sentence of the text, for the summary.
    Sentence = 0,
    /// A word of the text, for the title.
    Word = 1,
    /// The record's topic, for the title.
    Topic = 2,
    /// The record's title, for the title.
    Title = 3,
}

/// A piece of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The record.
    pub record: u32,
    /// What it is for, and so which field it is in.
    pub kind: SpanKind,
    /// Where it begins, in bytes.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
}

impl Span {
    /// Appends the span as the file holds it.
    pub fn write(self, out: &mut Vec<u8>) {
        for number in [self.record, self.kind as u32, self.start, self.end] {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// Links read in place. Every access is checked: damaged arrays give fewer links, never a panic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Links<'a> {
    entity_keys: &'a [u8],
    entity_key_ends: U32s<'a>,
    entity_ends: U32s<'a>,
    entity_records: U32s<'a>,
    record_ends: U32s<'a>,
    record_entities: U32s<'a>,
    near_ends: U32s<'a>,
    near: U32s<'a>,
    nearness: &'a [u8],
    communities: U32s<'a>,
    member_ends: U32s<'a>,
    members: U32s<'a>,
    span_ends: U32s<'a>,
    spans: U32s<'a>,
}

impl<'a> Links<'a> {
    /// The links in the arrays of [`LinksParts`], in their order.
    pub fn new(arrays: [&'a [u8]; LinksParts::ARRAYS]) -> Self {
        let [
            entity_keys,
            entity_key_ends,
            entity_ends,
            entity_records,
            record_ends,
            record_entities,
            near_ends,
            near,
            nearness,
            communities,
            member_ends,
            members,
            span_ends,
            spans,
        ] = arrays;
        Links {
            entity_keys,
            entity_key_ends: U32s::new(entity_key_ends),
            entity_ends: U32s::new(entity_ends),
            entity_records: U32s::new(entity_records),
            record_ends: U32s::new(record_ends),
            record_entities: U32s::new(record_entities),
            near_ends: U32s::new(near_ends),
            near: U32s::new(near),
            nearness,
            communities: U32s::new(communities),
            member_ends: U32s::new(member_ends),
            members: U32s::new(members),
            span_ends: U32s::new(span_ends),
            spans: U32s::new(spans),
        }
    }

    /// Whether the arrays fit together, and fit a segment of `records`.
    #[inline(never)]
    pub fn is_consistent(self, records: usize) -> bool {
        let cuts = |ends: U32s<'_>, length: usize| {
            ends.iter().is_sorted() && ends.iter().next_back().unwrap_or(0) as usize == length
        };
        let within = |numbers: U32s<'_>, limit: usize| numbers.iter().all(|number| (number as usize) < limit);
        let linked = self.communities.len();
        let communities = self.member_ends.len();
        (linked == records || linked == 0)
            && self.record_ends.len() == linked
            && self.near_ends.len() == linked
            && self.entity_ends.len() == self.entity_key_ends.len()
            && self.span_ends.len() == communities
            && self.nearness.len() == self.near.len()
            && cuts(self.entity_key_ends, self.entity_keys.len())
            && cuts(self.entity_ends, self.entity_records.len())
            && cuts(self.record_ends, self.record_entities.len())
            && cuts(self.near_ends, self.near.len())
            && cuts(self.member_ends, self.members.len())
            && self.span_ends.iter().is_sorted()
            && self.span_ends.iter().next_back().map_or(Some(0), |end| (end as usize).checked_mul(4))
                == Some(self.spans.len())
            && within(self.entity_records, records)
            && within(self.record_entities, self.entity_ends.len())
            && within(self.near, records)
            && within(self.members, records)
            && self.communities.iter().all(|community| community == NO_LINK || (community as usize) < communities)
    }

    /// Whether nothing was linked.
    pub fn is_empty(self) -> bool {
        self.communities.is_empty()
    }

    /// Number of entities; the same name in two scopes counts twice.
    pub fn entity_count(self) -> usize {
        self.entity_ends.len()
    }

    /// Key of an entity, in the form of [`who_key`](super::who_key).
    pub fn entity_key(self, entity: u32) -> &'a [u8] {
        self.entity_key_ends.range(entity as usize).and_then(|range| self.entity_keys.get(range)).unwrap_or(&[])
    }

    /// The entities of a key, one a scope.
    pub fn entities_of_key(self, key: &'a str) -> impl Iterator<Item = u32> + 'a {
        let (mut low, mut high) = (0, self.entity_count() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.entity_key(middle) < key.as_bytes() { low = middle + 1 } else { high = middle }
        }
        (low..self.entity_count() as u32).take_while(move |entity| self.entity_key(*entity) == key.as_bytes())
    }

    /// Top records of an entity, best first.
    pub fn records_of(self, entity: u32) -> U32s<'a> {
        part(self.entity_ends, self.entity_records, entity)
    }

    /// Entities of a record.
    pub fn entities_of(self, record: u32) -> U32s<'a> {
        part(self.record_ends, self.record_entities, record)
    }

    /// Neighbours of a record, nearest first, each with its nearness in 255ths.
    pub fn neighbours_of(self, record: u32) -> impl Iterator<Item = (u32, u8)> + 'a {
        let range = self.near_ends.range(record as usize).unwrap_or(0..0);
        let nearness = self.nearness.get(range).unwrap_or(&[]);
        part(self.near_ends, self.near, record).iter().zip(nearness.iter().copied())
    }

    /// Number of communities.
    pub fn community_count(self) -> usize {
        self.member_ends.len()
    }

    /// The community of a record.
    pub fn community_of(self, record: u32) -> Option<u32> {
        self.communities.get(record as usize).filter(|community| *community != NO_LINK)
    }

    /// Members of a community, most central first.
    pub fn members_of(self, community: u32) -> U32s<'a> {
        part(self.member_ends, self.members, community)
    }

    /// What title and summary of a community are made of: parts of the title, then sentences, in order.
    pub fn spans_of(self, community: u32) -> impl Iterator<Item = Span> + 'a {
        let range = self.span_ends.range(community as usize).unwrap_or(0..0);
        range.filter_map(move |at| {
            let number = |nth: usize| self.spans.get(at.checked_mul(4)?.checked_add(nth)?);
            let kind = match number(1)? {
                0 => SpanKind::Sentence,
                1 => SpanKind::Word,
                2 => SpanKind::Topic,
                3 => SpanKind::Title,
                _ => return None,
            };
            Some(Span { record: number(0)?, kind, start: number(2)?, end: number(3)? })
        })
    }
}

fn part<'a>(ends: U32s<'a>, numbers: U32s<'a>, nth: u32) -> U32s<'a> {
    ends.range(nth as usize).and_then(|range| numbers.slice(range.start, range.end)).unwrap_or_default()
}
