use super::answers::answer;
use super::call::fault_of;
use super::decide::{Decision, decide};
use super::hints::{Hint, hints};
use super::merge::Merge;
use super::{
    Call, CallKind, Candidate, Degraded, Engine, Mode, Outcome, Preparation, ProviderReport, ProviderStatus,
    RecallResult, Request, Revisions, STORE_ID, planner, rerank,
};
use crate::embed::{normalize, quantize};
use crate::error::{Error, ErrorCode};
use crate::index::Probe;
use crate::memory::{Timestamp, Topic};
use crate::plan::{Plan, PlanRequest};
use crate::rank::Evidence;
use crate::retrieve::{Found, Hit, Query, Side, View};
use crate::write::{BlockOptions, CountTokens, Nonce, write_block};

/// How much longer than in interactive mode semantic work may take in speculative mode.
const SPECULATIVE_FACTOR: f64 = 4.0;
/// How much deeper than the rankings the copies of a hint reach.
const HINT_DEPTH: usize = 4;

/// One recall or search on its way.
pub struct Recall {
    pub(super) request: Request,
    view: View,
    nonce: Nonce,
    searching: bool,
    /// The turn that this prepares the next from.
    pub(super) source_turn: Option<u64>,
    stage: Stage,
    next_call: u32,
    calls: Vec<Pending>,
    side: Option<Side>,
    query: Query,
    hints: Vec<Hint>,
    found: Found,
    deep: Vec<Hit>,
    /// What `found` saw.
    seen: Revisions,
    /// What the decision saw.
    pub(super) decided: Revisions,
    decision: Option<Decision>,
    /// Ids that the semantic backend named.
    semantic: Vec<String>,
    ranked: Ranked,
    shown: Vec<Candidate>,
    degraded: Vec<Degraded>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begin,
    Embedding,
    Planning,
    Asking,
    Reranking,
    Done,
}

struct Pending {
    call: Call,
    outcome: Option<(Outcome, f64)>,
}

impl Pending {
    fn outcome(&self) -> &Outcome {
        self.outcome.as_ref().map_or(&Outcome::TimedOut, |(outcome, _)| outcome)
    }

    fn elapsed_ms(&self) -> f64 {
        self.outcome.as_ref().map_or(self.call.timeout_ms, |(_, elapsed)| *elapsed)
    }
}

/// Everything that was found, in order.
#[derive(Default)]
struct Ranked {
    evidence: Vec<Evidence>,
    reports: Vec<ProviderReport>,
    /// When the first of it stops being retrievable.
    lapses: Option<Timestamp>,
}

/// What a recall needs next.
pub enum Step {
    /// These calls, all at once, each under its own timeout. Settle every one, then advance.
    Wait(Vec<Call>),
    /// Nothing: this is what it came to.
    Done(Box<RecallResult>),
    /// Nothing: a search whose reranker failed has no order to answer with. A recall never ends like this.
    Failed(Error),
}

impl Recall {
    pub(super) fn new(engine: &Engine, mut request: Request, searching: bool) -> Result<Recall, Error> {
        if request.limit.is_some_and(|limit| limit == 0 || limit > 1000) {
            return Err(Error::new(ErrorCode::InvalidRequest, "limit must be 1 to 1000"));
        }
        let may_ask = |id: &String| {
            id == STORE_ID
                || engine.providers().iter().any(|known| known.id == *id && request.scope.admits(&known.scope))
        };
        if let Some(unknown) = request.providers.iter().find(|id| !may_ask(id)) {
            let message = format!("there is no provider `{unknown}` for this scope: add it, or do not name it");
            return Err(Error::new(ErrorCode::UnknownProvider, message));
        }
        let nonce = request.nonce.as_ref().or(engine.nonce());
        let Some(nonce) = nonce.cloned().or_else(|| searching.then(|| Nonce::from_bytes(&[0; 8]).ok()).flatten())
        else {
            let message = "a recall needs a nonce for its delimiters: give one with the request, or set the session's";
            return Err(Error::new(ErrorCode::InvalidRequest, message));
        };
        request.nonce = Some(nonce.clone());
        let view = View::new(&request.scope, request.now, request.as_of, request.history, &request.kinds);
        let entities = &engine.store().catalog().entities;
        let query = Query::new(&request.prompt, entities, &request.scope, request.now);
        Ok(Recall {
            hints: hints(&request, entities),
            request,
            view,
            nonce,
            searching,
            source_turn: None,
            stage: Stage::Begin,
            next_call: 0,
            calls: Vec::new(),
            side: None,
            query,
            found: Found::default(),
            deep: Vec::new(),
            seen: Revisions::default(),
            decided: Revisions::default(),
            decision: None,
            semantic: Vec::new(),
            ranked: Ranked::default(),
            shown: Vec::new(),
            degraded: Vec::new(),
        })
    }

