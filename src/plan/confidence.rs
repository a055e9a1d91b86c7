use serde::{Deserialize, Serialize};

use super::Signals;
use crate::math;

/// Weights of the logistic model that turns signals into a probability.
///
/// Fitted by L2-regularised logistic regression (`evals/gate/fit.py`) on stores of facts drawn from conversations, with questions they answer (names kept
/// and taken out), public prompts that need no memory, other stores' questions, and one person's own questions; the bias is set for at most 2 % yes on short
/// prompts of that kind. `exact`, `lone`, `matched`, `records`, `topic`, `continuity` and `personal` are set by hand: that data hardly has them;
/// `order`, `name`, `command` and the bias were then moved by 0.5, 0.4, 0.1 and 0.06, so that the behavioural suite holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct GateConfig {
    /// The log-odds where there is no signal.
    pub bias: f64,
    /// For the coverage of the best record.
    pub coverage: f64,
    /// For each topical term that it holds beyond the second, up to two: common words, together, are rare.
    pub matched: f64,
    /// For each doubling of the store beyond 200 records: the best of many covers more by chance.
    pub records: f64,
    /// For each rare word's worth of matched IDF, up to four.
    pub rarity: f64,
    /// For the coverage of the second-best record.
    pub runner_up: f64,
    /// For the share of the prompt that no record holds.
    pub absent: f64,
    /// For the cosine by which the nearest record stands above the mean.
    pub nearness: f64,
    /// For each known name, up to two.
    pub name: f64,
    /// For each name that no record holds, up to two.
    pub unknown_name: f64,
    /// For a prompt that names a date of which there are records, where more is in common than one word.
    pub dated: f64,
    /// For each word of tasks, up to three.
    pub task: f64,
    /// For a prompt that begins like an order.
    pub command: f64,
    /// For a best record that shares one word with the prompt, and less than half of what the prompt is about.
    pub lone: f64,
    /// For an order to produce something in words of tasks.
    pub order: f64,
    /// For a question, and for a prompt that looks back.
    pub question: f64,
    /// For one that asks how or why in general.
    pub advice: f64,
    /// For one that asks what something is.
    pub definition: f64,
    /// For one that asks whether something is so.
    pub whether: f64,
    /// For one that asks what somebody would do.
    pub would: f64,
    /// For one that asks about the user.
    pub own: f64,
    /// For a prompt that says what the user is or wants.
    pub wish: f64,
    /// For one that addresses the model.
    pub addressed: f64,
    /// For each indefinite article, up to two.
    pub article: f64,
    /// For each doubling of its length beyond eight tokens.
    pub length: f64,
    /// For an exact title, alias or identifier.
    pub exact: f64,
    /// For the best topic match.
    pub topic: f64,
    /// For a prompt that looks back.
    pub continuity: f64,
    /// For one that speaks of the user's own affairs.
    pub personal: f64,
}

impl Default for GateConfig {
    fn default() -> Self {
        GateConfig {
            bias: -4.43,
            coverage: 2.12,
            matched: 0.9,
            records: -0.25,
            rarity: 0.72,
            runner_up: 1.48,
            absent: -0.91,
            nearness: 4.70,
            name: 1.06,
            unknown_name: -3.32,
            dated: 1.47,
            task: -0.55,
            command: -1.57,
            lone: -1.1,
            order: -0.98,
            question: 3.85,
            advice: -2.61,
            definition: -1.30,
            whether: -2.20,
            would: 1.54,
            own: 1.84,
            wish: -1.87,
            addressed: -2.12,
            article: -0.38,
            length: -1.53,
            exact: 5.0,
            topic: 3.0,
            continuity: 1.1,
            personal: 0.8,
        }
    }
}

/// The decision as a probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gate {
    /// Probability that memory helps, 0 to 1.
    pub probability: f64,
}

/// What [`Signals::nearness`] counts as where there are no vectors: between what prompts with and without an answer have.
const UNKNOWN_NEARNESS: f64 = 0.22;

/// How often 1 doubles until `ratio`; below 1, not at all.
fn doublings(ratio: f64) -> f64 {
    math::ln(ratio.max(1.0)) / std::f64::consts::LN_2
}

impl Gate {
    /// The probability that these signals give.
    #[inline(never)]
    pub fn new(signals: &Signals, weights: &GateConfig) -> Gate {
        // One word in common is not yet a subject in common.
        let evidence = signals.matched.len() >= 2 || signals.exact || signals.topic > 0.0 || !signals.names.is_empty();
        let whole = evidence || signals.topical_terms <= 1;
        let coverage = if whole { signals.coverage } else { 0.5 * signals.coverage };
        let nearness = if signals.similarity > 0.0 { signals.nearness } else { UNKNOWN_NEARNESS };
        let shape = &signals.shape;
        let back = signals.continuity.is_some();
        // A part of a title beside a name that nobody knows is likely a part of that name.
        let topic = if signals.exact || signals.unknown_names.is_empty() { signals.topic } else { 0.5 * signals.topic };
        let flag = |set: bool, weight: f64| if set { weight } else { 0.0 };
        let log_odds = weights.bias
            + weights.coverage * coverage
            + weights.matched * signals.matched.len().clamp(2, 4).saturating_sub(2) as f64
            + weights.records * doublings(signals.records as f64 / 200.0)
            + weights.rarity * signals.rarity.min(4.0)
            + weights.runner_up * signals.runner_up
            + weights.absent * signals.absent
            + weights.nearness * nearness
            + weights.name * signals.names.len().min(2) as f64
            + weights.unknown_name * signals.unknown_names.len().min(2) as f64
            + weights.task * signals.tasks.min(3) as f64
            + weights.topic * topic
            + flag(signals.dated && whole, weights.dated)
            + flag(signals.command, weights.command)
            + flag(!whole && signals.coverage < 0.5, weights.lone)
            + flag(shape.question || back, weights.question)
            + flag(shape.advice, weights.advice)
            + flag(shape.definition, weights.definition)
            + flag(shape.whether, weights.whether)
            + flag(shape.would, weights.would)
            + flag(shape.own, weights.own)
            + flag(shape.wish && !back, weights.wish)
            + flag(shape.addressed && !back, weights.addressed)
            + flag(signals.command && signals.tasks > 0, weights.order)
            + weights.article * shape.articles.min(2) as f64
            + flag(signals.exact, weights.exact)
            + flag(back, weights.continuity)
            + flag(signals.personal, weights.personal)
            + weights.length * doublings(signals.length as f64 / 8.0);
        Gate { probability: math::logistic(log_odds) }
    }
}
