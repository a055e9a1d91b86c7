//! The one path: recall and search, stage by stage.
//!
//! The engine does no I/O. A [`Recall`] says which calls it wants made, is handed what they brought, and goes on; clocks, timers and
//! randomness come from whoever drives it.

mod recall;
mod call;
mod decide;
mod planner;
mod answers;
mod merge;
mod hints;
mod rerank;
mod prepared;
mod reconcile;
mod result;
mod config;
#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

pub use call::{Call, CallKind, Candidate, Outcome, ProposedPlan, ProposedRequest};
pub use config::{Config, Holds, Mode, ProviderSpec, Request};
pub use recall::{Recall, Step};
pub use reconcile::{ActiveRecord, Reconciler};
pub use result::{Degraded, Preparation, ProviderReport, ProviderStatus, RecallResult};

use crate::error::{Error, ErrorCode};
use crate::memory::{Record, Timestamp, Topic};
use crate::plan::TopicIndex;
use crate::retrieve::{BrowseRequest, LocalModel, Page, Scratch, Store, Theme, ThemesRequest};
use crate::snapshot::{IndexConfig, Segment};
use crate::write::{Nonce, Utf8Bytes};
use prepared::PreparedCache;

/// Id of the built-in store among the providers.
pub const STORE_ID: &str = "memory";

/// A store, its settings, and who else can be asked.
#[derive(Clone)]
pub struct Engine {
    config: Config,
    store: Store,
    topics: Arc<TopicIndex>,
    providers: Arc<Vec<ProviderSpec>>,
    /// Id and length of the vectors that an injected embedder makes.
    embedder: Option<(String, usize)>,
    /// Stands in the delimiters of every block of this session.
    nonce: Option<Nonce>,
    injected: Injected,
    /// How often the planner was asked; one count for all clones, which are one session.
    planner_calls: Arc<AtomicU32>,
    prepared: PreparedCache,
    /// What searches write in, kept from one to the next.
    scratch: Arc<Mutex<Scratch>>,
}

/// What is called from outside besides providers and the embedder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Injected {
    /// A semantic backend over the store's records.
    pub semantic: bool,
    /// A model that decides where the signals do not. Asked only if `plan.planner` says what it may be sent.
    pub planner: bool,
    /// A listwise reranker.
    pub reranker: bool,
}

/// Which state of the store something saw: hash of the snapshot, and number of changes since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Revisions {
    canonical: u64,
    overlay: u64,
}

impl Engine {
    /// An engine over the bytes of a snapshot, embedding prompts with `model`.
    ///
    /// # Errors
    ///
    /// `SNAPSHOT_CORRUPT` and `SNAPSHOT_VERSION` as [`Segment::from_bytes`], `INVALID_CONFIG` as [`Config::check`].
    pub fn load(bytes: Vec<u8>, config: Config, model: Option<LocalModel>) -> Result<Engine, Error> {
        Engine::over(Store::new(Segment::from_bytes(bytes)?, model)?, config)
    }

    /// An engine that has learned nothing yet.
    ///
    /// # Errors
    ///
    /// `INVALID_CONFIG` as [`Config::check`].
    pub fn empty(config: Config, model: Option<LocalModel>) -> Result<Engine, Error> {
        Engine::over(Store::empty(IndexConfig::default(), model)?, config)
    }

    fn over(store: Store, config: Config) -> Result<Engine, Error> {
        config.check()?;
        let topics = Arc::new(TopicIndex::new(store.catalog()));
        Ok(Engine {
            config,
            store,
            topics,
            providers: Arc::default(),
            embedder: None,
            nonce: None,
            injected: Injected::default(),
            planner_calls: Arc::default(),
            prepared: PreparedCache::default(),
            scratch: Arc::default(),
        })
    }

    /// The settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The built-in store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Who can be asked besides the built-in store.
    pub fn providers(&self) -> &[ProviderSpec] {
        &self.providers
    }

    pub(crate) fn topics(&self) -> &TopicIndex {
        &self.topics
    }

    pub(crate) fn embedder(&self) -> Option<&(String, usize)> {
        self.embedder.as_ref()
    }

    pub(crate) fn nonce(&self) -> Option<&Nonce> {
        self.nonce.as_ref()
    }

    /// Whether this session has a nonce.
    pub fn has_nonce(&self) -> bool {
        self.nonce.is_some()
    }

