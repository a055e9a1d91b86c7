//! Bytes on their way in: snapshots as they arrive, and the static table that several engines share.

use std::sync::Arc;

use js_sys::Uint8Array;
use wasm_bindgen::prelude::*;

use super::value::throw;
use crate::embed::{HashEmbedder, StaticTable};
use crate::error::{Error, ErrorCode};
use crate::retrieve::LocalModel;

/// Room for a search's buffers in a small store, in bytes.
const SLACK: usize = 512 << 10;

/// Collects a file, piece by piece as it is downloaded, with one copy of it in linear memory.
#[wasm_bindgen]
pub struct WasmBytes {
    bytes: std::cell::RefCell<Vec<u8>>,
}

#[wasm_bindgen]
impl WasmBytes {
    /// Makes room for `expected` bytes: a hint that may be wrong.
    #[wasm_bindgen(constructor)]
    pub fn new(expected: usize) -> WasmBytes {
        let mut bytes = Vec::new();
        // With it for what the first search needs: each time that memory grows costs a host milliseconds, and what nobody writes to costs nothing.
        let mut room = Vec::<u8>::new();
        let _ = room.try_reserve_exact(expected.saturating_add(expected / 32).saturating_add(SLACK));
        drop(std::hint::black_box(room));
        // Where there is no such room, the pieces themselves will tell.
        let _ = bytes.try_reserve_exact(expected);
        WasmBytes { bytes: bytes.into() }
    }

    /// Appends a copy of a piece.
    pub fn push(&self, piece: &Uint8Array) -> Result<(), JsValue> {
        let mut bytes = self.bytes.borrow_mut();
        let (begin, length) = (bytes.len(), piece.length() as usize);
        if bytes.try_reserve(length).is_err() {
            return Err(throw(&Error::new(ErrorCode::TooLarge, format!("there is no room for {length} bytes more"))));
        }
        // Not zeros first: of a large snapshot, that takes longer than all that is checked in it.
        if let Some(room) = bytes.spare_capacity_mut().get_mut(..length) {
            let written = piece.copy_to_uninit(room).len();
            // SAFETY: so many bytes after the first `begin` have just been written, and they are within the capacity.
            unsafe { bytes.set_len(begin + written) };
        }
        Ok(())
    }
}

impl WasmBytes {
    pub(super) fn into_vec(self) -> Vec<u8> {
        self.bytes.into_inner()
    }
}

/// A static token table, read once for every engine and builder that uses it.
#[wasm_bindgen]
pub struct WasmTable {
    table: Arc<StaticTable>,
}

#[wasm_bindgen]
impl WasmTable {
    #[wasm_bindgen(constructor)]
    pub fn new(bytes: WasmBytes) -> Result<WasmTable, JsValue> {
        let table = StaticTable::from_bytes(bytes.into_vec());
        let table = table.map_err(|error| throw(&Error::new(ErrorCode::StaticTable, error.to_string())))?;
        Ok(WasmTable { table: Arc::new(table) })
    }

    /// Another handle on the same table: those who use it take one over.
    pub fn share(&self) -> WasmTable {
        WasmTable { table: Arc::clone(&self.table) }
    }
}

/// The model that embeds: the table, where there is one.
pub(super) fn model_of(table: Option<WasmTable>) -> LocalModel {
    match table {
        Some(table) => table.table,
        None => Arc::new(HashEmbedder),
    }
}
