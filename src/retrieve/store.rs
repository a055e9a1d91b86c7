use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::learned::rank_learned;
use super::{Found, Hit, Mask, MaskCache, Part, Query, Scratch, SearchConfig, Side, View, names_in, search};
use crate::embed::EmbeddingModel;
use crate::error::{Error, ErrorCode};
use crate::index::{MAX_DOCUMENTS, who_key, who_term};
use crate::memory::{Catalog, Record, Status, Timestamp, Topic};
use crate::snapshot::{Facts, IndexConfig, Segment, SnapshotBuilder, reads_like_instruction};

/// The embedding model that lives in this process.
pub type LocalModel = Arc<dyn EmbeddingModel + Send + Sync>;

/// The built-in store: an immutable snapshot, and what was learned since.
///
/// Cheap to clone; a clone is a consistent view that later changes do not touch.
#[derive(Clone)]
pub struct Store {
    base: Arc<Segment>,
    /// What was learned, indexed once somebody looks: a thousand records learned one by one are indexed together.
    overlay: Arc<OnceLock<Segment>>,
    /// Records learned since the snapshot; the overlay's segment is built from them.
    learned: Arc<BTreeMap<String, Arc<Record>>>,
    /// Ids in the snapshot that are forgotten, replaced or superseded.
    hidden: Arc<BTreeSet<String>>,
    /// `subject|predicate` windows that the user corrected, those that the snapshot knows included.
    suppressed: Arc<BTreeSet<String>>,
    /// Records of the snapshot in windows that were corrected since it was built: they count as archived.
    corrected: Arc<BTreeSet<u32>>,
    catalog: Arc<Catalog>,
    model: Option<LocalModel>,
    overlay_revision: u64,
    /// Of this state: a change begins a new one.
    masks: Arc<MaskCache>,
}

/// Number of the snapshot among the parts of a search.
pub const BASE: u8 = 0;
/// Number of the overlay among the parts of a search.
pub const OVERLAY: u8 = 1;

impl Store {
    /// A store over a snapshot. `model` embeds what is learned and what is asked, if its id is the snapshot's.
    pub fn new(base: Segment, model: Option<LocalModel>) -> Result<Store, Error> {
        let model = model.filter(|model| base.is_empty() || model.id() == base.model());
        Ok(Store {
            catalog: Arc::new(base.catalog().clone()),
            overlay: Arc::default(),
            suppressed: Arc::new(base.suppressed().iter().cloned().collect()),
            corrected: Arc::default(),
            base: Arc::new(base),
            learned: Arc::default(),
            hidden: Arc::default(),
            model,
            overlay_revision: 0,
            masks: Arc::default(),
        })
    }

    /// A store without records.
    pub fn empty(config: IndexConfig, model: Option<LocalModel>) -> Result<Store, Error> {
        Store::new(SnapshotBuilder::new(config, model.clone()).finish_segment()?, model)
    }

    /// The immutable part.
    pub fn base(&self) -> &Segment {
        &self.base
    }

    /// Number of records learned since the snapshot.
    pub fn learned(&self) -> usize {
        self.learned.len()
    }

    /// Revision of the snapshot: a hash of its content, so that it never repeats for another.
    pub fn revision(&self) -> u64 {
        self.base.content_hash()
    }

    /// Grows with every change since the snapshot was loaded.
    pub fn overlay_revision(&self) -> u64 {
        self.overlay_revision
    }

    /// Topics, providers and known entities, learned ones included.
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The model that embeds prompts for this store, if it is in this process.
    pub fn model(&self) -> Option<&LocalModel> {
        self.model.as_ref()
    }