    /// Milliseconds that the whole may take.
    pub fn deadline_ms(&self, engine: &Engine) -> f64 {
        self.request.deadline_ms.unwrap_or(engine.config().deadline_ms)
    }

    /// Goes on as far as possible; `counter` measures the block. Calls that were asked for and are not settled count as timed out.
    pub fn advance(&mut self, engine: &Engine, counter: &dyn CountTokens) -> Step {
        match self.stage {
            Stage::Begin => {
                if let Some(served) = self.prepared(engine) {
                    self.stage = Stage::Done;
                    return Step::Done(Box::new(served));
                }
                self.embed(engine, counter)
            }
            Stage::Embedding => {
                self.take_vector(engine);
                self.decide(engine, counter)
            }
            Stage::Planning => {
                self.take_plan(engine);
                self.ask(engine, counter)
            }
            Stage::Asking => self.gather(engine, counter),
            Stage::Reranking => self.take_order(engine, counter),
            Stage::Done => Step::Done(Box::default()),
        }
    }

    /// Says what a call brought, and after how many milliseconds. A call that is unknown or settled already changes nothing.
    pub fn settle(&mut self, call: u32, outcome: Outcome, elapsed_ms: f64) {
        let pending = self.calls.iter_mut().find(|pending| pending.call.id == call);
        if let Some(pending) = pending.filter(|pending| pending.outcome.is_none()) {
            pending.outcome = Some((outcome, elapsed_ms));
        }
    }

    /// Whether every call that was asked for is settled.
    pub fn is_settled(&self) -> bool {
        self.calls.iter().all(|pending| pending.outcome.is_some())
    }

    /// Adds to what the result will say did not work; what it says already is not said twice.
    pub fn degrade(&mut self, part: &str, message: impl Into<String>) {
        let degraded = Degraded { part: part.to_string(), message: message.into() };
        if !self.degraded.contains(&degraded) {
            self.degraded.push(degraded);
        }
    }

    fn call(&mut self, kind: CallKind, timeout_ms: f64) {
        let call = Call { id: self.next_call, timeout_ms, kind };
        self.next_call = self.next_call.saturating_add(1);
        self.calls.push(Pending { call, outcome: None });
    }

    fn wait(&mut self, stage: Stage) -> Step {
        self.stage = stage;
        Step::Wait(
            self.calls.iter().filter(|pending| pending.outcome.is_none()).map(|pending| pending.call.clone()).collect(),
        )
    }

    /// Milliseconds for semantic work; 0 where it is switched off.
    fn semantic_ms(&self, engine: &Engine) -> f64 {
        let factor = if self.request.mode == Mode::Speculative { SPECULATIVE_FACTOR } else { 1.0 };
        engine.config().semantic_timeout_ms * factor
    }

    fn embed(&mut self, engine: &Engine, counter: &dyn CountTokens) -> Step {
        let timeout = self.semantic_ms(engine);
        let wanted = timeout > 0.0 && !engine.store().base().vectors().is_empty();
        if wanted && engine.embedder().is_some() {
            self.call(CallKind::Embed { texts: vec![self.query.text.clone()] }, timeout);
            return self.wait(Stage::Embedding);
        }
        self.embed_here(engine);
        self.decide(engine, counter)
    }

    /// Embeds the query with the model in this process, if there is one and something to compare with.
    #[inline(never)]
    fn embed_here(&mut self, engine: &Engine) {
        let store = engine.store();
        let wanted = self.semantic_ms(engine) > 0.0 && (store.learned() > 0 || !store.base().vectors().is_empty());
        self.side = store.model().filter(|_| wanted).map(|model| {
            let mut vector = vec![0.0; model.dimensions()];
            // Names are compared by themselves, and would drown what is asked.
            let names = store.names_in(&self.query, &store.masks(&self.view));
            model.embed(&self.query.without(&names), &mut vector);
            Side { vector: Probe::new(&quantize(&vector)), share: model.share() }
        });
    }

