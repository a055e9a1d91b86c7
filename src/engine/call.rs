use crate::memory::Scope;
use crate::plan::Plan;
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
}

/// What a call brought.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// Vectors, one a text.
    Vectors(Vec<Vec<f32>>),
    /// Results, best first, and how many could not even be read.
    Results(Vec<ProviderResult>, usize),
    /// A plan.
    Plan(Box<Plan>),
    /// It threw, rejected or answered with something else.
    Failed(String),
    /// It did not answer in time.
    TimedOut,
    /// The whole recall was called off.
    Aborted,
}
