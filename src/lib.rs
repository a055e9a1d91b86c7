//! foreword: the memory layer that stands before a prompt.

pub mod memory;
pub mod rank;
pub mod text;
