//! What a result is, how it is scored, and how repeats are folded together.

mod dedup;
mod evidence;
mod score;

pub use dedup::{Repeatable, deduplicate, mark_conflicts};
pub use evidence::{Component, Evidence, Flag, Freshness, SourceRef};
pub use score::{RankConfig, Standing};
