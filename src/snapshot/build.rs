use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::codec::{encode, encode_onto};
use super::facts::{FactColumns, Facts};
use super::link::{Known, Linker};
use super::segment::{Meta, Segment, tag};
use super::wire::Writer;
use super::{IndexConfig, ShapeConfig};
use crate::embed::{Batch, EmbeddingModel, quantize_onto};
use crate::error::{Error, ErrorCode};
use crate::index::{
    Bm25, Entry, LexicalBuilder, MAX_DOCUMENTS, VectorsBuilder, Vocabulary, answer_term, sorted_by_bytes, who_key,
    who_term,
};
use crate::memory::{Catalog, KnownEntity, Record, Scope, Shape, Status, Timestamp, Topic};
use crate::text::{self, Answer, Signature};
use crate::write::instruction_like;

/// Collects records and catalog entries and writes a snapshot.
///
/// The same input in the same order gives the same bytes, on every platform. [`step`](Self::step) does the work in
/// slices, for hosts that must not be held.
pub struct SnapshotBuilder {
    config: IndexConfig,
    model: Option<Arc<dyn EmbeddingModel + Send + Sync>>,
    /// Id and length of vectors that come from outside.
    external: Option<(String, usize)>,
    revision: u64,
    without_links: bool,
    suppressed: Vec<String>,
    catalog: Catalog,
    records: Vec<Record>,
    given_vectors: Vec<Option<Vec<f32>>>,
    ids: FxHashMap<String, u32>,
    work: Work,
}

/// What has been worked out so far.
#[derive(Default)]
struct Work {
    phase: Phase,
    next: usize,
    /// Scope and beginning of records that are kept elsewhere, by id.
    elsewhere: FxHashMap<String, (Scope, Timestamp)>,
    vocabulary: Vocabulary,
    scopes: Vec<Scope>,
    kinds: Vec<String>,
    facts: Vec<Facts>,
    group_names: Vec<String>,
    /// Records of each group in order of position.
    groups: Vec<Vec<u32>>,
    /// Records just before and just after in the same group.
    neighbours: Vec<[Option<u32>; 2]>,
    /// Terms of each record's own text with their frequencies.
    statements: Vec<Vec<(u32, f32)>>,
    /// All own terms, weighted by field, and the record's length.
    own: Vec<Vec<(u32, f32)>>,
    /// Terms that no text can spell: names.
    marks: Vec<Vec<Entry>>,
    lengths: Vec<f32>,
    /// What the texts say at a glance, as the file keeps it.
    signatures: Vec<u8>,
    /// By term: the record whose signature has it already, counted from 1.
    signed: Vec<u32>,
    mean_lengths: FxHashMap<(u32, Shape), f32>,
    lexical: LexicalBuilder,
    group_lexical: LexicalBuilder,
    /// What each text means by itself, until its neighbours' share is added.
    alone: Alone,
    /// The model at work on the texts as they are read, if it has such a form.
    batch: Option<Box<dyn Batch>>,
    vectors: VectorsBuilder,
    linker: Linker,
    buffer: Vec<f32>,
    encoded: Encoded,
    /// The sections of the file up to the index of the records, and from there on.
    head: Writer,
    tail: Writer,
    /// What went wrong on the way: [`SnapshotBuilder::finish`] says so.
    fault: Option<Error>,
}

/// The records as the file keeps them.
#[derive(Default)]
struct Encoded {
    records: Vec<u8>,
    record_ends: Vec<u8>,
    ids: Vec<u8>,
    id_ends: Vec<u8>,
}

impl Encoded {
    fn push(&mut self, record: &Record) -> Result<(), Error> {
        encode_onto(record, &mut self.records)?;
        self.record_ends.extend_from_slice(&end(&self.records)?);
        self.ids.extend_from_slice(record.id.as_bytes());
        self.id_ends.extend_from_slice(&end(&self.ids)?);
        Ok(())
    }
}

/// What the texts mean by themselves, a byte a dimension.
#[derive(Default)]
struct Alone {
    values: Vec<i8>,
    scales: Vec<f32>,
}

impl Alone {
    fn push(&mut self, vector: &[f32]) {
        self.scales.push(quantize_onto(vector, &mut self.values));
    }

