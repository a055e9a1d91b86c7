use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use js_sys::{Float64Array, Function, Promise};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;

use super::driver::{advance, drive};
use super::host::AbortSignal;
use super::load::{WasmBytes, WasmTable, model_of};
use super::pack::Packed;
use super::reconcile::{reconcile, reconcile_soon};
use super::value::{from_js, throw, to_js};
use crate::engine::{Config, Engine, Injected, ProviderSpec, Recall, RecallResult, Reconciler, Request, Step};
use crate::error::{Error, ErrorCode};
use crate::memory::{Catalog, Record, Timestamp, Topic};
use crate::retrieve::{BrowseRequest, ThemesRequest};
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
    pub(super) semantic: RefCell<Option<Function>>,
    pub(super) planner: RefCell<Option<Function>>,
    pub(super) reranker: RefCell<Option<Function>>,
    pub(super) reconcile: RefCell<Option<Function>>,
    pub(super) reconciler: RefCell<Reconciler>,
    pub(super) count_tokens: RefCell<Option<Function>>,
    unpack: RefCell<Option<Function>>,
}

impl State {
    /// A result as a plain object.
    fn hand_over(&self, result: &RecallResult) -> Result<JsValue, JsValue> {
        let Some(unpack) = self.unpack.borrow().clone() else { return to_js(result) };
        let packed = Packed::of(result);
        let numbers = Float64Array::from(packed.numbers.as_slice());
        unpack.call2(&JsValue::UNDEFINED, &packed.text.into(), &numbers)
    }
}

