use serde::Serialize;
use wasm_bindgen::prelude::*;

use super::load::{WasmTable, model_of};
use super::unpack::Unpacker;
use super::value::{from_js, throw, to_js};
use crate::engine::{Config, Request};
use crate::error::{Error, ErrorCode};
use crate::import::{Importer, Severity};
use crate::memory::{KnownEntity, Record, Topic};
use crate::snapshot::{IndexConfig, SnapshotBuilder};

/// Builds a snapshot in slices, so that a page stays responsive.
#[wasm_bindgen]
pub struct WasmBuilder {
    builder: std::cell::RefCell<Option<SnapshotBuilder>>,
    file: std::cell::RefCell<Vec<u8>>,
}

#[wasm_bindgen]
impl WasmBuilder {
    #[wasm_bindgen(constructor)]
    pub fn new(config: JsValue, table: Option<WasmTable>) -> Result<WasmBuilder, JsValue> {
        let config: IndexConfig = from_js(config, ErrorCode::InvalidConfig, "index settings")?;
        let builder = SnapshotBuilder::new(config, Some(model_of(table)));
        Ok(WasmBuilder { builder: Some(builder).into(), file: Vec::new().into() })
    }

    pub fn add(&self, record: JsValue) -> Result<(), JsValue> {
        let record: Record = from_js(record, ErrorCode::InvalidRecord, "record")?;
        self.with(|builder| builder.add(record))
    }

    /// Adds the records of a batch and says how many: the next one, if there is one, has to cross by itself.
    #[wasm_bindgen(js_name = addBatch)]
    pub fn add_batch(&self, utf8: &[u8], numbers: &[f64]) -> Result<usize, JsValue> {
        let mut unpacker = Unpacker::new(std::str::from_utf8(utf8).unwrap_or(""), numbers);
        let mut added = 0;
        self.with(|builder| {
            while unpacker.record().is_some_and(|record| builder.add(record).is_ok()) {
                added += 1;
            }
            Ok(added)
        })
    }

    #[wasm_bindgen(js_name = addTopic)]
    pub fn add_topic(&self, topic: JsValue) -> Result<(), JsValue> {
        let topic: Topic = from_js(topic, ErrorCode::InvalidRecord, "topic")?;
        self.with(|builder| builder.add_topic(topic))
    }

    #[wasm_bindgen(js_name = addEntity)]
    pub fn add_entity(&self, entity: JsValue) -> Result<(), JsValue> {
        let entity: KnownEntity = from_js(entity, ErrorCode::InvalidRecord, "entity")?;
        self.with(|builder| {
            builder.add_entity(entity);
            Ok(())
        })
    }

    /// Works through up to `records` records; true once only `finish` is left.
    pub fn step(&self, records: usize) -> Result<bool, JsValue> {
        self.with(|builder| Ok(builder.step(records)))
    }

    pub fn progress(&self) -> f64 {
        self.builder.borrow().as_ref().map_or(1.0, SnapshotBuilder::progress)
    }

    /// Ids of the records whose text is shaped like an instruction to a model; all of them are known once `step` has said true.
    pub fn flagged(&self) -> Vec<String> {
        self.builder.borrow().iter().flat_map(SnapshotBuilder::flagged).map(String::from).collect()
    }

    /// Writes the file and says where it lies in linear memory, as address and length: there it stays, to be copied piece by piece.
    pub fn finish(&self) -> Result<Vec<usize>, JsValue> {
        let mut builder = self.builder.borrow_mut().take().ok_or_else(finished)?;
        let written = builder.write();
        // Hundreds of thousands of parts, to be freed one by one while the page waits: the instance is the builder's own and is given back as a whole.
        std::mem::forget(builder);
        let file = written.map_err(|error| throw(&error))?;
        let span = vec![file.as_ptr() as usize, file.len()];
        self.file.replace(file);
        Ok(span)
    }

    fn with<T>(&self, act: impl FnOnce(&mut SnapshotBuilder) -> Result<T, Error>) -> Result<T, JsValue> {
        let mut builder = self.builder.borrow_mut();
        act(builder.as_mut().ok_or_else(finished)?).map_err(|error| throw(&error))
    }
}

fn finished() -> JsValue {
    throw(&Error::new(ErrorCode::InvalidRequest, "this builder is finished: make a new one"))
}

/// Reads Markdown notes; what they say of each other is resolved when all are there.
#[wasm_bindgen]
pub struct WasmNotes {
    importer: std::cell::RefCell<Importer>,
}

/// What was read, as JavaScript sees it.
#[derive(Serialize)]
struct Notes {
    records: Vec<Record>,
    topics: Vec<Topic>,
    entities: Vec<KnownEntity>,
    reports: Vec<NoteReport>,
}

#[derive(Serialize)]
struct NoteReport {
    file: String,
    line: Option<usize>,
    skipped: bool,
    message: String,
}

#[wasm_bindgen]
impl WasmNotes {
    #[wasm_bindgen(constructor)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> WasmNotes {
        WasmNotes { importer: Importer::new().into() }
    }

    /// Reads a note; `name` is its path, which becomes its id and the address of its source.
    pub fn add(&self, name: &str, text: &str) {
        self.importer.borrow_mut().markdown(name, text);
    }

    pub fn finish(&self) -> Result<JsValue, JsValue> {
        let import = self.importer.replace(Importer::new()).finish();
        let reports = import.reports.into_iter().map(|report| NoteReport {
            file: report.file,
            line: report.line,
            skipped: report.severity == Severity::Skipped,
            message: report.message,
        });
        let reports = reports.collect();
        to_js(&Notes { records: import.records, topics: import.topics, entities: import.entities, reports })
    }
}

/// Every setting at its default: of a memory (`config`), a request, and the index of a builder.
#[wasm_bindgen]
pub fn defaults() -> Result<JsValue, JsValue> {
    #[derive(Default, Serialize)]
    struct Defaults {
        config: Config,
        request: Request,
        index: IndexConfig,
    }
    to_js(&Defaults::default())
}