    /// Adds `weight` times a record's vector to `sum`, as exactly as one byte a dimension tells it.
    fn add_to(&self, record: usize, weight: f32, sum: &mut [f32]) {
        let start = record * sum.len();
        if let (Some(scale), Some(values)) = (self.scales.get(record), self.values.get(start..start + sum.len())) {
            let weight = weight * scale;
            for (sum, value) in sum.iter_mut().zip(values) {
                *sum += weight * f32::from(*value);
            }
        }
    }
}

/// A record's text as terms.
#[derive(Default)]
struct Read {
    /// Every term with frequency 1, in order.
    statement: Vec<(u32, f32)>,
    /// Those in sentences that ask.
    asked: Vec<u32>,
    /// Which kinds of answer it holds, in the order of [`Answer::ALL`].
    answers: [bool; Answer::ALL.len()],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Relate,
    Analyse,
    Measure,
    Index,
    Group,
    Embed,
    Blend,
    Link,
    Encode,
    Terms,
    GroupTerms,
    Bodies,
    Vectors,
    Head,
    Done,
}

impl SnapshotBuilder {
    /// A builder that indexes as `config` says and embeds with `model`, if there is one.
    pub fn new(config: IndexConfig, model: Option<Arc<dyn EmbeddingModel + Send + Sync>>) -> Self {
        SnapshotBuilder {
            config,
            model,
            external: None,
            revision: 1,
            without_links: false,
            suppressed: Vec::new(),
            catalog: Catalog::default(),
            records: Vec::new(),
            given_vectors: Vec::new(),
            ids: FxHashMap::default(),
            work: Work::default(),
        }
    }

    /// A builder whose vectors come with the records, made by the model `id` with `dimensions` numbers each.
    pub fn with_external_vectors(config: IndexConfig, id: impl Into<String>, dimensions: usize) -> Self {
        SnapshotBuilder { external: Some((id.into(), dimensions)), ..Self::new(config, None) }
    }

    /// Sets the revision that the snapshot will carry; 1 if it is never set.
    pub fn set_revision(&mut self, revision: u64) {
        self.revision = revision;
    }

    /// Leaves out entities, neighbours and communities, as for a store that is searched at once and rebuilt soon.
    pub fn set_without_links(&mut self) {
        self.without_links = true;
    }

    /// Sets the windows whose records the user corrected, in order.
    pub fn set_suppressed(&mut self, windows: Vec<String>) {
        self.suppressed = windows;
    }

    /// Replaces topics, providers and known entities by those of another store.
    pub fn set_catalog(&mut self, catalog: Catalog) {
        self.catalog = catalog;
    }

    /// Number of records added.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether no record was added.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Adds a record.
    ///
    /// # Errors
    ///
    /// `INVALID_RECORD` if it has no id or text, a share outside 0 to 1, or an id that is already there. The builder stays as it was.
    pub fn add(&mut self, record: Record) -> Result<(), Error> {
        self.add_with_vector(record, None)
    }

    /// Adds a record with the vector of its text.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add), and `MODEL_MISMATCH` if the vector's length is not the announced one.
    pub fn add_with_vector(&mut self, record: Record, vector: Option<Vec<f32>>) -> Result<(), Error> {
        if let Some(fault) = record.fault() {
            return Err(Error::new(ErrorCode::InvalidRecord, format!("record {}: {fault}", self.records.len() + 1)));
        }
        if self.ids.contains_key(&record.id) {
            return Err(Error::new(
                ErrorCode::InvalidRecord,
                format!("`{}` is already there: ids are unique", record.id),
            ));
        }
        if let Some(vector) = &vector {
            let expected = self.external.as_ref().map(|(_, dimensions)| *dimensions);
            if expected != Some(vector.len()) {
                let wanted = expected.map_or("no vector was announced".into(), |n| format!("{n} were announced"));
                let message = format!("`{}` comes with {} dimensions; {wanted}", record.id, vector.len());
                return Err(Error::new(ErrorCode::ModelMismatch, message));
            }
        }
        self.ids.insert(record.id.clone(), self.records.len() as u32);
        self.records.push(record);
        self.given_vectors.push(vector);
        Ok(())
    }

    /// Notes a record that is kept in another segment, so that a record it replaced knows since when.
    pub fn note_elsewhere(&mut self, record: &Record) {
        if let Some(begins) = record.begins() {
            self.work.elsewhere.insert(record.id.clone(), (record.scope.clone(), begins));
        }
    }