fn settled(result: Result<JsValue, JsValue>) -> Promise {
    result.map_or_else(|thrown| Promise::reject(&thrown), |value| Promise::resolve(&value))
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
    /// An engine over the bytes of a snapshot, or over nothing; it embeds with `table`, or else by hashing.
    #[wasm_bindgen(constructor)]
    pub fn new(snapshot: Option<WasmBytes>, config: JsValue, table: Option<WasmTable>) -> Result<WasmEngine, JsValue> {
        #[cfg(any(debug_assertions, feature = "debug-panics"))]
        super::readable_panics();
        let config: Config = from_js(config, ErrorCode::InvalidConfig, "config")?;
        let chosen = table.is_some();
        let model = model_of(table);
        let engine = match snapshot {
            Some(bytes) => Engine::load(bytes.into_vec(), config, Some(Arc::clone(&model))),
            None => Engine::empty(config, Some(Arc::clone(&model))),
        };
        let engine = engine.map_err(|error| throw(&error))?;
        let base = engine.store().base();
        if chosen && !base.is_empty() && base.model() != model.id() {
            let (built, given) = (base.model(), model.id());
            let message = format!(
                "the snapshot was built with `{built}` and the static table is `{given}`: build it with this table, or load it without"
            );
            return Err(throw(&Error::new(ErrorCode::ModelMismatch, message)));
        }
        Ok(WasmEngine {
            state: Rc::new(State {
                engine: engine.into(),
                providers: RefCell::default(),
                embedder: RefCell::default(),
                semantic: RefCell::default(),
                planner: RefCell::default(),
                reranker: RefCell::default(),
                reconcile: RefCell::default(),
                reconciler: RefCell::default(),
                count_tokens: RefCell::default(),
                unpack: RefCell::default(),
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

    /// Registers a semantic backend: `search(query, limit, { signal, scope })` returns or promises ids of records, best first;
    /// `reconcile(activeSet, revision, { signal })` takes over the whole state and ignores older revisions than it knows; 0 has no order.
    #[wasm_bindgen(js_name = setSemantic)]
    pub fn set_semantic(&self, search: Function, reconcile: Option<Function>) {
        self.state.semantic.replace(Some(search));
        self.state.reconcile.replace(reconcile);
        self.inject(|injected| injected.semantic = true);
    }

    /// Registers a planner: `plan({ prompt, topics, providers }, { signal })` returns or promises a plan. Asked only where the decision is
    /// ambiguous, and only if `config.plan.planner` says what it may be sent.
    #[wasm_bindgen(js_name = setPlanner)]
    pub fn set_planner(&self, plan: Function) {
        self.state.planner.replace(Some(plan));
        self.inject(|injected| injected.planner = true);
    }

    /// Registers a reranker: `rerank(query, candidates, { signal })` returns or promises the ids of candidates, best first.
    #[wasm_bindgen(js_name = setReranker)]
    pub fn set_reranker(&self, rerank: Function) {
        self.state.reranker.replace(Some(rerank));
        self.inject(|injected| injected.reranker = true);
    }

    /// Registers an exact token counter: `count(text)` returns a number at once.
    #[wasm_bindgen(js_name = setTokenCounter)]
    pub fn set_token_counter(&self, count: Function) {
        self.state.count_tokens.replace(Some(count));
        // Prepared blocks were measured otherwise.
        self.inject(|_| ());
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
    pub fn recall(&self, request: JsValue, signal: Option<AbortSignal>) -> Promise {
        self.run(request, signal, Purpose::Recall)
    }

    /// The same path without the decision and the block.
    pub fn search(&self, request: JsValue, signal: Option<AbortSignal>) -> Promise {
        self.run(request, signal, Purpose::Search)
    }

    /// A recall for a turn that has not come: made in turn `turn`, it may be served by a recall of a later one.
    pub fn prepare(&self, turn: f64, request: JsValue, signal: Option<AbortSignal>) -> Promise {
        let whole = turn >= 0.0 && turn.fract() == 0.0 && turn < 9e15;
        if !whole {
            return Promise::reject(&throw(&Error::new(ErrorCode::InvalidRequest, "a turn is a whole number from 0")));
        }
        self.run(request, signal, Purpose::Prepare(turn as u64))
    }

    /// The promise holds nothing of `self`: the caller may free the engine while it is pending. Where nothing is waited for, it is settled already.
    fn run(&self, request: JsValue, signal: Option<AbortSignal>, purpose: Purpose) -> Promise {
        let mut recall = match begin(&self.state, request, purpose) {
            Ok(recall) => recall,
            Err(thrown) => return Promise::reject(&thrown),
        };
        if let Some(fault) = self.state.reconciler.borrow().fault() {
            recall.degrade("reconcile", format!("the semantic backend is not at the latest state: {fault}"));
        }
        let step = match advance(&self.state, &mut recall) {
            Step::Done(result) => return settled(self.state.hand_over(&result)),
            Step::Failed(error) => return Promise::reject(&throw(&error)),
            step => step,
        };
        let state = Rc::clone(&self.state);
        future_to_promise(async move {
            let result = drive(&state, recall, step, signal).await.map_err(|error| throw(&error))?;
            state.hand_over(&result)
        })
    }

    /// Registers what makes a result of the two parts of a [`Packed`]; without it each field crosses by itself.
    #[wasm_bindgen(js_name = setUnpacker)]
    pub fn set_unpacker(&self, unpack: Function) {
        self.state.unpack.replace(Some(unpack));
    }

    /// Gives the ids of records whose text is shaped like an instruction to a model.
    pub fn remember(&self, records: JsValue) -> Result<Vec<String>, JsValue> {
        let records: Vec<Record> = from_js(records, ErrorCode::InvalidRecord, "records")?;
        self.learn(|engine| engine.remember(records))
    }

    pub fn forget(&self, id: &str) -> Result<bool, JsValue> {
        self.learn(|engine| Ok(engine.forget(id)))
    }

    pub fn supersede(&self, old: &str, record: JsValue) -> Result<Vec<String>, JsValue> {
        let record: Record = from_js(record, ErrorCode::InvalidRecord, "record")?;
        self.learn(|engine| engine.supersede(old, record))
    }

    pub fn suppress(&self, subject: &str, predicate: &str) -> Result<(), JsValue> {
        self.learn(|engine| {
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
        let bytes = self.state.engine.borrow().compact().map_err(|error| throw(&error))?;
        reconcile_soon(&self.state);
        Ok(bytes)
    }

    /// Hands the semantic backend the whole state, now, as it is done after each change; resolves when it is taken over, or with what
    /// stood in the way.
    pub fn reconcile(&self) -> Promise {
        let state = Rc::clone(&self.state);
        future_to_promise(async move {
            reconcile(&state).await;
            let fault = state.reconciler.borrow().fault().map(JsValue::from_str);
            Ok(fault.unwrap_or(JsValue::UNDEFINED))
        })
    }

    /// Lists records in order of time, page by page.
    pub fn browse(&self, request: JsValue) -> Result<JsValue, JsValue> {
        let mut request: BrowseRequest = from_js(request, ErrorCode::InvalidRequest, "browse")?;
        request.now.get_or_insert_with(|| Timestamp(js_sys::Date::now() as i64));
        to_js(&self.state.engine.borrow().browse(&request).map_err(|error| throw(&error))?)
    }

    /// What the visible records are mostly about, largest theme first.
    pub fn themes(&self, request: JsValue) -> Result<JsValue, JsValue> {
        let mut request: ThemesRequest = from_js(request, ErrorCode::InvalidRequest, "themes")?;
        request.now.get_or_insert_with(|| Timestamp(js_sys::Date::now() as i64));
        to_js(&self.state.engine.borrow().themes(&request).map_err(|error| throw(&error))?)
    }

    /// Id of the model that made the snapshot's vectors, where it is not the one at hand: they are not compared then.
    pub fn unread(&self) -> Option<String> {
        let engine = self.state.engine.borrow();
        let (store, base) = (engine.store(), engine.store().base());
        let unread = store.model().is_none() && !base.is_empty() && !base.model().is_empty();
        unread.then(|| base.model().to_string())
    }

    /// Where the snapshot lies in linear memory, as address and length: what is left of it when everything else is lost to a trap.
    pub fn span(&self) -> Vec<usize> {
        let engine = self.state.engine.borrow();
        let bytes = engine.store().base().bytes();
        vec![bytes.as_ptr() as usize, bytes.len()]
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

    /// A change that the semantic backend is told of.
    fn learn<T>(&self, act: impl FnOnce(&mut Engine) -> Result<T, Error>) -> Result<T, JsValue> {
        let changed = self.change(act)?;
        reconcile_soon(&self.state);
        Ok(changed)
    }

    fn inject(&self, change: impl FnOnce(&mut Injected)) {
        let mut engine = self.state.engine.borrow_mut();
        let mut injected = engine.injected();
        change(&mut injected);
        engine.set_injected(injected);
    }

    fn change<T>(&self, act: impl FnOnce(&mut Engine) -> Result<T, Error>) -> Result<T, JsValue> {
        act(&mut self.state.engine.borrow_mut()).map_err(|error| throw(&error))
    }
}

/// What a path through the engine is for.
#[derive(Clone, Copy, PartialEq)]
enum Purpose {
    Recall,
    Search,
    Prepare(u64),
}

fn begin(state: &State, request: JsValue, purpose: Purpose) -> Result<Recall, JsValue> {
    let mut request: Request = from_js(request, ErrorCode::InvalidRequest, "request")?;
    if request.now.is_none() {
        request.now = Some(Timestamp(js_sys::Date::now() as i64));
    }
    let mut engine = state.engine.borrow_mut();
    if purpose != Purpose::Search && request.nonce.is_none() && !engine.has_nonce() {
        engine.set_nonce(draw_nonce()?);
    }
    let begun = match purpose {
        Purpose::Recall => engine.recall(request),
        Purpose::Search => engine.search(request),
        Purpose::Prepare(turn) => engine.prepare(turn, request),
    };
    begun.map_err(|error| throw(&error))
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