    /// Sets the nonce of this session, drawn by whoever has randomness.
    pub fn set_nonce(&mut self, nonce: Nonce) {
        self.nonce = Some(nonce);
    }

    /// What is called from outside.
    pub fn injected(&self) -> Injected {
        self.injected
    }

    /// Announces what is called from outside; the driver must be able to make its calls. Prepared results are given up.
    pub fn set_injected(&mut self, injected: Injected) {
        self.injected = injected;
        self.prepared.clear();
    }

    pub(crate) fn revisions(&self) -> Revisions {
        Revisions { canonical: self.store.revision(), overlay: self.store.overlay_revision() }
    }

    /// Lends the buffers of searches; who comes while they are lent gets new ones.
    fn with_scratch<T>(&self, act: impl FnOnce(&mut Scratch) -> T) -> T {
        match self.scratch.try_lock() {
            Ok(mut scratch) => act(&mut scratch),
            Err(_) => act(&mut Scratch::default()),
        }
    }

    fn prepared(&self) -> &PreparedCache {
        &self.prepared
    }

    /// Takes one call out of the planner's budget; false if it is spent.
    pub(crate) fn spend_planner_call(&self) -> bool {
        let most = self.config.plan.planner_calls;
        let spend = |spent: u32| (spent < most).then(|| spent.saturating_add(1));
        self.planner_calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }

    /// When a result that is prepared now stops being served: after its time, or when the first of it lapses.
    pub(crate) fn expiry(&self, now: Option<Timestamp>, lapses: Option<Timestamp>) -> Option<Timestamp> {
        let seconds = i64::from(self.config.prepared_seconds);
        now.map(|now| {
            let end = Timestamp(now.0.saturating_add(seconds.saturating_mul(1000)));
            lapses.map_or(end, |lapses| lapses.min(end))
        })
    }

    /// Registers a provider; the driver must be able to make its calls.
    ///
    /// # Errors
    ///
    /// `INVALID_CONFIG` if its id is empty, taken, or the built-in store's.
    pub fn add_provider(&mut self, provider: ProviderSpec) -> Result<(), Error> {
        let taken = self.providers.iter().any(|known| known.id == provider.id);
        if provider.id.is_empty() || provider.id == STORE_ID || taken {
            let message =
                format!("`{}` cannot be a provider's id: it is empty, taken, or the built-in store's", provider.id);
            return Err(Error::new(ErrorCode::InvalidConfig, message));
        }
        Arc::make_mut(&mut self.providers).push(provider);
        self.prepared.clear();
        Ok(())
    }

    /// Announces an embedder that is called from outside.
    ///
    /// # Errors
    ///
    /// `MODEL_MISMATCH` if the snapshot's vectors are another model's: build the snapshot with this model, or leave the embedder out.
    pub fn set_embedder(&mut self, id: &str, dimensions: usize) -> Result<(), Error> {
        let base = self.store.base();
        if !base.is_empty() && (base.model() != id || base.vectors().dimensions() != dimensions) {
            let message = format!(
                "the snapshot's vectors are by `{}` with {} dimensions, the embedder is `{id}` with {dimensions}: build the snapshot with it, or leave it out",
                base.model(),
                base.vectors().dimensions()
            );
            return Err(Error::new(ErrorCode::ModelMismatch, message));
        }
        self.embedder = Some((id.to_string(), dimensions));
        self.prepared.clear();
        Ok(())
    }

    /// Learns records; see [`Store::remember`].
    ///
    /// # Errors
    ///
    /// As [`Store::remember`].
    pub fn remember(&mut self, records: Vec<Record>) -> Result<Vec<String>, Error> {
        self.store.remember(records)
    }

    /// Forgets a record; see [`Store::forget`].
    pub fn forget(&mut self, id: &str) -> bool {
        self.store.forget(id)
    }

    /// Learns a record in place of another; see [`Store::supersede`].
    ///
    /// # Errors
    ///
    /// As [`Store::supersede`].
    pub fn supersede(&mut self, old: &str, record: Record) -> Result<Vec<String>, Error> {
        self.store.supersede(old, record)
    }

    /// Hides what the snapshot says about a subject and predicate; see [`Store::suppress`].
    pub fn suppress(&mut self, subject: &str, predicate: &str) {
        self.store.suppress(subject, predicate);
    }

