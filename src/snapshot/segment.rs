use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::IndexConfig;
use super::codec::{corrupt, decode};
use super::facts::{FACT_ARRAYS, FactColumns, Facts};
use super::wire::Table;
use crate::error::Error;
use crate::index::{Lexical, Links, LinksParts, U32s, Vectors};
use crate::memory::{Catalog, Record, Scope, Timestamp};
use crate::text::Signature;

/// Names of the sections.
pub(super) mod tag {
    use super::super::facts::FACT_ARRAYS;
    use super::super::wire::Tag;

    pub const META: Tag = *b"META";
    pub const CATALOG: Tag = *b"CATG";
    pub const SCOPES: Tag = *b"SCOP";
    pub const RECORD_ENDS: Tag = *b"RECE";
    pub const RECORDS: Tag = *b"RECB";
    pub const FACTS: [Tag; FACT_ARRAYS] =
        [*b"FACT", *b"FGRP", *b"FPOS", *b"FCRT", *b"FCHG", *b"FEXP", *b"FFRM", *b"FUNT", *b"FRPL"];
    pub const ID_ENDS: Tag = *b"IDSE";
    pub const IDS: Tag = *b"IDSB";
    pub const ID_ORDER: Tag = *b"IDSO";
    pub const SIGNATURES: Tag = *b"SIGN";
    pub const GROUP_NAMES: Tag = *b"GRPN";
    pub const LEXICAL: [Tag; 6] = [*b"TRMB", *b"TRME", *b"PSTE", *b"PSTO", *b"POST", *b"POWN"];
    pub const GROUP_LEXICAL: [Tag; 6] = [*b"GTRB", *b"GTRE", *b"GPSE", *b"GPSO", *b"GPST", *b"GPOW"];
    pub const LINKS: [Tag; crate::index::LinksParts::ARRAYS] = [
        *b"ENTK", *b"ENTE", *b"ENRE", *b"ENRD", *b"RENE", *b"REND", *b"NBRE", *b"NBRD", *b"NBRW", *b"COMR", *b"COME",
        *b"COMD", *b"SPNE", *b"SPND",
    ];
    /// Signs, magnitudes, scales.
    pub const VECTORS: [Tag; 3] = [*b"VECS", *b"VECM", *b"VECX"];
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
    /// Windows that the user corrected, in order.
    pub suppressed: Vec<String>,
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
    facts: [Range<usize>; FACT_ARRAYS],
    records: Range<usize>,
    record_ends: Range<usize>,
    ids: Range<usize>,
    id_ends: Range<usize>,
    id_order: Range<usize>,
    signatures: Range<usize>,
    lexical: [Range<usize>; 6],
    group_lexical: [Range<usize>; 6],
    links: [Range<usize>; LinksParts::ARRAYS],
    vectors: [Range<usize>; 3],
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
            facts: tag::FACTS.map(|tag| table.get(tag)),
            records: table.get(tag::RECORDS),
            record_ends: table.get(tag::RECORD_ENDS),
            ids: table.get(tag::IDS),
            id_ends: table.get(tag::ID_ENDS),
            id_order: table.get(tag::ID_ORDER),
            signatures: table.get(tag::SIGNATURES),
            lexical: tag::LEXICAL.map(|tag| table.get(tag)),
            group_lexical: tag::GROUP_LEXICAL.map(|tag| table.get(tag)),
            links: tag::LINKS.map(|tag| table.get(tag)),
            vectors: tag::VECTORS.map(|tag| table.get(tag)),
        };
        let segment = Segment { bytes, table, meta, catalog, scopes, group_names, places };
        segment.check()?;
        Ok(segment)
    }

    /// A segment without records, to be indexed as `config` says.
    pub fn empty(config: IndexConfig) -> Segment {
        let meta = Meta {
            records: 0,
            groups: 0,
            model: String::new(),
            dimensions: 0,
            revision: 0,
            kinds: Vec::new(),
            config,
            suppressed: Vec::new(),
        };
        Segment {
            bytes: Vec::new(),
            table: Table::default(),
            meta,
            catalog: Catalog::default(),
            scopes: Vec::new(),
            group_names: Vec::new(),
            places: Places::default(),
        }
    }

    #[inline(never)]
    fn check(&self) -> Result<(), Error> {
        let count = self.len();
        let fits = [
            ("FACT", self.fact_columns().is_consistent(count)),
            ("RECE", is_partition(self.u32s(&self.places.record_ends), count, self.places.records.len())),
            ("IDSE", is_partition(self.u32s(&self.places.id_ends), count, self.places.ids.len())),
            ("SIGN", Some(self.places.signatures.len()) == count.checked_mul(Signature::BYTES)),
            ("IDSO", self.u32s(&self.places.id_order).len() == count),
            ("POST", self.lexical().is_consistent()),
            ("GPST", self.group_lexical().is_consistent()),
            ("GRPN", self.group_names.len() == self.meta.groups as usize),
            ("COMR", self.links().is_consistent(count)),
            ("VECS", self.meta.model.is_empty() || (self.vectors().is_consistent() && self.vectors().len() == count)),
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

    /// Keys of the windows that the user corrected: the records in them are archived, and what others still say in them stays hidden.
    pub fn suppressed(&self) -> &[String] {
        &self.meta.suppressed
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
        self.facts_from(0)
    }

    /// The facts of the records from one on, in order.
    pub fn facts_from(&self, first: usize) -> impl ExactSizeIterator<Item = Facts> + '_ {
        let columns = self.fact_columns();
        (first.min(self.len())..self.len()).map(move |record| columns.read(record).unwrap_or(Facts::NONE))
    }

    /// When each record begins to hold: valid from, else created. In order.
    pub fn times(&self) -> impl ExactSizeIterator<Item = Option<Timestamp>> + '_ {
        let columns = self.fact_columns();
        (0..self.len()).map(move |record| columns.begins(record))
    }

    /// Whether any record has a time.
    pub fn is_dated(&self) -> bool {
        self.fact_columns().is_dated()
    }

    /// The facts of one record.
    pub fn facts(&self, record: u32) -> Option<Facts> {
        self.fact_columns().read(record as usize)
    }

    /// The session or document of one record, if it is part of one.
    pub fn group(&self, record: u32) -> Option<u32> {
        self.fact_columns().group(record as usize)
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
        let [signs, magnitudes, scales] = self.places.vectors.each_ref().map(|place| self.slice(place));
        Vectors::new(signs, magnitudes, scales, self.meta.dimensions as usize)
    }

    fn lexical_at(&self, places: &[Range<usize>; 6]) -> Lexical<'_> {
        Lexical::new(places.each_ref().map(|place| self.slice(place)))
    }

    fn fact_columns(&self) -> FactColumns<'_> {
        FactColumns::new(self.places.facts.each_ref().map(|place| self.slice(place)))
    }

    fn slice(&self, place: &Range<usize>) -> &[u8] {
        self.bytes.get(place.clone()).unwrap_or(&[])
    }

    fn u32s(&self, place: &Range<usize>) -> U32s<'_> {
        U32s::new(self.slice(place))
    }
}

/// Whether `ends` cuts `length` bytes into `count` pieces.
#[inline(never)]
fn is_partition(ends: U32s<'_>, count: usize, length: usize) -> bool {
    ends.len() == count && ends.iter().is_sorted() && ends.iter().next_back().unwrap_or(0) as usize == length
}