    /// Adds a topic; its id is its title if it has none. A topic without a title is refused, and a repeated id replaces the earlier topic.
    ///
    /// # Errors
    ///
    /// `INVALID_RECORD` if it has no title.
    pub fn add_topic(&mut self, topic: Topic) -> Result<(), Error> {
        self.catalog.add_topic(topic)
    }

    /// Adds the names that the user has for a person or thing.
    pub fn add_entity(&mut self, entity: KnownEntity) {
        self.catalog.entities.push(entity);
    }

    /// Adds what is known of a provider.
    pub fn add_provider(&mut self, provider: crate::memory::ProviderCard) {
        self.catalog.providers.push(provider);
    }

    /// Works through up to `records` records, or one whole-store step between passes. True once [`finish`](Self::finish) has only to write.
    ///
    /// No record can be added after the first step.
    pub fn step(&mut self, records: usize) -> bool {
        let work = &mut self.work;
        let end = work.next.saturating_add(records.max(1)).min(self.records.len());
        match work.phase {
            Phase::Relate => {
                work.relate(&mut self.records, &self.ids);
                if let Some(model) = &self.model {
                    work.buffer.resize(model.dimensions(), 0.0);
                    work.batch = model.batch();
                    work.alone.values.reserve_exact(self.records.len() * model.dimensions());
                }
                work.phase = Phase::Analyse;
                return false;
            }
            Phase::Analyse => {
                for (at, record) in self.records.iter().enumerate().take(end).skip(work.next) {
                    if let Some(facts) = work.facts.get_mut(at) {
                        facts.instruction_like = reads_like_instruction(record);
                    }
                    work.analyse(record, self.config.of(record.shape()), &self.catalog);
                }
            }
            Phase::Measure => {
                work.measure();
                work.phase = Phase::Index;
                return false;
            }
            Phase::Index => {
                for at in work.next..end {
                    work.index(at, &self.config);
                }
            }
            Phase::Group => {
                work.index_groups(self.config.group);
                // What was embedded as it was read has only to be blended.
                work.phase = if work.batch.take().is_some() { Phase::Blend } else { Phase::Embed };
                return false;
            }
            Phase::Embed => {
                if let Some(model) = &self.model {
                    for record in self.records.get(work.next..end).unwrap_or(&[]) {
                        work.embed(record, model.as_ref());
                    }
                } else if let Some((_, dimensions)) = &self.external {
                    for vector in self.given_vectors.get(work.next..end).unwrap_or(&[]) {
                        work.take_vector(vector.as_deref(), *dimensions);
                    }
                }
            }
            Phase::Blend => {
                for at in work.next..end {
                    work.blend(at, &self.config);
                }
            }
            Phase::Link => {
                let mut known = Known {
                    records: &self.records,
                    facts: &work.facts,
                    terms: &work.own,
                    vocabulary: &mut work.vocabulary,
                };
                if self.without_links || work.linker.step(&mut known, records) {
                    work.phase = Phase::Encode;
                }
                return false;
            }
            Phase::Encode => {
                for record in self.records.get(work.next..end).unwrap_or(&[]) {
                    if work.fault.is_none() {
                        work.fault = work.encoded.push(record).err();
                    }
                }
            }
            Phase::Terms => {
                let lexical = std::mem::take(&mut work.lexical);
                work.write_arrays(tag::LEXICAL, lexical.finish(&work.vocabulary).into_arrays());
                work.phase = Phase::GroupTerms;
                return false;
            }
            Phase::GroupTerms => {
                let lexical = std::mem::take(&mut work.group_lexical);
                work.write_arrays(tag::GROUP_LEXICAL, lexical.finish(&work.vocabulary).into_arrays());
                work.phase = Phase::Bodies;
                return false;
            }
            Phase::Bodies => {
                work.tail.section(tag::RECORD_ENDS, std::mem::take(&mut work.encoded.record_ends));
                work.tail.section(tag::RECORDS, std::mem::take(&mut work.encoded.records));
                let linker = std::mem::take(&mut work.linker);
                work.write_arrays(tag::LINKS, linker.finish().into_arrays());
                work.phase = Phase::Vectors;
                return false;
            }
            Phase::Vectors => {
                let VectorsBuilder { signs, magnitudes, scales } = std::mem::take(&mut work.vectors);
                work.write_arrays(tag::VECTORS, [signs, magnitudes, scales]);
                work.phase = Phase::Head;
                return false;
            }
            Phase::Head => {
                match self.head() {
                    Ok(head) => self.work.head = head,
                    Err(fault) => {
                        self.work.fault.get_or_insert(fault);
                    }
                }
                self.work.phase = Phase::Done;
                return true;
            }
            Phase::Done => return true,
        }
        work.next = end;
        if end == self.records.len() {
            work.next = 0;
            if work.phase == Phase::Blend {
                work.alone = Alone::default();
            }
            work.phase = match work.phase {
                Phase::Analyse => Phase::Measure,
                Phase::Index => Phase::Group,
                Phase::Embed if self.model.is_some() => Phase::Blend,
                Phase::Encode => Phase::Terms,
                _ => Phase::Link,
            };
        }
        work.phase == Phase::Done
    }

