use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::IndexConfig;
use super::codec::{corrupt, decode};
use super::wire::Table;
use crate::error::Error;
use crate::index::{Lexical, Links, LinksParts, U32s, Vectors};
use crate::memory::{Catalog, Record, Scope, Shape, Status, Timestamp};
use crate::text::Signature;

/// Names of the sections.
pub(super) mod tag {
    use super::super::wire::Tag;

    pub const META: Tag = *b"META";
    pub const CATALOG: Tag = *b"CATG";
    pub const SCOPES: Tag = *b"SCOP";
    pub const RECORD_ENDS: Tag = *b"RECE";
    pub const RECORDS: Tag = *b"RECB";
    pub const FACTS: Tag = *b"FACT";
    pub const ID_ENDS: Tag = *b"IDSE";
    pub const IDS: Tag = *b"IDSB";
    pub const ID_ORDER: Tag = *b"IDSO";
    pub const SIGNATURES: Tag = *b"SIGN";
    pub const GROUP_NAMES: Tag = *b"GRPN";
    pub const LEXICAL: [Tag; 6] = [*b"TRMB", *b"TRME", *b"PSTE", *b"PSTO", *b"PDOC", *b"PIMP"];
    pub const GROUP_LEXICAL: [Tag; 6] = [*b"GTRB", *b"GTRE", *b"GPSE", *b"GPSO", *b"GPDO", *b"GPIM"];
    pub const LINKS: [Tag; crate::index::LinksParts::ARRAYS] = [
        *b"ENTK", *b"ENTE", *b"ENRE", *b"ENRD", *b"RENE", *b"REND", *b"NBRE", *b"NBRD", *b"NBRW", *b"COMR", *b"COME",
        *b"COMD", *b"SPNE", *b"SPND",
    ];
    pub const VECTORS: Tag = *b"VECQ";
    pub const VECTOR_SCALES: Tag = *b"VECS";
}

/// What the file says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Meta {
    pub records: u32,
    pub groups: u32,
    /// Id of the embedding model; empty if there are no vectors.
    pub model: String,
    pub dimensions: u32,
    /// Grows with every compaction of the same store.
    pub revision: u64,
    /// The distinct kinds of the records.
    pub kinds: Vec<String>,
    pub config: IndexConfig,
}

/// An indexed set of records, read in place: a snapshot file, or what was learned since.
#[derive(Clone, Debug)]
pub struct Segment {
    bytes: Vec<u8>,
    table: Table,
    meta: Meta,
    catalog: Catalog,
    scopes: Vec<Scope>,
    group_names: Vec<String>,
    places: Places,
}

/// Where the arrays lie that every query reads.
#[derive(Clone, Debug, Default)]
struct Places {
    facts: Range<usize>,
    records: Range<usize>,
    record_ends: Range<usize>,
    ids: Range<usize>,
    id_ends: Range<usize>,
    id_order: Range<usize>,
    signatures: Range<usize>,
    lexical: [Range<usize>; 6],
    group_lexical: [Range<usize>; 6],
    links: [Range<usize>; LinksParts::ARRAYS],
    vectors: Range<usize>,
    vector_scales: Range<usize>,
}

