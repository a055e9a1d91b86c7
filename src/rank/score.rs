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

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MS: i64 = 86_400_000;

    #[test]
    fn each_signal_moves_a_result_the_right_way_and_by_no_more_than_its_weight() {
        let config = RankConfig::default();
        let plain = Standing { freshness: Freshness::Undated, ..Standing::default() };
        assert!(config.components(&plain).is_empty(), "what says nothing adds nothing");
        let importance = |share: f32| Standing { importance: Some(share), ..plain };
        let changed = |days: i64| Standing { age_days: Some(days), ..plain };
        let cases = [
            ("scope", Standing { specificity: 1, ..plain }, config.scope / 2.0),
            ("scope", Standing { specificity: 3, ..plain }, config.scope * 0.75),
            ("importance", importance(1.0), config.importance),
            ("importance", importance(0.0), -config.importance),
            ("recency", changed(0), config.recency),
            ("recency", changed(config.fresh_days), config.recency / 2.0),
            ("recency", changed(-5), config.recency),
            ("stale", Standing { freshness: Freshness::Stale, ..plain }, -config.stale),
            ("historical", Standing { freshness: Freshness::Historical, ..plain }, -config.historical),
            ("asks", Standing { asks: 0.5, ..plain }, -config.asks / 2.0),
            ("unresolved", Standing { unresolved: true, ..plain }, config.unresolved),
            ("plan", Standing { plan: 0.8, ..plain }, config.plan * 0.8),
        ];
        for (name, standing, expected) in cases {
            let components = config.components(&standing);
            let [only] = components.as_slice() else { panic!("{name}: {components:?}") };
            assert_eq!(only.name, name);
            assert!((only.contribution - expected).abs() < 1e-9, "{only:?}, and not {expected}");
        }
        assert!(config.components(&importance(0.5)).is_empty(), "the middle is what nobody said");
        let old = config.components(&changed(i64::MAX));
        assert!(old.iter().all(|component| (0.0..1e-6).contains(&component.contribution)), "{old:?}");
    }

    #[test]
    fn freshness_is_told_by_days() {
        let config = RankConfig::default();
        let now = Timestamp(1_000 * DAY_MS);
        let ago = |days: i64| config.freshness(Some(Timestamp(now.0 - days * DAY_MS)), Some(now), true);
        assert_eq!([ago(-1), ago(0), ago(30)], [Freshness::Fresh; 3]);
        assert_eq!([ago(31), ago(365)], [Freshness::Aging; 2]);
        assert_eq!([ago(366), ago(999)], [Freshness::Stale; 2]);
        assert_eq!(config.freshness(None, Some(now), true), Freshness::Undated);
        assert_eq!(config.freshness(Some(now), None, true), Freshness::Undated);
        assert_eq!(config.freshness(Some(now), Some(now), false), Freshness::Historical);
    }
}
