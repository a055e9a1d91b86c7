//! What every host has: timers, clocks, AbortController.

use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(callback: &Function, ms: f64) -> JsValue;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: &JsValue);
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    pub(super) fn monotonic_ms() -> f64;

    pub(super) type AbortController;
    #[wasm_bindgen(constructor)]
    pub(super) fn new() -> AbortController;
    #[wasm_bindgen(method)]
    pub(super) fn abort(this: &AbortController);
    #[wasm_bindgen(method, getter)]
    pub(super) fn signal(this: &AbortController) -> AbortSignal;

    #[derive(Clone)]
    pub type AbortSignal;
    #[wasm_bindgen(method, getter)]
    pub(super) fn aborted(this: &AbortSignal) -> bool;
    #[wasm_bindgen(method, js_name = addEventListener)]
    fn add_event_listener(this: &AbortSignal, event: &str, callback: &Function);
    #[wasm_bindgen(method, js_name = removeEventListener)]
    fn remove_event_listener(this: &AbortSignal, event: &str, callback: &Function);
}

/// The longest time that hosts' timers take, in milliseconds.
const LONGEST_MS: f64 = 2_147_483_647.0;

/// A function of no arguments that resolves a promise with `token`.
fn resolving(resolve: &Function, token: &JsValue) -> Function {
    resolve.bind1(&JsValue::UNDEFINED, token).unchecked_into()
}

/// A timer that resolves its promise with `token`, and is called off when dropped.
pub(super) struct Timer {
    pub(super) promise: Promise,
    timer: JsValue,
}

impl Timer {
    pub(super) fn new(ms: f64, token: &JsValue) -> Timer {
        let mut timer = JsValue::UNDEFINED;
        let promise = Promise::new(&mut |resolve, _| {
            timer = set_timeout(&resolving(&resolve, token), ms.clamp(0.0, LONGEST_MS));
        });
        Timer { promise, timer }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        clear_timeout(&self.timer);
    }
}

/// A promise that resolves with `token` when the caller's signal fires; its listener is taken off when dropped.
pub(super) struct Listener {
    pub(super) promise: Promise,
    signal: AbortSignal,
    callback: Option<Function>,
}

impl Listener {
    pub(super) fn new(signal: &AbortSignal, token: &JsValue) -> Listener {
        let mut callback = None;
        let promise = Promise::new(&mut |resolve, _| {
            let resolve = resolving(&resolve, token);
            if signal.aborted() {
                let _ = resolve.call0(&JsValue::UNDEFINED);
            }
            signal.add_event_listener("abort", &resolve);
            callback = Some(resolve);
        });
        Listener { promise, signal: signal.clone(), callback }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(callback) = &self.callback {
            self.signal.remove_event_listener("abort", callback);
        }
    }
}
