use serde::{Deserialize, Serialize};

use super::Signals;
use crate::math;

/// Weights of the logistic model that turns signals into a probability.
///
/// Fitted by L2-regularised logistic regression on stores of facts drawn from conversations, with questions they answer (names kept and
/// taken out), public prompts that need no memory, and other stores' questions; the bias is set for about 1 % yes on such prompts.
/// `exact`, `topic`, `continuity` and `personal` are set by hand: that data hardly has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GateConfig {
    /// The log-odds where there is no signal.
    pub bias: f64,
    /// For the coverage of the best record.
    pub coverage: f64,
    /// For each topical term it holds, up to four.
    pub matched: f64,
    /// For each rare word's worth of matched IDF, up to four.
    pub rarity: f64,
    /// For the coverage of the second-best record.
    pub runner_up: f64,
    /// For the share of the prompt that no record holds.
    pub absent: f64,
    /// For each name that no record holds, up to two.
    pub unknown_name: f64,
    /// For each word of tasks, up to three.
    pub task: f64,
    /// For a prompt that begins like a question.
    pub question: f64,
    /// For a known name.
    pub name: f64,
    /// For an exact title, alias or identifier.
    pub exact: f64,
    /// For the best topic match.
    pub topic: f64,
    /// For a prompt that looks back.
    pub continuity: f64,
    /// For one that speaks of the user's own affairs.
    pub personal: f64,
    /// For one that begins like an order.
    pub command: f64,
    /// For each doubling of its length beyond eight tokens.
    pub length: f64,
}

impl Default for GateConfig {
    fn default() -> Self {
        GateConfig {
            bias: -2.2,
            coverage: 1.53,
            matched: 1.02,
            rarity: -0.09,
            runner_up: 1.81,
            absent: -1.67,
            unknown_name: -1.61,
            task: -0.74,
            question: 1.24,
            name: 2.34,
            exact: 5.0,
            topic: 3.0,
            continuity: 0.7,
            personal: 0.7,
            command: -3.94,
            length: -1.36,
        }
    }
}

/// The decision as a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// Probability that memory helps, 0 to 1.
    pub probability: f64,
}

impl Gate {
    /// The probability that these signals give.
    pub fn new(signals: &Signals, weights: &GateConfig) -> Gate {
        // One word in common is not yet a subject in common.
        let evidence = signals.matched.len() >= 2 || signals.exact || signals.topic > 0.0 || !signals.names.is_empty();
        let coverage = if evidence || signals.topical_terms <= 1 { signals.coverage } else { 0.5 * signals.coverage };
        let flag = |set: bool, weight: f64| if set { weight } else { 0.0 };
        let log_odds = weights.bias
            + weights.coverage * coverage
            + weights.matched * signals.matched.len().min(4) as f64
            + weights.rarity * signals.rarity.min(4.0)
            + weights.runner_up * signals.runner_up
            + weights.absent * signals.absent
            + weights.unknown_name * signals.unknown_names.len().min(2) as f64
            + weights.task * signals.tasks.min(3) as f64
            + flag(signals.question, weights.question)
            + flag(!signals.names.is_empty(), weights.name)
            + flag(signals.exact, weights.exact)
            + weights.topic * signals.topic
            + flag(signals.continuity.is_some(), weights.continuity)
            + flag(signals.personal, weights.personal)
            + flag(signals.command, weights.command)
            + weights.length * math::ln(signals.length.max(8) as f64 / 8.0) / std::f64::consts::LN_2;
        Gate { probability: math::logistic(log_odds) }
    }
}