    /// Adds a topic to the catalog.
    ///
    /// # Errors
    ///
    /// `INVALID_RECORD` if it has no title.
    pub fn add_topic(&mut self, topic: Topic) -> Result<(), Error> {
        self.store.add_topic(topic)?;
        self.topics = Arc::new(TopicIndex::new(self.store.catalog()));
        Ok(())
    }

    /// Snapshot and overlay as the bytes of a new snapshot.
    ///
    /// # Errors
    ///
    /// As [`Store::compact`].
    pub fn compact(&self) -> Result<Vec<u8>, Error> {
        self.store.compact()
    }

    /// Lists records in order of time, page by page; see [`Store::browse`].
    ///
    /// # Errors
    ///
    /// As [`Store::browse`].
    pub fn browse(&self, request: &BrowseRequest) -> Result<Page, Error> {
        self.store.browse(request)
    }

    /// What the records that a request may see are mostly about; see [`Store::themes`].
    ///
    /// # Errors
    ///
    /// As [`Store::themes`].
    pub fn themes(&self, request: &ThemesRequest) -> Result<Vec<Theme>, Error> {
        self.store.themes(request)
    }

    /// Begins a recall: plan, providers, ranking, block.
    ///
    /// # Errors
    ///
    /// `INVALID_REQUEST` for a caller's mistake, a missing nonce among them. What goes wrong later never fails a recall.
    pub fn recall(&self, request: Request) -> Result<Recall, Error> {
        Recall::new(self, request, false)
    }

    /// Begins a search: the same path without the decision and the block. What matches is returned, whether or not it would be injected.
    ///
    /// # Errors
    ///
    /// `INVALID_REQUEST` for a caller's mistake.
    pub fn search(&self, request: Request) -> Result<Recall, Error> {
        Recall::new(self, request, true)
    }

    /// Begins a recall for a turn that has not come: the user still types in turn `turn`, and the result may be served from the next one on. Semantic
    /// work may take four times as long. When it is done, hand it to [`keep`](Self::keep).
    ///
    /// # Errors
    ///
    /// As [`recall`](Self::recall).
    pub fn prepare(&self, turn: u64, mut request: Request) -> Result<Recall, Error> {
        request.mode = Mode::Speculative;
        let mut recall = Recall::new(self, request, false)?;
        recall.source_turn = Some(turn);
        Ok(recall)
    }

    /// Keeps the result of a [`prepare`](Self::prepare), to be served by a recall of the same request in a later turn, while nothing changes and
    /// until it expires. False if it is not kept: a "no", a result that something is missing from, or one that saw an older state.
    pub fn keep(&mut self, recall: &Recall, result: &RecallResult) -> bool {
        let fresh = result.revision == format!("{:016x}", self.store.revision())
            && result.overlay_revision == self.store.overlay_revision();
        let most = if self.config.prepared_seconds == 0 { 0 } else { self.config.prepared_results };
        let at = self.revisions();
        fresh && self.prepared.keep(recall, result, at, most)
    }

    /// Drives a recall, search or preparation to its end; `call` makes each call and says what it brought, and after how many milliseconds.
    ///
    /// # Errors
    ///
    /// `RERANK_FAILED` if the reranker of a search failed.
    pub fn drive(
        &self,
        recall: &mut Recall,
        call: &mut dyn FnMut(&Call) -> (Outcome, f64),
    ) -> Result<RecallResult, Error> {
        loop {
            match recall.advance(self, &Utf8Bytes) {
                Step::Done(result) => return Ok(*result),
                Step::Failed(error) => return Err(error),
                Step::Wait(calls) => {
                    for wanted in calls {
                        let (outcome, elapsed) = call(&wanted);
                        recall.settle(wanted.id, outcome, elapsed);
                    }
                }
            }
        }
    }

    /// A recall or search driven to its end where nothing is injected: calls are answered with "not available".
    pub fn run(&self, mut recall: Recall) -> RecallResult {
        let unavailable = Outcome::Failed("no driver is there to make the call".into());
        self.drive(&mut recall, &mut |_| (unavailable.clone(), 0.0)).unwrap_or_else(|error| RecallResult {
            degraded: vec![Degraded { part: "reranker".into(), message: error.to_string() }],
            ..RecallResult::default()
        })
    }
}
