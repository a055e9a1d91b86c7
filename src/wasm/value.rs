//! Values across the border.

use js_sys::{Array, JsString, Object, Reflect};
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use crate::engine::ProposedPlan;
use crate::error::{Error, ErrorCode};
use crate::memory::Record;
use crate::retrieve::ProviderResult;

/// The longest text that is taken over from a provider, in UTF-16 units; the budgets cut further.
const LONGEST_TEXT: u32 = 65_536;

/// A Rust value as plain objects and arrays.
pub(super) fn to_js<T: Serialize + ?Sized>(value: &T) -> Result<JsValue, JsValue> {
    value.serialize(&serde_wasm_bindgen::Serializer::json_compatible()).map_err(|error| {
        throw(&Error::new(ErrorCode::InvalidRequest, format!("the result cannot be handed over: {error}")))
    })
}

/// A JavaScript value as a Rust one; `undefined` and `null` give the default.
pub(super) fn from_js<T: DeserializeOwned + Default>(
    value: JsValue,
    code: ErrorCode,
    what: &str,
) -> Result<T, JsValue> {
    if value.is_undefined() || value.is_null() {
        return Ok(T::default());
    }
    serde_wasm_bindgen::from_value(value).map_err(|error| throw(&Error::new(code, format!("{what}: {error}"))))
}

/// A typed error as a JavaScript `Error` with `name` and `code`.
pub(super) fn throw(error: &Error) -> JsValue {
    let thrown = js_sys::Error::new(error.message());
    thrown.set_name("ForewordError");
    let _ = Reflect::set(&thrown, &"code".into(), &error.code().as_str().into());
    thrown.into()
}

/// What somebody else's exception says, shortened.
pub(super) fn message_of(thrown: &JsValue) -> String {
    let message = match thrown.dyn_ref::<js_sys::Error>() {
        Some(error) => error.message(),
        None => thrown.dyn_ref::<JsString>().cloned().unwrap_or_else(|| "it threw something that is no Error".into()),
    };
    String::from(message.slice(0, 300))
}

/// A provider's answer, item by item: one that cannot be read costs only itself.
pub(super) fn provider_results(answer: &JsValue, most: usize) -> Result<(Vec<ProviderResult>, usize), String> {
    let list = match Reflect::get(answer, &"results".into()) {
        Ok(results) if results.is_array() => results,
        _ => answer.clone(),
    };
    let Some(list) = list.dyn_ref::<Array>() else {
        return Err("it answered with something that is no array of results".to_string());
    };
    let read = (list.length() as usize).min(most);
    let mut unreadable = list.length() as usize - read;
    let mut results = Vec::new();
    for at in 0..read {
        match provider_result(&list.get(at as u32)) {
            Some(result) => results.push(result),
            None => unreadable += 1,
        }
    }
    Ok((results, unreadable))
}

fn provider_result(item: &JsValue) -> Option<ProviderResult> {
    let item = item.dyn_ref::<Object>()?;
    // A copy, so that the provider's own object stays as it is and its getters run once.
    let copy = Object::new();
    for field in [
        "id",
        "text",
        "statement",
        "content",
        "body",
        "title",
        "score",
        "kind",
        "topic",
        "subject",
        "predicate",
        "uri",
        "url",
        "session",
        "speaker",
        "updated",
        "updatedAt",
        "updated_at",
        "created",
        "createdAt",
        "timestamp",
        "expires",
        "expiresAt",
        "expires_at",
        "superseded",
        "unresolved",
        "importance",
        "scope",
    ] {
        let name = JsValue::from_str(field);
        let mut value = Reflect::get(item, &name).ok()?;
        if value.is_undefined() || value.is_null() {
            continue;
        }
        if let Some(text) = value.dyn_ref::<JsString>().filter(|text| text.length() > LONGEST_TEXT) {
            value = text.slice(0, LONGEST_TEXT).into();
        } else if let Some(number) = value.as_f64().filter(|_| field == "id") {
            value = number.to_string().into();
        } else if let Some(date) = value.dyn_ref::<js_sys::Date>() {
            value = date.get_time().into();
        }
        Reflect::set(&copy, &name, &value).ok()?;
    }
    first_of(&copy, &["text", "statement", "content", "body"]);
    first_of(&copy, &["uri", "url"]);
    first_of(&copy, &["updated", "updatedAt", "updated_at", "created", "createdAt", "timestamp"]);
    first_of(&copy, &["expires", "expiresAt", "expires_at"]);
    serde_wasm_bindgen::from_value(copy.into()).ok()
}

/// Keeps the first of several names for one field: serde refuses a field that is given twice.
fn first_of(object: &Object, names: &[&str]) {
    let mut found = false;
    for name in names {
        let name = JsValue::from_str(name);
        if Object::has_own(object, &name) {
            if found {
                let _ = Reflect::delete_property(object, &name);
            }
            found = true;
        }
    }
}

/// Vectors from an embedder: arrays of numbers or typed arrays.
pub(super) fn vectors(answer: &JsValue) -> Result<Vec<Vec<f32>>, String> {
    let fault = || "it answered with something that is no array of vectors".to_string();
    let list = answer.dyn_ref::<Array>().ok_or_else(fault)?;
    list.iter()
        .map(|vector| match vector.dyn_ref::<js_sys::Float32Array>() {
            Some(numbers) => Ok(numbers.to_vec()),
            None => serde_wasm_bindgen::from_value(vector).map_err(|_| fault()),
        })
        .collect()
}

/// Ids from a semantic backend or reranker: strings or numbers, also as `{ ids }` or as objects with an `id`. What is none of these is passed over.
pub(super) fn ids(answer: &JsValue, most: usize) -> Result<Vec<String>, String> {
    let list = match Reflect::get(answer, &"ids".into()) {
        Ok(ids) if ids.is_array() => ids,
        _ => answer.clone(),
    };
    let list = list.dyn_ref::<Array>().ok_or("it answered with something that is no array of ids")?;
    let read = list.length().min(u32::try_from(most).unwrap_or(u32::MAX));
    let ids = (0..read).filter_map(|at| {
        let item = list.get(at);
        let id = if item.is_object() { Reflect::get(&item, &"id".into()).ok()? } else { item };
        let text = id.dyn_ref::<JsString>().filter(|text| text.length() as usize <= 2 * Record::MAX_ID_BYTES);
        text.map(String::from).or_else(|| id.as_f64().map(|number| number.to_string()))
    });
    Ok(ids.collect())
}

/// A planner's answer.
pub(super) fn proposed_plan(answer: &JsValue) -> Result<ProposedPlan, String> {
    if !answer.is_object() {
        return Err("it answered with something that is no plan".to_string());
    }
    serde_wasm_bindgen::from_value(answer.clone()).map_err(|error| format!("its plan cannot be read: {error}"))
}
