//! What a result is, how it is scored, and how repeats are folded together.

mod evidence;

pub use evidence::{Component, Evidence, Flag, Freshness, SourceRef};