    /// Learns records; they are found from now on. A record with a known id replaces the known one. Gives the ids of those whose text is shaped
    /// like an instruction to a model: they are kept, and say so wherever they are shown.
    ///
    /// # Errors
    ///
    /// `INVALID_RECORD` for the first record that cannot be stored, `TOO_LARGE` for more records than an index can hold; then none of them is.
    pub fn remember(&mut self, records: Vec<Record>) -> Result<Vec<String>, Error> {
        if self.learned.len().saturating_add(records.len()).saturating_mul(2) > MAX_DOCUMENTS {
            return Err(Error::new(ErrorCode::TooLarge, "too many records were learned: compact first"));
        }
        for record in &records {
            if let Some(fault) = record.fault() {
                return Err(Error::new(ErrorCode::InvalidRecord, format!("record {fault}")));
            }
            let replaces_other_scope = self.get(&record.id).is_some_and(|known| known.scope != record.scope);
            if replaces_other_scope {
                let message = format!("`{}` is already there in another scope: choose another id", record.id);
                return Err(Error::new(ErrorCode::InvalidRecord, message));
            }
        }
        let mut flagged = Vec::new();
        for record in records {
            if reads_like_instruction(&record) {
                flagged.push(record.id.clone());
            }
            for old in &record.supersedes {
                self.retire(old, &record);
            }
            self.learn(record);
        }
        self.changed();
        Ok(flagged)
    }

    fn learn(&mut self, record: Record) {
        if self.base.find(&record.id).is_some() {
            Arc::make_mut(&mut self.hidden).insert(record.id.clone());
        }
        Arc::make_mut(&mut self.learned).insert(record.id.clone(), Arc::new(record));
    }

    /// Marks `old` as replaced by `by`, if whoever sees the old record also sees the new one.
    fn retire(&mut self, old: &str, by: &Record) {
        if old == by.id {
            return;
        }
        let Some(mut record) = self.get(old) else { return };
        if record.scope.admits(&by.scope) {
            // The first successor stays, as it does when a snapshot is built; where it is gone, the new one takes its place.
            let first = record.superseded_by.take().filter(|id| self.get(id).is_some());
            record.superseded_by = Some(first.unwrap_or_else(|| by.id.clone()));
            self.learn(record);
        }
    }

    /// Forgets a record: it is never retrieved again, not even as history, and the next snapshot does not hold it. False if there is none.
    pub fn forget(&mut self, id: &str) -> bool {
        let known = self.get(id).is_some();
        if known {
            Arc::make_mut(&mut self.learned).remove(id);
            if self.base.find(id).is_some() {
                Arc::make_mut(&mut self.hidden).insert(id.to_string());
            }
            self.changed();
        }
        known
    }

    /// Learns `record` in place of `old`.
    ///
    /// # Errors
    ///
    /// `INVALID_REQUEST` if there is no `old`; otherwise as [`remember`](Self::remember).
    pub fn supersede(&mut self, old: &str, mut record: Record) -> Result<Vec<String>, Error> {
        if self.get(old).is_none() {
            return Err(Error::new(ErrorCode::InvalidRequest, format!("there is no record `{old}` to supersede")));
        }
        if !record.supersedes.iter().any(|id| id == old) {
            record.supersedes.push(old.to_string());
        }
        self.remember(vec![record])
    }

    /// Hides every record of the snapshot about `subject` and `predicate` at once, whatever finds it, and what anybody else says about them.
    /// What is learned later is not hidden. The next snapshot knows.
    pub fn suppress(&mut self, subject: &str, predicate: &str) {
        let key = window(subject, predicate);
        let base = &self.base;
        let inside =
            |record: &u32| base.record(*record).is_ok_and(|record| window(&record.subject, &record.predicate) == key);
        let corrected = Arc::make_mut(&mut self.corrected);
        let who = who_key(subject);
        if who.is_empty() {
            corrected.extend((0..base.len() as u32).filter(inside));
        } else if let Some(at) = base.lexical().find(&who_term(&who)) {
            corrected.extend(base.lexical().postings(at).iter().map(|posting| posting.document).filter(inside));
        }
        Arc::make_mut(&mut self.suppressed).insert(key);
        self.changed();
    }

