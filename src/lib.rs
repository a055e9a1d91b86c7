//! foreword: the memory layer that stands before a prompt.

// The floors, lowest first; imports run downward only.
pub mod error;
pub mod math;
pub mod memory;
pub mod text;
pub mod embed;
pub mod index;
pub mod snapshot;
pub mod plan;
pub mod retrieve;
pub mod rank;
pub mod write;
pub mod engine;
pub mod import;
#[cfg(target_arch = "wasm32")]
pub mod wasm;
