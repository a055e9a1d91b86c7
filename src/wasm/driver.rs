//! Awaits what the engine asks for: every call at once, each under its own timer and AbortController, all under one
//! deadline and the caller's signal.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::{Array, Function, Object, Promise, Reflect};
use serde::Serialize;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, future_to_promise};

use super::engine::State;
use super::host::{AbortController, AbortSignal, Listener, Timer, monotonic_ms};
use super::value::{ids, message_of, proposed_plan, provider_results, to_js, vectors};
use crate::engine::{Call, CallKind, Degraded, Outcome, Recall, RecallResult, Step};
use crate::error::Error;
use crate::memory::Scope;
use crate::write::{CountTokens, Utf8Bytes};

/// Why an await ended: values of which no answer can be one.
struct Ends {
    timed_out: JsValue,
    aborted: JsValue,
    deadline: JsValue,
    /// Whether the overall deadline ended one.
    struck: Cell<bool>,
}

impl Ends {
    fn new() -> Ends {
        let end = || JsValue::symbol(None);
        Ends { timed_out: end(), aborted: end(), deadline: end(), struck: Cell::new(false) }
    }
}

/// What a provider is asked.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ProviderRequest<'a> {
    provider_id: &'a str,
    query: &'a str,
    reason: &'a str,
    limit: usize,
    scope: &'a Scope,
}

/// What a planner is asked.
#[derive(Serialize)]
struct PlannerRequest<'a> {
    prompt: &'a str,
    topics: &'a [String],
    providers: &'a [String],
}

/// Goes on as far as is possible without waiting.
pub(super) fn advance(state: &State, recall: &mut Recall) -> Step {
    let counter = Counter::of(state);
    let engine = state.engine.borrow().clone();
    let mut step = recall.advance(&engine, &counter);
    if let Step::Done(result) = &mut step {
        if counter.failed.get() {
            let message =
                "the token counter threw or gave no number; bytes were counted, which are never fewer".to_string();
            result.degraded.push(Degraded { part: "countTokens".to_string(), message });
        }
        // Kept only if it is a preparation.
        state.engine.borrow_mut().keep(recall, result);
    }
    step
}

/// Goes on from a first step to the end.
pub(super) async fn drive(
    state: &Rc<State>,
    mut recall: Recall,
    mut step: Step,
    signal: Option<AbortSignal>,
) -> Result<Box<RecallResult>, Error> {
    let deadline = recall.deadline_ms(&state.engine.borrow());
    let started = monotonic_ms();
    let ends = Rc::new(Ends::new());
    loop {
        let calls = match step {
            Step::Done(result) => return Ok(result),
            Step::Failed(error) => return Err(error),
            Step::Wait(calls) => calls,
        };
        let left = (deadline - (monotonic_ms() - started)).max(0.0);
        let aborted = || signal.as_ref().is_some_and(AbortSignal::aborted);
        if left <= 0.0 || ends.struck.get() || aborted() {
            // Nobody waits any more: what was not begun is not begun.
            for call in calls {
                recall.settle(call.id, if aborted() { Outcome::Aborted } else { Outcome::Overdue }, 0.0);
            }
            stopped(&mut recall, aborted(), deadline);
            step = advance(state, &mut recall);
            continue;
        }
        // The timer and the listener are dropped, and so called off, when the round is over.
        let overall = Timer::new(left, &ends.deadline);
        let listener = signal.as_ref().map(|signal| Listener::new(signal, &ends.aborted));
        let stop = match &listener {
            Some(listener) => Promise::race(&Array::of2(&overall.promise, &listener.promise)),
            None => overall.promise.clone(),
        };
        let settled: Rc<RefCell<Vec<(u32, Outcome, f64)>>> = Rc::default();
        let rounds = Array::new();
        for call in calls {
            rounds.push(&round(state, call, stop.clone(), Rc::clone(&ends), Rc::clone(&settled)));
        }
        // Each round resolves, whatever happens in it.
        let _ = JsFuture::from(Promise::all(&rounds)).await;
        for (call, outcome, elapsed) in settled.take() {
            recall.settle(call, outcome, elapsed);
        }
        if aborted() || ends.struck.get() {
            stopped(&mut recall, aborted(), deadline);
        }
        step = advance(state, &mut recall);
    }
}

/// Notes in the result that the whole was stopped.
fn stopped(recall: &mut Recall, aborted: bool, deadline: f64) {
    let message = if aborted {
        "the caller called the recall off; what was there by then is used".to_string()
    } else {
        format!("the recall took longer than {deadline} ms; what was there by then is used")
    };
    recall.degrade("deadline", message);
}

