use serde::{Deserialize, Serialize};

use crate::memory::Scope;
use crate::retrieve::ProviderResult;

/// Something the engine wants done outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Unique within its recall; what [`Recall::settle`](super::Recall::settle) is told.
    pub id: u32,
    /// After how many milliseconds its caller should give up.
    pub timeout_ms: f64,
    /// What is to be done.
    pub kind: CallKind,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum CallKind {
    /// Turn texts into vectors, by the embedder that was announced.
    Embed {
        /// One vector is wanted for each.
        texts: Vec<String>,
    },
    /// Ask the semantic backend for ids of records, best first.
    Semantic {
        /// What for.
        query: String,
        /// How many ids at most.
        limit: usize,
        /// In whose name; ids that this scope may not see are dropped anyway.
        scope: Scope,
    },
    /// Ask a model whether memory is needed, where the signals do not say.
    Plan {
        /// The prompt.
        prompt: String,
        /// Titles of the visible topics; empty where only the prompt may be sent.
        topics: Vec<String>,
        /// Ids of the providers that may be asked; empty where only the prompt may be sent.
        providers: Vec<String>,
    },
    /// Ask a provider.
    Provider {
        /// Which one.
        provider_id: String,
        /// What for.
        query: String,
        /// Why, for its logs.
        reason: String,
        /// How many results at most.
        limit: usize,
        /// In whose name.
        scope: Scope,
    },
    /// Put candidates in order.
    Rerank {
        /// What they are wanted for.
        query: String,
        /// In the order of the merge.
        candidates: Vec<Candidate>,
    },
}

/// What a reranker sees of a result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Candidate {
    /// What it is called in the answer: the result's id, or `provider/id` where two results share one.
    pub id: String,
    /// Who delivered it.
    pub provider_id: String,
    /// A short heading; may be empty.
    pub title: String,
    /// The text, cut to the provider's budget.
    pub text: String,
}

/// What an injected planner answers with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProposedPlan {
    /// Whether memory is needed; an answer without it is none.
    pub should_retrieve: Option<bool>,
    /// How sure it is, 0 to 1; the confidence of the signals if not given.
    pub confidence: Option<f64>,
    /// Titles or ids of topics; unknown ones are passed over.
    pub topics: Vec<String>,
    /// Whom to ask for what; unknown providers are passed over.
    pub requests: Vec<ProposedRequest>,
    /// Why, in words.
    pub reason: String,
}

/// One request of a [`ProposedPlan`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProposedRequest {
    /// Whom to ask.
    pub provider_id: String,
    /// What to ask for; the prompt if empty.
    pub query: String,
}

/// What a call brought.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Vectors, one a text.
    Vectors(Vec<Vec<f32>>),
    /// Results, best first, and how many could not even be read.
    Results(Vec<ProviderResult>, usize),
    /// Ids, best first.
    Ids(Vec<String>),
    /// A plan.
    Plan(ProposedPlan),
    /// It threw, rejected or answered with something else.
    Failed(String),
    /// It did not answer in time.
    TimedOut,
    /// The time for the whole recall was up first.
    Overdue,
    /// The whole recall was called off.
    Aborted,
}

/// Why a call brought nothing of use, in words that follow its name.
pub(super) fn fault_of(outcome: &Outcome, timeout_ms: f64) -> String {
    match outcome {
        Outcome::Failed(message) => format!("failed: {message}"),
        Outcome::TimedOut => format!("did not answer within {timeout_ms} ms"),
        Outcome::Overdue => "did not answer before the recall's deadline".to_string(),
        Outcome::Aborted => "was called off".to_string(),
        _ => "answered with something else than was asked for".to_string(),
    }
}
