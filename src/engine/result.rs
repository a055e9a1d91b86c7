use serde::{Deserialize, Serialize};

use crate::memory::Timestamp;
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
    /// For which turns it was prepared, if it was.
    pub prepared: Option<Preparation>,
}

/// When a prepared result may be served.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Preparation {
    /// The turn that it was prepared in.
    pub source_turn: u64,
    /// The first turn that it may be served in.
    pub first_turn: u64,
    /// When it stops being served (exclusive); none where the request had no present.
    pub expires: Option<Timestamp>,
    /// Whether this is the prepared result, served.
    pub served: bool,
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
    /// Which part: `embedder`, `semantic`, `reconcile`, `planner`, `provider`, `reranker`, `countTokens`, `deadline`, `module`.
    pub part: String,
    /// What happened and what was done instead.
    pub message: String,
}
