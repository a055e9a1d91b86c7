use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorCode};
use crate::memory::{Scope, Timestamp};
use crate::plan::PlanConfig;
use crate::rank::RankConfig;
use crate::retrieve::SearchConfig;
use crate::write::{Budgets, Nonce};

/// All settings. `Config::default()` is what the quality figures were measured with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Config {
    /// The decision.
    pub plan: PlanConfig,
    /// The built-in store's search.
    pub search: SearchConfig,
    /// The signals added to relevance.
    pub rank: RankConfig,
    /// How large the block may grow.
    pub budgets: Budgets,
    /// Mark every stored word in the block, so that a model can tell data from instructions at every word. Costs a byte a word. Default off.
    pub datamark: bool,
    /// Share of the recall part that one source may take while others wait, 0 to 1. Default 0.5.
    pub per_source_share: f64,
    /// The most results in one recall. Default 8.
    pub evidence_limit: usize,
    /// Share of the best result's relevance under which a result is left out of a recall, 0 to 1. Default 0.35.
    pub relevance_floor: f64,
    /// Milliseconds that a provider has, if it does not say otherwise. Default 1,500.
    pub provider_timeout_ms: f64,
    /// Milliseconds that an injected embedder or semantic backend has in interactive mode; four times as many in speculative mode.
    /// Default 150; 0 switches the semantic side off.
    pub semantic_timeout_ms: f64,
    /// Weight of an injected semantic backend's ranking against the store's own, in reciprocal rank fusion. Default 2.
    pub semantic_weight: f64,
    /// Milliseconds that a semantic backend has to take over the active records. Default 30,000.
    pub reconcile_timeout_ms: f64,
    /// Milliseconds that an injected reranker has. Default 2,000.
    pub rerank_timeout_ms: f64,
    /// Candidates that a reranker is shown. Default 60.
    pub rerank_candidates: usize,
    /// How many of them are kept for results with the best lexical score that the merge ranks lower. Default 10.
    pub rerank_lexical: usize,
    /// Seconds that a prepared result may be served. Default 120; 0 switches preparing off.
    pub prepared_seconds: u32,
    /// Prepared results that are kept, the oldest making room. Default 8.
    pub prepared_results: usize,
    /// Milliseconds that a whole recall has. Default 5,000.
    pub deadline_ms: f64,
    /// Results read from one provider; more are counted as rejected. Default 64.
    pub provider_results: usize,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            plan: PlanConfig::default(),
            search: SearchConfig::default(),
            rank: RankConfig::default(),
            budgets: Budgets::default(),
            datamark: false,
            per_source_share: 0.5,
            evidence_limit: 8,
            relevance_floor: 0.35,
            provider_timeout_ms: 1500.0,
            semantic_timeout_ms: 150.0,
            semantic_weight: 2.0,
            reconcile_timeout_ms: 30_000.0,
            rerank_timeout_ms: 2000.0,
            rerank_candidates: 60,
            rerank_lexical: 10,
            prepared_seconds: 120,
            prepared_results: 8,
            deadline_ms: 5000.0,
            provider_results: 64,
        }
    }
}

