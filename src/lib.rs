//! foreword: the memory layer that stands before a prompt.

pub mod embed;
pub mod error;
pub mod index;
pub mod import;
pub mod memory;
pub mod rank;
pub mod retrieve;
pub mod snapshot;
pub mod text;
pub mod write;