    /// Ids of the records whose text is shaped like an instruction to a model; all of them are known once [`step`](Self::step) has said true.
    pub fn flagged(&self) -> impl Iterator<Item = &str> {
        let flagged = self.records.iter().zip(&self.work.facts).filter(|(_, facts)| facts.instruction_like);
        flagged.map(|(record, _)| record.id.as_str())
    }

    /// Share of the work that [`step`](Self::step) has done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let within = if self.records.is_empty() { 0.0 } else { self.work.next as f64 / self.records.len() as f64 };
        match self.work.phase {
            Phase::Relate => 0.0,
            Phase::Analyse => 0.4 * within,
            Phase::Measure => 0.4,
            Phase::Index => 0.4 + 0.2 * within,
            Phase::Group => 0.6,
            Phase::Embed => 0.6 + 0.15 * within,
            Phase::Blend => 0.75 + 0.05 * within,
            Phase::Link => 0.8 + 0.17 * self.work.linker.progress(self.records.len()),
            Phase::Encode => 0.97 + 0.02 * within,
            Phase::Terms | Phase::GroupTerms | Phase::Bodies | Phase::Vectors | Phase::Head => 0.99,
            Phase::Done => 1.0,
        }
    }

    /// Does what is left to do and writes the file.
    ///
    /// # Errors
    ///
    /// `TOO_LARGE` if an array passes 4 GiB or 2²⁴ records, `INVALID_RECORD` if a record cannot be encoded.
    pub fn finish(mut self) -> Result<Vec<u8>, Error> {
        self.write()
    }

    /// [`finish`](Self::finish) for whoever lets go of the builder in another way than part by part; there is no second time.
    pub(crate) fn write(&mut self) -> Result<Vec<u8>, Error> {
        while !self.step(1024) {}
        if let Some(fault) = self.work.fault.take() {
            return Err(fault);
        }
        let mut file = std::mem::take(&mut self.work.head);
        file.append(std::mem::take(&mut self.work.tail));
        Ok(file.finish())
    }

    #[inline(never)]
    fn head(&mut self) -> Result<Writer, Error> {
        let work = &mut self.work;
        let (model, dimensions) = match (&self.model, &self.external) {
            (Some(model), _) => (model.id().to_string(), model.dimensions()),
            (None, Some((id, dimensions))) => (id.clone(), *dimensions),
            (None, None) => (String::new(), 0),
        };
        let meta = Meta {
            records: u32::try_from(self.records.len())
                .ok()
                .filter(|_| self.records.len() <= MAX_DOCUMENTS)
                .ok_or_else(too_large)?,
            groups: work.groups.len() as u32,
            model,
            dimensions: dimensions as u32,
            revision: self.revision,
            kinds: std::mem::take(&mut work.kinds),
            config: self.config.clone(),
            suppressed: std::mem::take(&mut self.suppressed),
        };
        let order = sorted_by_bytes(self.records.iter().map(|record| record.id.as_str()).zip(0..));
        let mut file = Writer::default();
        file.section(tag::META, encode(&meta)?);
        file.section(tag::CATALOG, encode(&self.catalog)?);
        file.section(tag::SCOPES, encode(&work.scopes)?);
        file.section(tag::GROUP_NAMES, encode(&work.group_names)?);
        for (tag, array) in tag::FACTS.into_iter().zip(FactColumns::write(&work.facts)) {
            file.section(tag, array);
        }
        file.section(tag::SIGNATURES, std::mem::take(&mut work.signatures));
        file.section(tag::ID_ENDS, std::mem::take(&mut work.encoded.id_ends));
        file.section(tag::IDS, std::mem::take(&mut work.encoded.ids));
        file.section(tag::ID_ORDER, order.iter().flat_map(|(_, record)| record.to_le_bytes()).collect());
        Ok(file)
    }

    /// [`finish`](Self::finish), loaded.
    ///
    /// # Errors
    ///
    /// As [`finish`](Self::finish).
    pub fn finish_segment(self) -> Result<Segment, Error> {
        Segment::from_bytes(self.finish()?)
    }
}