/// The fixed-size facts of a record, readable without decoding it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Index into [`Segment::scopes`].
    pub scope: u32,
    /// Index into [`Segment::kinds`].
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
    pub(super) const BYTES: usize = 68;
    const NO_INDEX: u32 = u32::MAX;
    const NO_TIME: i64 = i64::MIN;

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let time = |time: Option<Timestamp>| time.map_or(Self::NO_TIME, |time| time.0).to_le_bytes();
        let share = |share: Option<f32>| share.map_or(u8::MAX, |share| (share.clamp(0.0, 1.0) * 254.0).round() as u8);
        let status = match self.status {
            Status::Active => 0,
            Status::Archived => 1,
            Status::Deleted => 2,
        };
        let shape = match self.shape {
            Shape::Turn => 0,
            Shape::Fact => 1,
            Shape::Section => 2,
        };
        out.extend_from_slice(&self.scope.to_le_bytes());
        out.extend_from_slice(&self.group.unwrap_or(Self::NO_INDEX).to_le_bytes());
        out.extend_from_slice(&self.position.unwrap_or(Self::NO_INDEX).to_le_bytes());
        out.push(status | u8::from(self.superseded) << 2 | u8::from(self.unresolved) << 3);
        out.push(shape);
        out.push(share(self.importance));
        out.push(share(self.confidence));
        for moment in [self.changed, self.created, self.expires, self.valid_from, self.valid_until, self.replaced] {
            out.extend_from_slice(&time(moment));
        }
        out.extend_from_slice(&self.kind.to_le_bytes());
    }

    /// Reads nothing but the time from which the record holds.
    fn begins(bytes: &[u8; Self::BYTES]) -> Option<Timestamp> {
        let (times, _) = bytes.get(16..).unwrap_or(&[]).as_chunks::<8>();
        let time = |at: usize| times.get(at).map(|time| i64::from_le_bytes(*time)).filter(|ms| *ms != Self::NO_TIME);
        time(3).or_else(|| time(1)).map(Timestamp)
    }

    fn read(bytes: &[u8; Self::BYTES]) -> Facts {
        let (words, _) = bytes.as_chunks::<4>();
        let word = |at: usize| words.get(at).map_or(0, |word| u32::from_le_bytes(*word));
        let index = |at: usize| Some(word(at)).filter(|index| *index != Self::NO_INDEX);
        let time = |at: usize| {
            let ms = i64::from(word(at)) | i64::from(word(at + 1)) << 32;
            (ms != Self::NO_TIME).then_some(Timestamp(ms))
        };
        let [flags, shape, importance, confidence] = word(3).to_le_bytes();
        let share = |share: u8| (share != u8::MAX).then(|| f32::from(share) / 254.0);
        Facts {
            scope: word(0),
            kind: word(16),
            group: index(1),
            position: index(2),
            status: match flags & 3 {
                0 => Status::Active,
                1 => Status::Archived,
                _ => Status::Deleted,
            },
            superseded: flags & 4 != 0,
            unresolved: flags & 8 != 0,
            shape: match shape {
                0 => Shape::Turn,
                1 => Shape::Fact,
                _ => Shape::Section,
            },
            importance: share(importance),
            confidence: share(confidence),
            changed: time(4),
            created: time(6),
            expires: time(8),
            valid_from: time(10),
            valid_until: time(12),
            replaced: time(14),
        }
    }
}