    #[inline(never)]
    fn take_vector(&mut self, engine: &Engine) {
        let expected = engine.embedder().map_or(0, |(_, dimensions)| *dimensions);
        let Some(pending) = self.calls.pop() else { return };
        let fault = match pending.outcome() {
            Outcome::Vectors(vectors) => match vectors.first() {
                Some(vector) if vector.len() == expected && vector.iter().all(|value| value.is_finite()) => {
                    let mut vector = vector.clone();
                    normalize(&mut vector);
                    self.side = Some(Side { vector: Probe::new(&quantize(&vector)), share: 2.0 / 3.0 });
                    return;
                }
                Some(vector) => format!("answered with {} numbers, {expected} finite ones were expected", vector.len()),
                None => "answered without a vector".to_string(),
            },
            outcome => fault_of(outcome, pending.call.timeout_ms),
        };
        self.degrade("embedder", format!("the embedder {fault}; the lexical ranking stands alone"));
    }

    /// Searches the store as it is now.
    fn look(&mut self, engine: &Engine) {
        let masks = engine.store().masks(&self.view);
        let mut config = engine.config().search.clone();
        let limit = self.request.limit.unwrap_or(engine.config().evidence_limit);
        config.lexical_limit = config.lexical_limit.max(limit);
        if engine.injected().reranker {
            config.lexical_limit = config.lexical_limit.max(engine.config().rerank_candidates);
        }
        let (lexical, semantic) = (config.lexical_limit, config.semantic_limit);
        if !self.hints.is_empty() {
            config.lexical_limit = lexical.saturating_mul(HINT_DEPTH);
            config.semantic_limit = semantic.saturating_mul(HINT_DEPTH);
        }
        self.found = engine
            .with_scratch(|scratch| engine.store().search(&self.query, self.side.as_ref(), &masks, &config, scratch));
        let within = |rank: Option<u32>, limit: usize| rank.is_some_and(|rank| rank as usize <= limit);
        (self.found.hits, self.deep) = std::mem::take(&mut self.found.hits)
            .into_iter()
            .partition(|hit| within(hit.lexical_rank, lexical) || within(hit.semantic_rank, semantic));
        self.seen = engine.revisions();
    }

    fn decide(&mut self, engine: &Engine, counter: &dyn CountTokens) -> Step {
        self.look(engine);
        self.decided = self.seen;
        if self.searching {
            let plan = Plan {
                should_retrieve: true,
                confidence: 1.0,
                reason: "searched on request".to_string(),
                ..Plan::default()
            };
            self.decision = Some(Decision { plan, matches: Vec::new(), open_work: false, themes: false });
            return self.ask(engine, counter);
        }
        let decision = decide(engine, &self.request, &self.view, &self.query, &self.found);
        let question = planner::question(engine, &self.request, &self.query, &decision);
        self.decision = Some(decision);
        match question {
            Some(kind) if engine.spend_planner_call() => {
                self.call(kind, engine.config().plan.planner_timeout_ms);
                self.wait(Stage::Planning)
            }
            Some(_) => {
                let most = engine.config().plan.planner_calls;
                self.degrade(
                    "planner",
                    format!("the planner's {most} calls are spent; the decision stands without it"),
                );
                self.ask(engine, counter)
            }
            None => self.ask(engine, counter),
        }
    }

    #[inline(never)]
    fn take_plan(&mut self, engine: &Engine) {
        let (Some(pending), Some(standing)) = (self.calls.pop(), self.decision.take()) else { return };
        let checked = match pending.outcome() {
            Outcome::Plan(proposed) => planner::check(engine, &self.request, &self.query, &standing, proposed),
            outcome => Err(fault_of(outcome, pending.call.timeout_ms)),
        };
        match checked {
            Ok(decision) => {
                let own = decision.plan.requests.iter().find(|request| request.provider_id == STORE_ID);
                if let Some(own) = own.filter(|own| own.query != self.query.text) {
                    let entities = &engine.store().catalog().entities;
                    self.query = Query::new(&own.query, entities, &self.request.scope, self.request.now);
                    // The decision's evidence was the prompt's; what is merged is the new query's. A vector that came from outside was the
                    // prompt's too, and it is asked for once a recall: the words stand alone then.
                    match engine.embedder() {
                        Some(_) => self.side = None,
                        None => self.embed_here(engine),
                    }
                    self.look(engine);
                }
                self.decision = Some(decision);
            }
            Err(fault) => {
                self.degrade("planner", format!("the planner {fault}; the decision stands without it"));
                self.decision = Some(standing);
            }
        }
    }