/// Where an array ends so far, as the file writes it.
fn end(bytes: &[u8]) -> Result<[u8; 4], Error> {
    u32::try_from(bytes.len()).map(u32::to_le_bytes).map_err(|_| too_large())
}

fn too_large() -> Error {
    Error::new(ErrorCode::TooLarge, "the store passes 4 GiB in one array or 2^24 records: split it by scope")
}

impl Work {
    fn write_arrays<const N: usize>(&mut self, tags: [[u8; 4]; N], arrays: [Vec<u8>; N]) {
        for (tag, array) in tags.into_iter().zip(arrays) {
            if let Err(fault) = end(&array) {
                self.fault.get_or_insert(fault);
            }
            self.tail.section(tag, array);
        }
    }

    /// Scopes, groups, neighbours, and who replaced whom.
    #[inline(never)]
    fn relate(&mut self, records: &mut [Record], ids: &FxHashMap<String, u32>) {
        let replaced = resolve_supersession(records, ids, &self.elsewhere);
        let mut scope_numbers: FxHashMap<Scope, u32> = FxHashMap::default();
        let mut kind_numbers: FxHashMap<&str, u32> = FxHashMap::default();
        let mut group_numbers: FxHashMap<(u32, &str), u32> = FxHashMap::default();
        for (number, record) in records.iter().enumerate() {
            let scope = *scope_numbers.entry(record.scope.clone()).or_insert_with(|| {
                self.scopes.push(record.scope.clone());
                self.scopes.len() as u32 - 1
            });
            let kind = *kind_numbers.entry(record.kind.as_str()).or_insert_with(|| {
                self.kinds.push(record.kind.clone());
                self.kinds.len() as u32 - 1
            });
            let session = record.source.session.as_str();
            let group = (!session.is_empty()).then(|| {
                *group_numbers.entry((scope, session)).or_insert_with(|| {
                    self.group_names.push(session.to_string());
                    self.groups.push(Vec::new());
                    self.groups.len() as u32 - 1
                })
            });
            if let Some(members) = group.and_then(|group| self.groups.get_mut(group as usize)) {
                members.push(number as u32);
            }
            self.facts.push(Facts {
                scope,
                kind,
                group,
                position: record.source.position,
                status: record.status,
                superseded: record.superseded_by.is_some(),
                unresolved: record.unresolved,
                instruction_like: false,
                shape: record.shape(),
                importance: record.importance,
                confidence: record.confidence,
                changed: record.changed(),
                created: record.created,
                expires: record.expires,
                valid_from: record.valid_from,
                valid_until: record.valid_until,
                replaced: replaced.get(number).copied().flatten(),
            });
        }
        self.neighbours = vec![[None; 2]; records.len()];
        for members in &mut self.groups {
            members.sort_by_key(|member| (self.facts.get(*member as usize).and_then(|facts| facts.position), *member));
            let usable: Vec<u32> = members.iter().copied().filter(|member| is_current(&self.facts, *member)).collect();
            for pair in usable.windows(2) {
                if let [before, after] = *pair {
                    if let Some([_, next]) = self.neighbours.get_mut(before as usize) {
                        *next = Some(after);
                    }
                    if let Some([previous, _]) = self.neighbours.get_mut(after as usize) {
                        *previous = Some(before);
                    }
                }
            }
        }
    }

