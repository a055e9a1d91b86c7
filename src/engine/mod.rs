//! The one path: recall and search, stage by stage.
//!
//! The engine does no I/O. A [`Recall`] says which calls it wants made, is handed what they brought, and goes on; clocks, timers and
//! randomness come from whoever drives it.

mod call;
mod config;
mod decide;
mod merge;
mod recall;
mod result;

use std::sync::Arc;

pub use call::{Call, CallKind, Outcome};
pub use config::{Config, Holds, ProviderSpec, Request};
pub use recall::{Recall, Step};
pub use result::{Degraded, ProviderReport, ProviderStatus, RecallResult};

use crate::error::{Error, ErrorCode};
use crate::memory::{Record, Topic};
use crate::plan::TopicIndex;
use crate::retrieve::{BrowseRequest, LocalModel, Page, Store};
use crate::snapshot::{IndexConfig, Segment};
use crate::write::{Nonce, Utf8Bytes};

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
        Ok(Engine { config, store, topics, providers: Arc::default(), embedder: None, nonce: None })
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
        Ok(())
    }

    /// Learns records; see [`Store::remember`].
    ///
    /// # Errors
    ///
    /// As [`Store::remember`].
    pub fn remember(&mut self, records: Vec<Record>) -> Result<(), Error> {
        self.store.remember(records)
    }

    /// Forgets a record; see [`Store::forget`].
    ///
    /// # Errors
    ///
    /// As [`Store::forget`].
    pub fn forget(&mut self, id: &str) -> Result<bool, Error> {
        self.store.forget(id)
    }

    /// Learns a record in place of another; see [`Store::supersede`].
    ///
    /// # Errors
    ///
    /// As [`Store::supersede`].
    pub fn supersede(&mut self, old: &str, record: Record) -> Result<(), Error> {
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

    /// A recall or search driven to its end where nothing is injected: calls to providers are answered with "not available".
    pub fn run(&self, mut recall: Recall) -> RecallResult {
        loop {
            match recall.advance(self, &Utf8Bytes) {
                Step::Done(result) => return *result,
                Step::Wait(calls) => {
                    for call in calls {
                        recall.settle(call.id, Outcome::Failed("no driver is there to make the call".into()), 0.0);
                    }
                }
            }
        }
    }
}