impl Config {
    /// Whether every setting is in range.
    ///
    /// # Errors
    ///
    /// `INVALID_CONFIG`, naming the first setting that is not.
    pub fn check(&self) -> Result<(), Error> {
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let time = |value: f64| (0.0..=3_600_000.0).contains(&value);
        let checks = [
            ("plan.threshold must be 0 to 1", share(self.plan.threshold)),
            ("plan.topicThreshold must be 0 to 1", share(self.plan.topic_threshold)),
            ("plan.semanticBelow must be 0 to 1", share(self.plan.semantic_below)),
            ("plan.semanticThreshold must be 0 to 1", share(self.plan.semantic_threshold)),
            ("plan.requestLimit must be 1 to 1000", (1..=1000).contains(&self.plan.request_limit)),
            ("plan.ambiguityBand must be 0 to 1", share(self.plan.ambiguity_band)),
            ("plan.plannerTimeoutMs must be 0 to 3,600,000", time(self.plan.planner_timeout_ms)),
            ("search.lexicalLimit must be 1 to 1000", (1..=1000).contains(&self.search.lexical_limit)),
            ("search.semanticLimit must be at most 1000", self.search.semantic_limit <= 1000),
            ("search.linksWeight must be 0 to 1", share(f64::from(self.search.links_weight))),
            ("search.learnedWeight must be 0 to 1", share(f64::from(self.search.learned_weight))),
            ("search.rrfK must be above 0", self.search.rrf_k > 0.0),
            ("evidenceLimit must be 1 to 1000", (1..=1000).contains(&self.evidence_limit)),
            ("perSourceShare must be 0 to 1", share(self.per_source_share)),
            ("relevanceFloor must be 0 to 1", share(self.relevance_floor)),
            ("providerTimeoutMs must be 0 to 3,600,000", time(self.provider_timeout_ms)),
            ("semanticTimeoutMs must be 0 to 3,600,000", time(self.semantic_timeout_ms)),
            ("semanticWeight must be 0 to 100", (0.0..=100.0).contains(&self.semantic_weight)),
            ("reconcileTimeoutMs must be 0 to 3,600,000", time(self.reconcile_timeout_ms)),
            ("rerankTimeoutMs must be 0 to 3,600,000", time(self.rerank_timeout_ms)),
            ("rerankCandidates must be 2 to 1000", (2..=1000).contains(&self.rerank_candidates)),
            ("preparedResults must be at most 1000", self.prepared_results <= 1000),
            ("deadlineMs must be 0 to 3,600,000", time(self.deadline_ms)),
        ];
        match checks.iter().find(|(_, holds)| !holds) {
            Some((rule, _)) => Err(Error::new(ErrorCode::InvalidConfig, *rule)),
            None => Ok(()),
        }
    }
}

/// A provider, as the engine knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderSpec {
    /// Unique among providers.
    pub id: String,
    /// What it holds, in a sentence; local semantics may route by it.
    pub description: String,
    /// Who may ask it; requests in other scopes pass it by.
    pub scope: Scope,
    /// Which topics it holds.
    pub topics: Holds,
    /// Milliseconds that it has; the configuration's default if not set.
    pub timeout_ms: Option<f64>,
    /// Results to ask for; the plan's default if not set.
    pub limit: Option<usize>,
}

/// Which topics a provider holds, besides those that the catalog says it does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Holds {
    /// Only what the catalog says.
    #[default]
    Catalog,
    /// Every topic (`"*"`), or the one of this title or id.
    One(String),
    /// The topics of these titles or ids.
    Some(Vec<String>),
}

impl Holds {
    /// Whether the topic of this id or title is among them.
    pub fn holds(&self, id: &str, title: &str) -> bool {
        match self {
            Holds::Catalog => false,
            Holds::One(name) => name == "*" || name == id || name == title,
            Holds::Some(names) => names.iter().any(|name| name == "*" || name == id || name == title),
        }
    }
}

/// What is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Request {
    /// The prompt or query.
    pub prompt: String,
    /// In whose name; none sees global records only.
    pub scope: Scope,
    /// The present; without it nothing expires and nothing is old.
    pub now: Option<Timestamp>,
    /// What was true then, instead of now.
    pub as_of: Option<Timestamp>,
    /// Also what is no longer in force, labelled.
    pub history: bool,
    /// The most results; the configuration's default if not set.
    pub limit: Option<usize>,
    /// Only records of these kinds.
    pub kinds: Vec<String>,
    /// Delimiter nonce of the block, 8 to 32 letters and digits; the engine's own if not set.
    pub nonce: Option<Nonce>,
    /// Milliseconds for the whole; the configuration's default if not set.
    pub deadline_ms: Option<f64>,
    /// Ids of providers to ask besides those that the plan names, where memory is needed at all; a search asks only these and the built-in store.
    pub providers: Vec<String>,
    /// Whom it is probably about, as a record's `subject`. What matches is promoted; nothing is removed.
    pub about: Option<String>,
    /// Which property is probably meant, as a record's `predicate`. What matches is promoted; nothing is removed.
    pub attribute: Option<String>,
    /// Whether somebody waits. Default: interactive.
    pub mode: Mode,
    /// Number of this turn of the conversation. With it, a result that was prepared in an earlier turn may be served.
    pub turn: Option<u64>,
}

/// Whether somebody waits for the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// Somebody does.
    #[default]
    Interactive,
    /// Nobody does: semantic work may take four times as long.
    Speculative,
}