    #[inline(never)]
    fn analyse(&mut self, record: &Record, weights: &ShapeConfig, catalog: &Catalog) {
        let Read { statement, asked, answers } = self.read(record);
        let statement = merge(statement);
        let mut own: Vec<(u32, f32)> =
            statement.iter().map(|(term, frequency)| (*term, frequency * weights.statement)).collect();
        count(&mut self.vocabulary, &record.title, weights.title, &mut own);
        for cue in &record.cues {
            count(&mut self.vocabulary, cue, weights.cues, &mut own);
        }
        // Length is that of the running text; labels do not make a record long.
        let length = own.iter().map(|(_, frequency)| frequency).sum::<f32>();
        // What is asked is seldom what is told; the length stays.
        own.extend(asked.into_iter().map(|term| (term, (weights.asked - 1.0) * weights.statement)));
        count(&mut self.vocabulary, &record.subject, weights.subject, &mut own);
        count(&mut self.vocabulary, &record.predicate, weights.predicate, &mut own);
        if let Some(topic) = &record.topic {
            count(&mut self.vocabulary, topic, weights.topic, &mut own);
        }
        for tag in &record.tags {
            count(&mut self.vocabulary, tag, weights.tags, &mut own);
        }
        for entity in &record.entities {
            count(&mut self.vocabulary, entity, weights.entities, &mut own);
        }
        for entity in &catalog.entities {
            let named = [&record.subject].into_iter().chain(&record.entities).any(|name| *name == entity.name);
            if named && record.scope.admits(&entity.scope) {
                for alias in &entity.aliases {
                    count(&mut self.vocabulary, alias, weights.aliases, &mut own);
                }
            }
        }
        let mut marks = self.marks_of(record);
        for (kind, _) in Answer::ALL.into_iter().zip(answers).filter(|(_, given)| *given) {
            marks.push(Entry { term: self.vocabulary.term(&answer_term(kind)), own: 1.0, context: 0.0 });
        }
        self.marks.push(marks);
        self.own.push(merge(own));
        self.statements.push(statement);
        self.lengths.push(length);
    }

    /// Cuts a record's text into the terms of its statement, signs the text, and embeds it if the model does so token by token.
    #[inline(never)]
    fn read(&mut self, record: &Record) -> Read {
        let mut read = Read::default();
        // A word takes some six bytes.
        read.statement.reserve(record.text().len() / 6);
        let mut signature = Signature::default();
        let number = self.lengths.len() as u32 + 1;
        // As `embedding_text` says: the heading first.
        if let Some(batch) = self.batch.as_mut().filter(|_| !record.statement.is_empty()) {
            text::tokenize(&record.title, &mut |token| batch.add(self.vocabulary.token(&token).number, &token));
        }
        for (sentence, asks) in text::sentences(record.text()) {
            text::tokenize(sentence, &mut |token| {
                let word = self.vocabulary.token(&token);
                if let Some(batch) = &mut self.batch {
                    batch.add(word.number, &token);
                }
                if !asks {
                    read.answers.iter_mut().zip(word.answers).for_each(|(given, gives)| *given |= gives);
                }
                let Some(term) = word.term else { return };
                read.statement.push((term, 1.0));
                if asks {
                    read.asked.push(term);
                }
                if let Some(bit) = word.bit {
                    let place = term as usize;
                    if self.signed.len() <= place {
                        self.signed.resize(place + 1, 0);
                    }
                    if let Some(signed) = self.signed.get_mut(place).filter(|signed| **signed != number) {
                        *signed = number;
                        signature.add(bit);
                    }
                }
            });
        }
        if let Some(batch) = &mut self.batch {
            batch.finish(&mut self.buffer);
            self.alone.push(&self.buffer);
        }
        self.signatures.extend_from_slice(&signature.to_bytes());
        if record.statement.is_empty() {
            read.statement.clear();
            read.asked.clear();
        }
        read
    }

    /// Whom the record is about or by counts as its own; whom it only names counts as context.
    fn marks_of(&mut self, record: &Record) -> Vec<Entry> {
        let mut marks = Vec::new();
        for (name, own) in [&record.subject, &record.source.speaker]
            .into_iter()
            .map(|name| (name, true))
            .chain(record.entities.iter().map(|name| (name, false)))
        {
            let key = who_key(name);
            if !key.is_empty() {
                let term = self.vocabulary.term(&who_term(&key));
                let (own, context) = if own { (1.0, 0.0) } else { (0.0, 1.0) };
                marks.push(Entry { term, own, context });
            }
        }
        marks
    }