/// One call from start to outcome, as a promise that always resolves.
fn round(
    state: &Rc<State>,
    call: Call,
    stop: Promise,
    ends: Rc<Ends>,
    settled: Rc<RefCell<Vec<(u32, Outcome, f64)>>>,
) -> Promise {
    let started = monotonic_ms();
    let controller = AbortController::new();
    let begun = begin(state, &call.kind, &controller);
    let most = state.engine.borrow().config().provider_results;
    future_to_promise(async move {
        let outcome = match begun {
            Err(thrown) => Outcome::Failed(message_of(&thrown)),
            Ok(answer) => {
                let timer = Timer::new(call.timeout_ms, &ends.timed_out);
                let race = Promise::race(&Array::of3(&answer, &timer.promise, &stop));
                match JsFuture::from(race).await {
                    Err(thrown) => Outcome::Failed(message_of(&thrown)),
                    Ok(value) if value == ends.timed_out => {
                        controller.abort();
                        Outcome::TimedOut
                    }
                    Ok(value) if value == ends.deadline => {
                        ends.struck.set(true);
                        controller.abort();
                        Outcome::Overdue
                    }
                    Ok(value) if value == ends.aborted => {
                        controller.abort();
                        Outcome::Aborted
                    }
                    Ok(value) => read(&call.kind, &value, most),
                }
            }
        };
        settled.borrow_mut().push((call.id, outcome, monotonic_ms() - started));
        Ok(JsValue::UNDEFINED)
    })
}

/// Makes the call.
fn begin(state: &State, kind: &CallKind, controller: &AbortController) -> Result<Promise, JsValue> {
    let (function, arguments) = match kind {
        CallKind::Embed { texts } => {
            (state.embedder.borrow().clone(), Array::of2(&to_js(texts)?, &options(controller, None)?))
        }
        CallKind::Semantic { query, limit, scope } => (
            state.semantic.borrow().clone(),
            Array::of3(&query.into(), &JsValue::from_f64(*limit as f64), &options(controller, Some(scope))?),
        ),
        CallKind::Plan { prompt, topics, providers } => {
            let question = PlannerRequest { prompt, topics, providers };
            (state.planner.borrow().clone(), Array::of2(&to_js(&question)?, &options(controller, None)?))
        }
        CallKind::Provider { provider_id, query, reason, limit, scope } => {
            let request = ProviderRequest { provider_id, query, reason, limit: *limit, scope };
            let function = state.providers.borrow().get(provider_id).cloned();
            (function, Array::of2(&to_js(&request)?, &options(controller, None)?))
        }
        CallKind::Rerank { query, candidates } => (
            state.reranker.borrow().clone(),
            Array::of3(&query.into(), &to_js(candidates)?, &options(controller, None)?),
        ),
    };
    promised(&function.ok_or_else(|| JsValue::from_str("there is no function to call"))?, &arguments)
}

/// The last argument of every call: `{ signal }`, for a semantic backend `{ signal, scope }`.
pub(super) fn options(controller: &AbortController, scope: Option<&Scope>) -> Result<JsValue, JsValue> {
    let options = Object::new();
    Reflect::set(&options, &"signal".into(), &controller.signal())?;
    if let Some(scope) = scope {
        Reflect::set(&options, &"scope".into(), &to_js(scope)?)?;
    }
    Ok(options.into())
}

/// Calls a function that may throw, return, or return a promise.
pub(super) fn promised(function: &Function, arguments: &Array) -> Result<Promise, JsValue> {
    Ok(Promise::resolve(&function.apply(&JsValue::UNDEFINED, arguments)?))
}

fn read(kind: &CallKind, value: &JsValue, most: usize) -> Outcome {
    let outcome = match kind {
        CallKind::Embed { .. } => vectors(value).map(Outcome::Vectors),
        CallKind::Semantic { limit, .. } => ids(value, *limit).map(Outcome::Ids),
        CallKind::Plan { .. } => proposed_plan(value).map(Outcome::Plan),
        CallKind::Provider { .. } => {
            provider_results(value, most).map(|(results, unreadable)| Outcome::Results(results, unreadable))
        }
        CallKind::Rerank { candidates, .. } => ids(value, candidates.len()).map(Outcome::Ids),
    };
    outcome.unwrap_or_else(Outcome::Failed)
}

/// Counts tokens with the host's function; where it throws or answers nonsense, bytes are counted, which are never fewer.
struct Counter {
    function: Option<Function>,
    failed: Cell<bool>,
}

impl Counter {
    fn of(state: &State) -> Counter {
        Counter { function: state.count_tokens.borrow().clone(), failed: Cell::new(false) }
    }
}

impl CountTokens for Counter {
    fn count(&self, text: &str) -> usize {
        let Some(function) = &self.function else { return Utf8Bytes.count(text) };
        let counted = function.call1(&JsValue::UNDEFINED, &JsValue::from_str(text)).ok();
        match counted.and_then(|count| count.as_f64()) {
            Some(count) if count.is_finite() && count >= 0.0 => count.ceil() as usize,
            _ => {
                self.failed.set(true);
                Utf8Bytes.count(text)
            }
        }
    }
}