    fn ask(&mut self, engine: &Engine, counter: &dyn CountTokens) -> Step {
        let Some(decision) = &self.decision else { return Step::Done(Box::default()) };
        let asks_store = self.asks_store(decision) && !decision.open_work && !decision.themes;
        let mut requests = decision.plan.requests.clone();
        let named = self.request.providers.iter().filter(|_| decision.plan.should_retrieve);
        for id in named {
            if !requests.iter().any(|request| request.provider_id == *id) {
                let limit = engine.config().plan.request_limit;
                let limit = engine
                    .providers()
                    .iter()
                    .find(|known| known.id == *id)
                    .and_then(|known| known.limit)
                    .unwrap_or(limit);
                let (query, reason) = (self.query.text.clone(), "named by the caller".to_string());
                requests.push(PlanRequest { provider_id: id.clone(), query, reason, limit });
            }
        }
        let (timeout, limit) = (self.semantic_ms(engine), engine.config().search.semantic_limit);
        if asks_store && engine.injected().semantic && timeout > 0.0 && limit > 0 {
            let (query, scope) = (self.query.text.clone(), self.request.scope.clone());
            self.call(CallKind::Semantic { query, limit, scope }, timeout);
        }
        for request in requests.into_iter().filter(|request| request.provider_id != STORE_ID) {
            let spec = engine.providers().iter().find(|provider| provider.id == request.provider_id);
            let timeout = spec.and_then(|provider| provider.timeout_ms).unwrap_or(engine.config().provider_timeout_ms);
            let kind = CallKind::Provider {
                provider_id: request.provider_id,
                query: request.query,
                reason: request.reason,
                limit: request.limit,
                scope: self.request.scope.clone(),
            };
            self.call(kind, timeout);
        }
        if self.calls.is_empty() { self.gather(engine, counter) } else { self.wait(Stage::Asking) }
    }

    fn asks_store(&self, decision: &Decision) -> bool {
        self.searching || decision.plan.requests.iter().any(|request| request.provider_id == STORE_ID)
    }

    fn gather(&mut self, engine: &Engine, counter: &dyn CountTokens) -> Step {
        let place = self.calls.iter().position(|pending| matches!(pending.call.kind, CallKind::Semantic { .. }));
        if let Some(pending) = place.map(|place| self.calls.remove(place)) {
            match pending.outcome() {
                Outcome::Ids(ids) => {
                    let limit = engine.config().search.semantic_limit;
                    self.semantic = ids.iter().take(limit).cloned().collect();
                }
                outcome => {
                    let fault = fault_of(outcome, pending.call.timeout_ms);
                    self.degrade("semantic", format!("the semantic backend {fault}; the store's own ranking stands"));
                }
            }
        }
        self.merge(engine);
        let places = rerank::shown(&self.ranked.evidence, engine.config());
        if engine.injected().reranker && places.len() > 1 {
            self.shown = rerank::candidates(&self.ranked.evidence, &places, engine.config());
            let kind = CallKind::Rerank { query: self.request.prompt.clone(), candidates: self.shown.clone() };
            self.call(kind, engine.config().rerank_timeout_ms);
            return self.wait(Stage::Reranking);
        }
        Step::Done(Box::new(self.finish(engine, counter)))
    }

    #[inline(never)]
    fn take_order(&mut self, engine: &Engine, counter: &dyn CountTokens) -> Step {
        let Some(pending) = self.calls.pop() else { return Step::Done(Box::default()) };
        self.merge(engine);
        let fault = match pending.outcome() {
            Outcome::Ids(ids) => {
                let evidence = std::mem::take(&mut self.ranked.evidence);
                let (ordered, fault) = rerank::reorder(evidence, &self.shown, ids);
                self.ranked.evidence = ordered;
                fault
            }
            outcome => Some(fault_of(outcome, pending.call.timeout_ms)),
        };
        if let Some(fault) = fault {
            if self.searching {
                self.stage = Stage::Done;
                let message = format!("the reranker {fault}: search again, or leave the reranker out");
                return Step::Failed(Error::new(ErrorCode::RerankFailed, message));
            }
            self.degrade("reranker", format!("the reranker {fault}; the order of the merge stands"));
        }
        Step::Done(Box::new(self.finish(engine, counter)))
    }

