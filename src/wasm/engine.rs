use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use js_sys::Function;
use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::driver::drive;
use super::host::AbortSignal;
use super::value::{from_js, throw, to_js};
use crate::embed::HashEmbedder;
use crate::engine::{Config, Engine, ProviderSpec, Request};
use crate::error::{Error, ErrorCode};
use crate::memory::{Catalog, Record, Timestamp, Topic};
use crate::retrieve::BrowseRequest;
use crate::write::{Nonce, check_citations};

/// An engine and the functions that it may call.
///
/// Every method takes `&self` and holds no borrow while something is awaited, so a provider may call back into
/// the engine that awaits it.
#[wasm_bindgen]
pub struct WasmEngine {
    state: Rc<State>,
}

/// What a recall on its way shares with the engine.
pub(super) struct State {
    pub(super) engine: RefCell<Engine>,
    pub(super) providers: RefCell<HashMap<String, Function>>,
    pub(super) embedder: RefCell<Option<Function>>,
    pub(super) count_tokens: RefCell<Option<Function>>,
}

/// What an engine says of itself.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info<'a> {
    version: &'static str,
    records: usize,
    learned: usize,
    model: &'a str,
    revision: String,
    overlay_revision: u64,
    bytes: usize,
    providers: Vec<&'a str>,
    catalog: &'a Catalog,
}

