use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::rank::Evidence;
use crate::write::Block;

/// What a recall or search comes back with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallResult {
    /// The decision.
    pub plan: Plan,
    /// What was found, best first.
    pub evidence: Vec<Evidence>,
    /// The text to stand before the prompt; empty after a search.
    pub block: Block,
    /// How each provider did.
    pub providers: Vec<ProviderReport>,
    /// What did not work, and what was done instead.
    pub degraded: Vec<Degraded>,
    /// Hash of the snapshot's content, in hexadecimal.
    pub revision: String,
    /// Number of changes since the snapshot was loaded.
    pub overlay_revision: u64,
}

/// How a provider did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProviderReport {
    /// Which one.
    pub id: String,
    /// What came of it.
    pub status: ProviderStatus,
    /// Milliseconds until it settled; 0 for the built-in store.
    pub elapsed_ms: f64,
    /// Results that were used in the ranking.
    pub results: usize,
    /// Results that were malformed, out of scope, no longer in force or too many.
    pub rejected: usize,
    /// Results whose text was cut to the budget.
    pub truncated: usize,
    /// What went wrong, in words.
    pub message: Option<String>,
}

/// What came of asking a provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProviderStatus {
    /// It answered.
    #[default]
    Ok,
    /// It did not answer in time.
    Timeout,
    /// It threw, rejected, or answered with something else.
    Error,
    /// The recall was called off.
    Aborted,
}

/// Something that did not work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Degraded {
    /// Which part: `embedder`, `provider`, `planner`, `reranker`, `deadline`, `module`.
    pub part: String,
    /// What happened and what was done instead.
    pub message: String,
}