    /// Merges what the store holds now with what the providers answered. What was learned or withdrawn while they were awaited counts.
    fn merge(&mut self, engine: &Engine) {
        if engine.revisions() != self.seen {
            self.look(engine);
        }
        let Some(decision) = &self.decision else { return };
        let merge = Merge {
            config: engine.config(),
            request: &self.request,
            view: &self.view,
            query: &self.query,
            plan: &decision.plan,
            found: &self.found,
            deep: &self.deep,
            hints: &self.hints,
            semantic: &self.semantic,
            store: engine.store(),
            searching: self.searching,
            looks_back: decision.plan.signals.continuity.is_some(),
        };
        let mut ranked = Ranked::default();
        let mut drafts = Vec::new();
        if self.asks_store(decision) {
            drafts = match decision {
                Decision { themes: true, .. } => {
                    merge.themes(self.request.limit.unwrap_or(engine.config().evidence_limit))
                }
                Decision { open_work: true, .. } => merge.open_work(3),
                _ => merge.store_evidence(),
            };
            let id = STORE_ID.to_string();
            ranked.reports.push(ProviderReport { id, results: drafts.len(), ..ProviderReport::default() });
        }
        for pending in &self.calls {
            let report = answer(&pending.call, pending.outcome(), &merge, &mut drafts);
            if let Some(mut report) = report {
                report.elapsed_ms = pending.elapsed_ms();
                ranked.reports.push(report);
            }
        }
        ranked.lapses = drafts.iter().filter_map(|draft| draft.lapses).min();
        // A reranker chooses among more than are shown.
        let limit = self.request.limit.unwrap_or(engine.config().evidence_limit);
        let most = if engine.injected().reranker { usize::MAX } else { limit };
        ranked.evidence = merge.rank(drafts, most);
        self.ranked = ranked;
    }

    fn finish(&mut self, engine: &Engine, counter: &dyn CountTokens) -> RecallResult {
        self.stage = Stage::Done;
        let Some(decision) = self.decision.take() else { return RecallResult::default() };
        let ranked = std::mem::take(&mut self.ranked);
        for report in &ranked.reports {
            if let (false, Some(message)) = (report.status == ProviderStatus::Ok, &report.message) {
                self.degrade("provider", format!("`{}` {message}; its results are missing", report.id));
            }
        }
        let mut evidence = ranked.evidence;
        evidence.truncate(self.request.limit.unwrap_or(engine.config().evidence_limit));
        crate::rank::mark_conflicts(&mut evidence);
        let block = if self.searching {
            Default::default()
        } else {
            let mut options = BlockOptions::new(self.nonce.clone());
            options.datamark = engine.config().datamark;
            options.per_source_share = engine.config().per_source_share;
            let topics = shown_topics(engine, &self.request, &decision);
            write_block(&topics, &evidence, &engine.config().budgets, counter, &options)
        };
        let prepared = self.source_turn.map(|turn| Preparation {
            source_turn: turn,
            first_turn: turn.saturating_add(1),
            expires: engine.expiry(self.request.now, ranked.lapses),
            served: false,
        });
        RecallResult {
            plan: decision.plan,
            evidence,
            block,
            providers: ranked.reports,
            degraded: std::mem::take(&mut self.degraded),
            revision: format!("{:016x}", engine.store().revision()),
            overlay_revision: engine.store().overlay_revision(),
            prepared,
        }
    }

    /// A result that was prepared for this request, if there is one that holds.
    #[inline(never)]
    fn prepared(&mut self, engine: &Engine) -> Option<RecallResult> {
        let turn = self.request.turn.filter(|_| !self.searching && self.source_turn.is_none())?;
        let mut served = engine.prepared().serve(&self.request, turn, engine)?;
        served.degraded.append(&mut self.degraded);
        Some(served)
    }
}

/// The visible topics, those of the plan first.
#[inline(never)]
fn shown_topics<'a>(engine: &'a Engine, request: &Request, decision: &Decision) -> Vec<&'a Topic> {
    let topics = &engine.store().catalog().topics;
    let claimed = decision.matches.iter().filter(|_| decision.plan.should_retrieve).map(|hit| hit.topic);
    let mut order: Vec<usize> = claimed.collect();
    for number in 0..topics.len() {
        if !order.contains(&number) {
            order.push(number);
        }
    }
    order
        .into_iter()
        .filter_map(|number| topics.get(number))
        .filter(|topic| request.scope.admits(&topic.scope))
        .collect()
}