    /// Adds a topic, or replaces the one of its id and scope.
    ///
    /// # Errors
    ///
    /// As [`Catalog::add_topic`].
    pub fn add_topic(&mut self, topic: Topic) -> Result<(), Error> {
        Arc::make_mut(&mut self.catalog).add_topic(topic)?;
        self.changed();
        Ok(())
    }

    /// A record by id, whatever its state, unless it was forgotten.
    pub fn get(&self, id: &str) -> Option<Record> {
        let learned = self.learned.get(id).map(|record| (**record).clone());
        learned.or_else(|| self.base_record(id).filter(|_| !self.hidden.contains(id)))
    }

    fn base_record(&self, id: &str) -> Option<Record> {
        self.base.find(id).and_then(|number| self.base.record(number).ok())
    }

    /// Whether the record of this id may be retrieved in this view right now.
    pub fn is_retrievable(&self, id: &str, view: &View) -> bool {
        let admitted = || {
            let (part, number) = self.locate(id)?;
            let segment = self.part(part);
            let facts = self.facts(part, number)?;
            let owner = segment.scopes().get(facts.scope as usize)?;
            let kind = segment.kinds().get(facts.kind as usize)?;
            let of_kind = view.kinds.is_empty() || view.kinds.contains(kind);
            Some(of_kind && view.scope.admits(owner) && view.admits(&facts))
        };
        admitted().unwrap_or(false)
    }

    /// The facts of a record as they are now: what the user corrected since the snapshot was built counts as archived.
    pub fn facts(&self, part: u8, record: u32) -> Option<Facts> {
        let facts = self.part(part).facts(record)?;
        let corrected = part == BASE && facts.status == Status::Active && self.corrected.contains(&record);
        Some(if corrected { Facts { status: Status::Archived, ..facts } } else { facts })
    }

    fn part(&self, part: u8) -> &Segment {
        if part == OVERLAY { self.overlay() } else { &self.base }
    }

    /// Where a record lies that is not forgotten: the part and its number there.
    pub fn locate(&self, id: &str) -> Option<(u8, u32)> {
        if let Some(number) = self.overlay().find(id) {
            return Some((OVERLAY, number));
        }
        self.base.find(id).filter(|_| !self.hidden.contains(id)).map(|number| (BASE, number))
    }

    /// Whether what the snapshot or anybody else says about this subject and predicate is hidden.
    pub fn suppresses(&self, subject: &str, predicate: &str) -> bool {
        !self.suppressed.is_empty() && self.suppressed.contains(&window(subject, predicate))
    }

    /// Whether there is a window that hides anything.
    pub fn suppresses_anything(&self) -> bool {
        !self.suppressed.is_empty()
    }

    /// Number of places that [`active`](Self::active) may be asked for.
    pub fn places(&self) -> usize {
        self.base.len() + self.overlay().len()
    }

    /// The record at a place, 0 up to [`places`](Self::places), if it may be retrieved by anybody at `now`.
    pub fn active(&self, place: usize, now: Option<Timestamp>) -> Option<Record> {
        let view = View { now, ..View::default() };
        let (part, number) = match place.checked_sub(self.base.len()) {
            None => (BASE, place),
            Some(number) => (OVERLAY, number),
        };
        let number = u32::try_from(number).ok()?;
        if !self.facts(part, number).is_some_and(|facts| view.admits(&facts)) {
            return None;
        }
        let record = self.part(part).record(number).ok()?;
        (part == OVERLAY || !self.hidden.contains(&record.id)).then_some(record)
    }

    /// Number of this state among all states of the store: grows with every change, also across [`compact`](Self::compact) and reload.
    pub fn generation(&self) -> u64 {
        self.base.revision().saturating_add(self.overlay_revision)
    }