    /// Mean lengths per scope and shape: one scope's texts must not move another's scores.
    #[inline(never)]
    fn measure(&mut self) {
        let mut sums: FxHashMap<(u32, Shape), (f32, u32)> = FxHashMap::default();
        for (facts, length) in self.facts.iter().zip(&self.lengths) {
            let (sum, records) = sums.entry((facts.scope, facts.shape)).or_default();
            *sum += length;
            *records += 1;
        }
        self.mean_lengths =
            sums.into_iter().map(|(key, (sum, records))| (key, (sum / records as f32).max(1.0))).collect();
    }

    #[inline(never)]
    fn index(&mut self, at: usize, config: &IndexConfig) {
        let (Some(facts), Some(own), Some(length)) = (self.facts.get(at), self.own.get(at), self.lengths.get(at))
        else {
            return;
        };
        let weights = config.of(facts.shape);
        let mut entries: Vec<Entry> =
            own.iter().map(|&(term, frequency)| Entry { term, own: frequency, context: 0.0 }).collect();
        entries.extend_from_slice(self.marks.get(at).map_or(&[], Vec::as_slice));
        for (neighbour, weight) in self.surroundings(at, weights) {
            for &(term, frequency) in self.statements.get(neighbour as usize).into_iter().flatten() {
                entries.push(Entry { term, own: 0.0, context: frequency * weight });
            }
        }
        let mean = self.mean_lengths.get(&(facts.scope, facts.shape)).copied().unwrap_or(1.0);
        self.lexical.add(&merge_entries(entries), weights.bm25, length / mean);
    }

    /// The records up to two places away in the same session or document, and what their text counts for.
    fn surroundings(&self, at: usize, weights: &ShapeConfig) -> impl Iterator<Item = (u32, f32)> + use<> {
        let next_to = |record: Option<u32>| {
            record.and_then(|record| self.neighbours.get(record as usize)).copied().unwrap_or_default()
        };
        let [before, after] = self.neighbours.get(at).copied().unwrap_or_default();
        let ([earlier, _], [_, later]) = (next_to(before), next_to(after));
        [(before, weights.before), (after, weights.after), (earlier, weights.further), (later, weights.further)]
            .into_iter()
            .filter_map(|(record, weight)| record.map(|record| (record, weight)))
            .filter(|(_, weight)| *weight > 0.0)
    }

    #[inline(never)]
    fn index_groups(&mut self, bm25: Bm25) {
        let mut documents = Vec::with_capacity(self.groups.len());
        for members in &self.groups {
            let mut terms = Vec::new();
            let current = members.iter().filter(|member| is_current(&self.facts, **member));
            for member in current {
                terms.extend_from_slice(self.statements.get(*member as usize).map_or(&[], Vec::as_slice));
            }
            let terms = if members.len() > 1 { merge(terms) } else { Vec::new() };
            let length: f32 = terms.iter().map(|(_, frequency)| frequency).sum();
            let scope = members.first().and_then(|member| self.facts.get(*member as usize)).map(|facts| facts.scope);
            documents.push((scope, terms, length));
        }
        let mut sums: FxHashMap<Option<u32>, (f32, u32)> = FxHashMap::default();
        for (scope, _, length) in &documents {
            let (sum, groups) = sums.entry(*scope).or_default();
            *sum += length;
            *groups += 1;
        }
        for (scope, terms, length) in documents {
            let (sum, groups) = sums.get(&scope).copied().unwrap_or((1.0, 1));
            let entries: Vec<Entry> =
                terms.into_iter().map(|(term, frequency)| Entry { term, own: frequency, context: 0.0 }).collect();
            self.group_lexical.add(&entries, bm25, length / (sum / groups as f32).max(1.0));
        }
    }

    #[inline(never)]
    fn embed(&mut self, record: &Record, model: &dyn EmbeddingModel) {
        model.embed(&embedding_text(record), &mut self.buffer);
        self.alone.push(&self.buffer);
    }