impl Segment {
    /// Checks and takes over the bytes of a snapshot.
    ///
    /// # Errors
    ///
    /// `SNAPSHOT_CORRUPT` with the section's name if anything does not fit or match its checksum,
    /// `SNAPSHOT_VERSION` if a newer version wrote it. Never panics, and allocates no more than the length of
    /// the bytes justifies.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Segment, Error> {
        let table = Table::read(&bytes)?;
        let section = |tag| bytes.get(table.get(tag)).unwrap_or(&[]);
        let meta: Meta = decode("META", section(tag::META))?;
        let catalog: Catalog = decode("CATG", section(tag::CATALOG))?;
        let scopes: Vec<Scope> = decode("SCOP", section(tag::SCOPES))?;
        let group_names: Vec<String> = decode("GRPN", section(tag::GROUP_NAMES))?;
        let places = Places {
            facts: table.get(tag::FACTS),
            records: table.get(tag::RECORDS),
            record_ends: table.get(tag::RECORD_ENDS),
            ids: table.get(tag::IDS),
            id_ends: table.get(tag::ID_ENDS),
            id_order: table.get(tag::ID_ORDER),
            signatures: table.get(tag::SIGNATURES),
            lexical: tag::LEXICAL.map(|tag| table.get(tag)),
            group_lexical: tag::GROUP_LEXICAL.map(|tag| table.get(tag)),
            links: tag::LINKS.map(|tag| table.get(tag)),
            vectors: table.get(tag::VECTORS),
            vector_scales: table.get(tag::VECTOR_SCALES),
        };
        let segment = Segment { bytes, table, meta, catalog, scopes, group_names, places };
        segment.check()?;
        Ok(segment)
    }

    fn check(&self) -> Result<(), Error> {
        let count = self.len();
        let fits = [
            ("FACT", Some(self.places.facts.len()) == count.checked_mul(Facts::BYTES)),
            ("RECE", is_partition(self.u32s(&self.places.record_ends), count, self.places.records.len())),
            ("IDSE", is_partition(self.u32s(&self.places.id_ends), count, self.places.ids.len())),
            ("SIGN", Some(self.places.signatures.len()) == count.checked_mul(Signature::BYTES)),
            ("IDSO", self.u32s(&self.places.id_order).len() == count),
            ("PDOC", self.lexical().is_consistent()),
            ("GPDO", self.group_lexical().is_consistent()),
            ("GRPN", self.group_names.len() == self.meta.groups as usize),
            ("COMR", self.links().is_consistent(count)),
            ("VECQ", self.meta.model.is_empty() || (self.vectors().is_consistent() && self.vectors().len() == count)),
        ];
        match fits.iter().find(|(_, fits)| !fits) {
            Some((section, _)) => Err(corrupt(section, "its length does not fit the rest")),
            None => Ok(()),
        }
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.meta.records as usize
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.meta.records == 0
    }

    /// The file as it was loaded.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Names and lengths of the sections, in order of place.
    pub fn sections(&self) -> impl Iterator<Item = (String, usize)> + '_ {
        self.table.lengths()
    }

    /// A hash of the whole content, out of the checksums of the sections.
    pub fn content_hash(&self) -> u64 {
        self.table.hash()
    }

    /// Version of the format that the file is in.
    pub fn format_version(&self) -> u16 {
        self.table.version()
    }

    /// Id of the model that made the vectors; empty if there are none.
    pub fn model(&self) -> &str {
        &self.meta.model
    }

    /// Grows with every compaction of the same store.
    pub fn revision(&self) -> u64 {
        self.meta.revision
    }

    /// How the records were indexed.
    pub fn config(&self) -> &IndexConfig {
        &self.meta.config
    }

    /// Topics, providers and known entities.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The distinct kinds of the records.
    pub fn kinds(&self) -> &[String] {
        &self.meta.kinds
    }

    /// The distinct scopes of the records.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Number of sessions and documents.
    pub fn group_count(&self) -> usize {
        self.group_names.len()
    }

    /// The session or document of a number.
    pub fn group_name(&self, group: u32) -> &str {
        self.group_names.get(group as usize).map_or("", String::as_str)
    }

    /// The facts of all records, in order.
    pub fn all_facts(&self) -> impl ExactSizeIterator<Item = Facts> + '_ {
        self.fact_chunks().iter().map(Facts::read)
    }

    /// When each record begins to hold: valid from, else created. In order.
    pub fn times(&self) -> impl ExactSizeIterator<Item = Option<Timestamp>> + '_ {
        self.fact_chunks().iter().map(Facts::begins)
    }

    /// The facts of one record.
    pub fn facts(&self, record: u32) -> Option<Facts> {
        self.fact_chunks().get(record as usize).map(Facts::read)
    }

    /// What the text of one record says at a glance.
    pub fn signature(&self, record: u32) -> Option<Signature> {
        let signatures = self.slice(&self.places.signatures).as_chunks().0;
        signatures.get(record as usize).copied().map(Signature::from_bytes)
    }

    /// One record, decoded.
    ///
    /// # Errors
    ///
    /// `SNAPSHOT_CORRUPT` if there is no such record or it does not decode.
    pub fn record(&self, record: u32) -> Result<Record, Error> {
        let bytes = self
            .u32s(&self.places.record_ends)
            .range(record as usize)
            .and_then(|range| self.slice(&self.places.records).get(range))
            .ok_or_else(|| corrupt("RECB", format!("there is no record {record}")))?;
        decode("RECB", bytes)
    }

    /// The id of a record.
    pub fn id(&self, record: u32) -> &str {
        self.u32s(&self.places.id_ends)
            .range(record as usize)
            .and_then(|range| self.slice(&self.places.ids).get(range))
            .and_then(|bytes| std::str::from_utf8(bytes).ok())
            .unwrap_or("")
    }

    /// The record of an id, found by binary search.
    pub fn find(&self, id: &str) -> Option<u32> {
        let order = self.u32s(&self.places.id_order);
        let at = order.partition_point(|record| self.id(record) < id);
        order.get(at).filter(|record| self.id(*record) == id)
    }

    /// The inverted index over records.
    pub fn lexical(&self) -> Lexical<'_> {
        self.lexical_at(&self.places.lexical)
    }

    /// The inverted index over sessions and documents.
    pub fn group_lexical(&self) -> Lexical<'_> {
        self.lexical_at(&self.places.group_lexical)
    }

    /// Entities, neighbours and communities of the records; empty if the segment was built without.
    pub fn links(&self) -> Links<'_> {
        Links::new(self.places.links.each_ref().map(|place| self.slice(place)))
    }

    /// The vectors of the records; empty if the snapshot has none.
    pub fn vectors(&self) -> Vectors<'_> {
        Vectors::new(
            self.slice(&self.places.vectors),
            self.slice(&self.places.vector_scales),
            self.meta.dimensions as usize,
        )
    }

    fn lexical_at(&self, places: &[Range<usize>; 6]) -> Lexical<'_> {
        Lexical::new(places.each_ref().map(|place| self.slice(place)))
    }

    fn fact_chunks(&self) -> &[[u8; Facts::BYTES]] {
        self.slice(&self.places.facts).as_chunks().0
    }

    fn slice(&self, place: &Range<usize>) -> &[u8] {
        self.bytes.get(place.clone()).unwrap_or(&[])
    }

    fn u32s(&self, place: &Range<usize>) -> U32s<'_> {
        U32s::new(self.slice(place))
    }
}

/// Whether `ends` cuts `length` bytes into `count` pieces.
fn is_partition(ends: U32s<'_>, count: usize, length: usize) -> bool {
    ends.len() == count && ends.iter().is_sorted() && ends.iter().next_back().unwrap_or(0) as usize == length
}
