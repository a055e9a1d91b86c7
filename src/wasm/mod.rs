//! The face towards JavaScript: values in, calls out, promises back. Everything else lives below.

mod builder;
mod driver;
mod engine;
mod host;
mod load;
mod pack;
mod reconcile;
mod unpack;
mod value;

pub use builder::{WasmBuilder, WasmNotes};
pub use engine::WasmEngine;
pub use load::{WasmBytes, WasmTable};

/// Shows panics in the console with their message; release builds do without.
#[cfg(any(debug_assertions, feature = "debug-panics"))]
fn readable_panics() {
    console_error_panic_hook::set_once();
}