#[wasm_bindgen]
impl WasmEngine {
    /// An engine over the bytes of a snapshot, or over nothing.
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: Option<Vec<u8>>, config: JsValue) -> Result<WasmEngine, JsValue> {
        #[cfg(any(debug_assertions, feature = "debug-panics"))]
        super::readable_panics();
        let config: Config = from_js(config, ErrorCode::InvalidConfig, "config")?;
        let model = Some(Arc::new(HashEmbedder) as crate::retrieve::LocalModel);
        let engine = match bytes {
            Some(bytes) => Engine::load(bytes, config, model),
            None => Engine::empty(config, model),
        };
        let engine = engine.map_err(|error| throw(&error))?;
        Ok(WasmEngine {
            state: Rc::new(State {
                engine: engine.into(),
                providers: RefCell::default(),
                embedder: RefCell::default(),
                count_tokens: RefCell::default(),
            }),
        })
    }

    /// Registers a provider: `search(request, { signal })` returns or promises an array of results.
    #[wasm_bindgen(js_name = addProvider)]
    pub fn add_provider(&self, spec: JsValue, search: Function) -> Result<(), JsValue> {
        let spec: ProviderSpec = from_js(spec, ErrorCode::InvalidConfig, "provider")?;
        let id = spec.id.clone();
        self.change(|engine| engine.add_provider(spec))?;
        self.state.providers.borrow_mut().insert(id, search);
        Ok(())
    }

    /// Registers an embedder: `embed(texts, { signal })` returns or promises one vector a text.
    #[wasm_bindgen(js_name = setEmbedder)]
    pub fn set_embedder(&self, id: &str, dimensions: usize, embed: Function) -> Result<(), JsValue> {
        self.change(|engine| engine.set_embedder(id, dimensions))?;
        self.state.embedder.replace(Some(embed));
        Ok(())
    }

    /// Registers an exact token counter: `count(text)` returns a number at once.
    #[wasm_bindgen(js_name = setTokenCounter)]
    pub fn set_token_counter(&self, count: Function) {
        self.state.count_tokens.replace(Some(count));
    }

    /// Sets the nonce of this session's delimiters; without it one is drawn at the first recall.
    #[wasm_bindgen(js_name = setNonce)]
    pub fn set_nonce(&self, nonce: &str) -> Result<(), JsValue> {
        let nonce = Nonce::new(nonce).map_err(|_| {
            throw(&Error::new(ErrorCode::InvalidConfig, "nonce must be 8 to 32 ASCII letters and digits"))
        })?;
        self.change(|engine| {
            engine.set_nonce(nonce);
            Ok(())
        })
    }

    /// Plan, providers, ranking, block. Resolves in any case but a caller's mistake.
    pub async fn recall(&self, request: JsValue, signal: Option<AbortSignal>) -> Result<JsValue, JsValue> {
        self.run(request, signal, false).await
    }

    /// The same path without the decision and the block.
    pub async fn search(&self, request: JsValue, signal: Option<AbortSignal>) -> Result<JsValue, JsValue> {
        self.run(request, signal, true).await
    }

    async fn run(&self, request: JsValue, signal: Option<AbortSignal>, searching: bool) -> Result<JsValue, JsValue> {
        // Nothing of `self` may be held while something is awaited: the caller may free the engine.
        let state = Rc::clone(&self.state);
        let mut request: Request = from_js(request, ErrorCode::InvalidRequest, "request")?;
        if request.now.is_none() {
            request.now = Some(Timestamp(js_sys::Date::now() as i64));
        }
        let recall = {
            let mut engine = state.engine.borrow_mut();
            if !searching && request.nonce.is_none() && !engine.has_nonce() {
                engine.set_nonce(draw_nonce()?);
            }
            let begun = if searching { engine.search(request) } else { engine.recall(request) };
            begun.map_err(|error| throw(&error))?
        };
        let result = drive(&state, recall, signal).await;
        to_js(&*result)
    }

    pub fn remember(&self, records: JsValue) -> Result<(), JsValue> {
        let records: Vec<Record> = from_js(records, ErrorCode::InvalidRecord, "records")?;
        self.change(|engine| engine.remember(records))
    }

    pub fn forget(&self, id: &str) -> Result<bool, JsValue> {
        self.change(|engine| engine.forget(id))
    }

    pub fn supersede(&self, old: &str, record: JsValue) -> Result<(), JsValue> {
        let record: Record = from_js(record, ErrorCode::InvalidRecord, "record")?;
        self.change(|engine| engine.supersede(old, record))
    }

    pub fn suppress(&self, subject: &str, predicate: &str) -> Result<(), JsValue> {
        self.change(|engine| {
            engine.suppress(subject, predicate);
            Ok(())
        })
    }

    #[wasm_bindgen(js_name = addTopic)]
    pub fn add_topic(&self, topic: JsValue) -> Result<(), JsValue> {
        let topic: Topic = from_js(topic, ErrorCode::InvalidRecord, "topic")?;
        self.change(|engine| engine.add_topic(topic))
    }

    /// Snapshot and overlay as new bytes.
    pub fn compact(&self) -> Result<Vec<u8>, JsValue> {
        self.state.engine.borrow().compact().map_err(|error| throw(&error))
    }

    /// Lists records in order of time, page by page.
    pub fn browse(&self, request: JsValue) -> Result<JsValue, JsValue> {
        let mut request: BrowseRequest = from_js(request, ErrorCode::InvalidRequest, "browse")?;
        request.now.get_or_insert_with(|| Timestamp(js_sys::Date::now() as i64));
        to_js(&self.state.engine.borrow().browse(&request).map_err(|error| throw(&error))?)
    }

    pub fn info(&self) -> Result<JsValue, JsValue> {
        let engine = self.state.engine.borrow();
        let store = engine.store();
        to_js(&Info {
            version: env!("CARGO_PKG_VERSION"),
            records: store.base().len(),
            learned: store.learned(),
            model: store.base().model(),
            revision: format!("{:016x}", store.revision()),
            overlay_revision: store.overlay_revision(),
            bytes: store.base().bytes().len(),
            providers: engine.providers().iter().map(|provider| provider.id.as_str()).collect(),
            catalog: store.catalog(),
        })
    }

    fn change<T>(&self, act: impl FnOnce(&mut Engine) -> Result<T, Error>) -> Result<T, JsValue> {
        act(&mut self.state.engine.borrow_mut()).map_err(|error| throw(&error))
    }
}

fn draw_nonce() -> Result<Nonce, JsValue> {
    let mut random = [0u8; 12];
    getrandom::fill(&mut random).map_err(|error| {
        let message = format!("no randomness for the delimiters ({error}): call setNonce, or recall inside a request");
        throw(&Error::new(ErrorCode::InvalidRequest, message))
    })?;
    Nonce::from_bytes(&random).map_err(|_| throw(&Error::new(ErrorCode::InvalidRequest, "the nonce could not be made")))
}

/// Whether every `[id]` cited in an answer is among the ids that were retrieved.
#[wasm_bindgen(js_name = checkCitations)]
pub fn check_citations_js(answer: &str, ids: Vec<String>) -> Result<JsValue, JsValue> {
    to_js(&check_citations(answer, ids))
}