    /// The masks of both parts in one view.
    pub fn masks(&self, view: &View) -> Arc<[Mask; 2]> {
        self.masks.get(view, |span| {
            let hidden: BTreeSet<u32> = self.hidden.iter().filter_map(|id| self.base.find(id)).collect();
            let base = view.mask(&self.base, span, &mut |record| {
                let corrected = || self.facts(BASE, record).is_none_or(|facts| !view.admits(&facts));
                (!hidden.is_empty() && hidden.contains(&record))
                    || (!self.corrected.is_empty() && self.corrected.contains(&record) && corrected())
            });
            [base, view.mask(self.overlay(), span, &mut |_| false)]
        })
    }

    /// Searches snapshot and overlay together. `side` applies to both, since both are embedded by one model.
    #[inline(never)]
    pub fn search(
        &self,
        query: &Query,
        side: Option<&Side>,
        masks: &[Mask; 2],
        config: &SearchConfig,
        scratch: &mut Scratch,
    ) -> Found {
        let [base, overlay] = masks;
        let parts =
            [Part { segment: &self.base, mask: base, side }, Part { segment: self.overlay(), mask: overlay, side }];
        let mut found = search(&parts, query, config, scratch);
        rank_learned(&mut found, OVERLAY, config);
        found
    }

    /// Keys of the names in the prompt that records visible to these masks are about or by.
    pub fn names_in(&self, query: &Query, masks: &[Mask; 2]) -> Vec<String> {
        let [base, overlay] = masks;
        let part = |segment, mask| Part { segment, mask, side: None };
        names_in(&[part(&self.base, base), part(self.overlay(), overlay)], query)
    }

    /// The segment that a hit is in.
    pub fn segment(&self, hit: &Hit) -> &Segment {
        self.part(hit.part)
    }

    /// The segments by number.
    pub fn segments(&self) -> [&Segment; 2] {
        [&self.base, self.overlay()]
    }

    /// Writes snapshot and overlay as one new snapshot. Forgotten records are left out; records in suppressed windows are kept as history, and the
    /// windows with them.
    ///
    /// # Errors
    ///
    /// As [`SnapshotBuilder::finish`].
    pub fn compact(&self) -> Result<Vec<u8>, Error> {
        let mut builder = SnapshotBuilder::new(self.base.config().clone(), self.model.clone());
        builder.set_revision(self.generation().saturating_add(1));
        builder.set_catalog((*self.catalog).clone());
        builder.set_suppressed(self.suppressed.iter().cloned().collect());
        for number in 0..self.base.len() as u32 {
            if self.hidden.contains(self.base.id(number)) {
                continue;
            }
            let mut record = self.base.record(number)?;
            if record.status == Status::Active && self.corrected.contains(&number) {
                record.status = Status::Archived;
            }
            builder.add(record)?;
        }
        for record in self.learned.values() {
            builder.add((**record).clone())?;
        }
        builder.finish()
    }

    fn changed(&mut self) {
        self.overlay_revision += 1;
        self.overlay = Arc::default();
        self.masks = Arc::default();
    }

    /// What was learned, indexed. Every record was checked when it was learned, and they are fewer than an index can hold.
    fn overlay(&self) -> &Segment {
        self.overlay.get_or_init(|| self.index_learned().unwrap_or_else(|_| Segment::empty(self.base.config().clone())))
    }

    fn index_learned(&self) -> Result<Segment, Error> {
        if self.learned.is_empty() {
            return Ok(Segment::empty(self.base.config().clone()));
        }
        let mut builder = SnapshotBuilder::new(self.base.config().clone(), self.model.clone());
        // Links come with the next snapshot; what is learned is found by its words and vectors until then.
        builder.set_without_links();
        builder.set_catalog(Catalog { entities: self.catalog.entities.clone(), ..Catalog::default() });
        for record in self.learned.values() {
            let by = record.superseded_by.as_ref().filter(|by| !self.learned.contains_key(*by));
            if let Some(by) = by.and_then(|by| self.get(by)) {
                builder.note_elsewhere(&by);
            }
            builder.add((**record).clone())?;
        }
        builder.finish_segment()
    }
}

/// The key of a suppressed window.
fn window(subject: &str, predicate: &str) -> String {
    format!("{}|{}", who_key(subject), who_key(predicate))
}
