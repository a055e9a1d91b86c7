//! The decision for one prompt: retrieve or not, how sure, which topics, whom to ask, and why.

mod confidence;
mod continuity;
mod overview;
mod shape;
mod signals;
mod topics;

use serde::{Deserialize, Serialize};

pub use confidence::{Gate, GateConfig};
use continuity::is_question;
pub use continuity::{continuity, is_command, is_personal, tasks};
pub use overview::asks_for_themes;
pub use shape::{Shape, shape};
pub use signals::Signals;
pub use topics::{TopicIndex, TopicMatch};

/// The decision for one prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Plan {
    /// Whether memory is needed.
    pub should_retrieve: bool,
    /// Probability that it is, 0 to 1.
    pub confidence: f64,
    /// Titles of the topics that the prompt is about.
    pub topics: Vec<String>,
    /// Whom to ask for what.
    pub requests: Vec<PlanRequest>,
    /// Why, in words; a "no" has one too.
    pub reason: String,
    /// The stage that decided: 0 signals, 1 local semantics, 2 an injected planner.
    pub stage: u8,
    /// What the decision rests on.
    pub signals: Signals,
}

/// One request to one provider.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlanRequest {
    /// Whom to ask.
    pub provider_id: String,
    /// What to ask for.
    pub query: String,
    /// Why.
    pub reason: String,
    /// How many results to ask for.
    pub limit: usize,
}

/// Settings of the decision. Every threshold has its default here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PlanConfig {
    /// Confidence from which memory is retrieved, 0 to 1.
    pub threshold: f64,
    /// Strength from which a topic counts as matched, 0 to 1. Default 0.5.
    pub topic_threshold: f64,
    /// Confidence under which local semantics are asked as well. Default 0.82.
    pub semantic_below: f64,
    /// Cosine from which a topic or provider is a semantic candidate. Default 0.55.
    pub semantic_threshold: f64,
    /// The most topics in one plan. Default 4.
    pub max_topics: usize,
    /// Results asked of each provider. Default 8.
    pub request_limit: usize,
    /// What an injected planner may be sent. Default: nothing, so that it is never asked.
    pub planner: PlannerPrivacy,
    /// How far from the threshold a confidence is ambiguous, 0 to 1; only then the planner is asked. Default 0.2.
    pub ambiguity_band: f64,
    /// Milliseconds that the planner has. Default 1,500.
    pub planner_timeout_ms: f64,
    /// How often the planner may be asked in one session. Default 20.
    pub planner_calls: u32,
    /// The weights behind the confidence.
    pub gate: GateConfig,
}

/// What an injected planner may be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlannerPrivacy {
    /// Nothing: it is not asked.
    #[default]
    Off,
    /// The prompt, and nothing of what is remembered.
    PromptOnly,
    /// The prompt, the titles of the topics that the request's scope may see, and the ids of providers.
    PromptAndTopics,
}

impl PlanConfig {
    /// Whether a confidence is too near the threshold to decide by.
    pub fn is_ambiguous(&self, confidence: f64) -> bool {
        (confidence - self.threshold).abs() < self.ambiguity_band
    }
}

impl Default for PlanConfig {
    fn default() -> Self {
        PlanConfig {
            threshold: 0.5,
            topic_threshold: 0.5,
            semantic_below: 0.82,
            semantic_threshold: 0.55,
            max_topics: 4,
            request_limit: 8,
            planner: PlannerPrivacy::Off,
            ambiguity_band: 0.2,
            planner_timeout_ms: 1500.0,
            planner_calls: 20,
            gate: GateConfig::default(),
        }
    }
}