    /// Adds to a record's vector its share of its neighbours'.
    #[inline(never)]
    fn blend(&mut self, at: usize, config: &IndexConfig) {
        let context = self.facts.get(at).map_or(0.0, |facts| config.of(facts.shape).context);
        let neighbours = self.neighbours.get(at).copied().unwrap_or_default();
        self.buffer.fill(0.0);
        self.alone.add_to(at, 1.0, &mut self.buffer);
        if context > 0.0 {
            for neighbour in neighbours.into_iter().flatten() {
                self.alone.add_to(neighbour as usize, context, &mut self.buffer);
            }
            crate::embed::normalize(&mut self.buffer);
        }
        self.vectors.add(&self.buffer);
    }

    fn take_vector(&mut self, vector: Option<&[f32]>, dimensions: usize) {
        self.buffer.clear();
        self.buffer.extend_from_slice(vector.unwrap_or(&[]));
        self.buffer.resize(dimensions, 0.0);
        crate::embed::normalize(&mut self.buffer);
        self.vectors.add(&self.buffer);
    }
}

/// Whether a record's text is shaped like an instruction to a model.
#[inline(never)]
pub fn reads_like_instruction(record: &Record) -> bool {
    instruction_like(&record.statement) || instruction_like(&record.title)
}

/// What a record's vector is made from: heading and text.
pub fn embedding_text(record: &Record) -> String {
    if record.title.is_empty() || record.statement.is_empty() {
        record.text().to_string()
    } else {
        format!("{}. {}", record.title, record.statement)
    }
}

/// Sets `superseded_by` where another record says `supersedes`, if whoever sees the old record also sees the new one:
/// what is private to one scope hides nothing from another. Gives for each record the moment from which on a successor holds.
fn resolve_supersession(
    records: &mut [Record],
    ids: &FxHashMap<String, u32>,
    elsewhere: &FxHashMap<String, (Scope, Timestamp)>,
) -> Vec<Option<Timestamp>> {
    let mut replaced: Vec<(u32, String)> = Vec::new();
    for record in records.iter().filter(|record| record.status != Status::Deleted) {
        for old in &record.supersedes {
            let Some(&number) = ids.get(old) else {
                continue;
            };
            if let Some(target) = records.get(number as usize)
                && target.id != record.id
                && target.scope.admits(&record.scope)
            {
                replaced.push((number, record.id.clone()));
            }
        }
    }
    let mut seen = FxHashSet::default();
    for (number, by) in &replaced {
        if let Some(record) = records.get_mut(*number as usize)
            && seen.insert(*number)
            && record.superseded_by.is_none()
        {
            record.superseded_by = Some(by.clone());
        }
    }
    for (number, record) in records.iter().enumerate() {
        if let Some(by) = &record.superseded_by {
            replaced.push((number as u32, by.clone()));
        }
    }
    let mut moments = vec![None; records.len()];
    for (number, by) in &replaced {
        let known = ids.get(by).and_then(|by| records.get(*by as usize)).filter(|by| by.status != Status::Deleted);
        let known = known.and_then(|by| Some((&by.scope, by.begins()?)));
        let known = known.or_else(|| elsewhere.get(by).map(|(scope, begins)| (scope, *begins)));
        let old = records.get(*number as usize).map(|old| &old.scope);
        if let (Some((scope, begins)), Some(old), Some(moment)) = (known, old, moments.get_mut(*number as usize))
            && old.admits(scope)
        {
            *moment = Some(moment.map_or(begins, |earlier: Timestamp| earlier.min(begins)));
        }
    }
    moments
}

fn is_current(facts: &[Facts], record: u32) -> bool {
    facts.get(record as usize).is_some_and(|facts| facts.status == Status::Active && !facts.superseded)
}

fn count(vocabulary: &mut Vocabulary, text: &str, weight: f32, out: &mut Vec<(u32, f32)>) {
    if weight > 0.0 {
        text::tokenize(text, &mut |token| {
            if let Some(term) = vocabulary.token(&token).term {
                out.push((term, weight));
            }
        });
    }
}

/// One entry a term, in order of term, frequencies added up.
fn merge(mut terms: Vec<(u32, f32)>) -> Vec<(u32, f32)> {
    terms.sort_by_key(|(term, _)| *term);
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    terms
}

fn merge_entries(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort_by_key(|entry| entry.term);
    entries.dedup_by(|next, kept| {
        let same = next.term == kept.term;
        if same {
            kept.own += next.own;
            kept.context += next.context;
        }
        same
    });
    entries
}
