//! Tells the semantic backend the state of the store after each change. Nothing waits for it, and its failure harms nothing.

use std::rc::Rc;

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};

use super::driver::{options, promised};
use super::engine::State;
use super::host::{AbortController, Timer};
use super::value::{message_of, to_js};
use crate::engine::ActiveRecord;
use crate::memory::Timestamp;

/// Records handed over before the host's other work has its turn.
const SLICE: usize = 256;
/// How often a caller who waits for another task looks whether it is done, in milliseconds.
const POLL_MS: f64 = 5.0;

/// Tells the backend once whoever is running is done. Several changes until then are told as one.
pub(super) fn reconcile_soon(state: &Rc<State>) {
    if state.reconcile.borrow().is_none() {
        return;
    }
    let generation = state.engine.borrow().store().generation();
    state.reconciler.borrow_mut().want(generation);
    let state = Rc::clone(state);
    spawn_local(async move { run(&state).await });
}

/// Tells the backend now.
pub(super) async fn reconcile(state: &Rc<State>) {
    let generation = state.engine.borrow().store().generation();
    state.reconciler.borrow_mut().want(generation);
    run(state).await;
    // Another task may be at it; it goes on to what is wanted now.
    while state.reconciler.borrow().is_busy() {
        let pause = Timer::new(POLL_MS, &JsValue::UNDEFINED);
        let _ = JsFuture::from(pause.promise.clone()).await;
    }
}

async fn run(state: &Rc<State>) {
    loop {
        let begins = state.reconciler.borrow_mut().begin();
        if !begins {
            return;
        }
        let told = tell(state).await.map_err(|thrown| message_of(&thrown));
        state.reconciler.borrow_mut().settle(told);
    }
}

async fn tell(state: &State) -> Result<(), JsValue> {
    let Some(function) = state.reconcile.borrow().clone() else { return Ok(()) };
    // A clone is a view that later changes do not touch.
    let engine = state.engine.borrow().clone();
    let store = engine.store();
    let now = Some(Timestamp(js_sys::Date::now() as i64));
    let active = Array::new();
    for place in 0..store.places() {
        if let Some(record) = store.active(place, now) {
            active.push(&to_js(&ActiveRecord::from(record))?);
        }
        if place % SLICE == SLICE - 1 {
            let pause = Timer::new(0.0, &JsValue::UNDEFINED);
            JsFuture::from(pause.promise.clone()).await?;
        }
    }
    let controller = AbortController::new();
    let revision = JsValue::from_f64(store.generation().min(9_007_199_254_740_991) as f64);
    let options = options(&controller, None)?;
    let answer = promised(&function, &Array::of3(&active, &revision, &options))?;
    let ms = engine.config().reconcile_timeout_ms;
    let timed_out = JsValue::symbol(None);
    let timer = Timer::new(ms, &timed_out);
    let value = JsFuture::from(Promise::race(&Array::of2(&answer, &timer.promise))).await?;
    if value == timed_out {
        controller.abort();
        return Err(JsValue::from_str(&format!("it did not take over the state within {ms} ms")));
    }
    Ok(())
}
