use serde::{Deserialize, Serialize};

use super::{Component, Freshness};
use crate::memory::Timestamp;

/// Bounded signals that are added to a result's relevance. Each weight is the most that its signal can add or take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RankConfig {
    /// For how specific to the request's scope a result is.
    pub scope: f64,
    /// For declared importance above or below the middle.
    pub importance: f64,
    /// For a recent change.
    pub recency: f64,
    /// Taken from stale results.
    pub stale: f64,
    /// Taken from results that are no longer in force.
    pub historical: f64,
    /// Taken from turns of a conversation that only ask, and in proportion from those that do so in part: what asks seldom tells. Default 0.15; level
    /// from 0.1 to 0.2.
    pub asks: f64,
    /// For unfinished work, where the prompt looks back.
    pub unresolved: f64,
    /// For results of topics that the plan claims, times its confidence.
    pub plan: f64,
    /// For results that a hint matches, `about` and `attribute` each; the best match receives all of it. Default
    /// 0.07: on LoCoMo dev a right hint then adds .007 (turns) and .003 (observations) to recall at 10, a wrong one costs .004 and .003.
    pub hint: f64,
    /// Days after which a result is no longer fresh. Default 30.
    pub fresh_days: i64,
    /// Days after which a result is stale. Default 365.
    pub stale_days: i64,
}

impl Default for RankConfig {
    fn default() -> Self {
        RankConfig {
            scope: 0.03,
            importance: 0.04,
            recency: 0.02,
            stale: 0.02,
            historical: 0.3,
            asks: 0.15,
            unresolved: 0.1,
            plan: 0.05,
            hint: 0.07,
            fresh_days: 30,
            stale_days: 365,
        }
    }
}

/// What is known of a result besides its relevance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// Matched scope dimensions.
    pub specificity: usize,
    /// Declared importance, 0 to 1.
    pub importance: Option<f32>,
    /// How it stands in time.
    pub freshness: Freshness,
    /// Days since it was changed.
    pub age_days: Option<i64>,
    /// The share of a turn that stands in sentences that ask, 0 to 1; 0 of what is no turn.
    pub asks: f64,
    /// Whether unfinished work counts here, and this is.
    pub unresolved: bool,
    /// Confidence of the plan, if it claims the result's topic.
    pub plan: f64,
}

impl RankConfig {
    /// How a result that was last changed at `changed` stands at `now`.
    pub fn freshness(&self, changed: Option<Timestamp>, now: Option<Timestamp>, in_force: bool) -> Freshness {
        match (changed, now) {
            _ if !in_force => Freshness::Historical,
            (Some(changed), Some(now)) => match changed.days_until(now) {
                days if days <= self.fresh_days => Freshness::Fresh,
                days if days <= self.stale_days => Freshness::Aging,
                _ => Freshness::Stale,
            },
            _ => Freshness::Undated,
        }
    }

    /// The components that are added to the relevance; those that add nothing are left out.
    pub fn components(&self, standing: &Standing) -> Vec<Component> {
        let specificity = standing.specificity as f64;
        let recency = standing.age_days.map_or(0.0, |days| {
            let days = days.max(0) as f64;
            let half = self.fresh_days.max(1) as f64;
            half / (half + days)
        });
        let flag = |set: bool| if set { 1.0 } else { 0.0 };
        let signals = [
            ("scope", specificity, self.scope * (1.0 - 1.0 / (1.0 + specificity))),
            (
                "importance",
                standing.importance.map_or(0.5, f64::from),
                self.importance * (standing.importance.map_or(0.5, f64::from) - 0.5) * 2.0,
            ),
            ("recency", recency, self.recency * recency),
            (
                "stale",
                flag(standing.freshness == Freshness::Stale),
                -self.stale * flag(standing.freshness == Freshness::Stale),
            ),
            (
                "historical",
                flag(standing.freshness == Freshness::Historical),
                -self.historical * flag(standing.freshness == Freshness::Historical),
            ),
            ("asks", standing.asks, -self.asks * standing.asks),
            ("unresolved", flag(standing.unresolved), self.unresolved * flag(standing.unresolved)),
            ("plan", standing.plan, self.plan * standing.plan),
        ];
        signals
            .into_iter()
            .filter(|(_, _, contribution)| *contribution != 0.0)
            .map(|(name, value, contribution)| Component::new(name, value, contribution))
            .collect()
    }
}
