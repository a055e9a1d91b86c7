use super::decide::{Decision, decide};
use super::merge::Merge;
use super::{
    Call, CallKind, Degraded, Engine, Outcome, ProviderReport, ProviderStatus, RecallResult, Request, STORE_ID,
};
use crate::embed::{normalize, quantize};
use crate::error::{Error, ErrorCode};
use crate::memory::Topic;
use crate::plan::Plan;
use crate::rank::Evidence;
use crate::retrieve::{Found, Query, Rejection, Scratch, Side, View};
use crate::write::{BlockOptions, CountTokens, Nonce, write_block};

/// One recall or search on its way.
pub struct Recall {
    request: Request,
    view: View,
    nonce: Nonce,
    searching: bool,
    stage: Stage,
    calls: Vec<Pending>,
    side: Option<Side>,
    query: Query,
    found: Found,
    /// The overlay's revision that `found` saw.
    seen: u64,
    decision: Option<Decision>,
    degraded: Vec<Degraded>,
    scratch: Scratch,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Begin,
    Embedding,
    Asking,
    Done,
}

struct Pending {
    call: Call,
    outcome: Option<(Outcome, f64)>,
}

/// What a recall needs next.
pub enum Step {
    /// These calls, all at once, each under its own timeout. Settle every one, then advance.
    Wait(Vec<Call>),
    /// Nothing: this is what it came to.
    Done(Box<RecallResult>),
}

impl Recall {
    pub(super) fn new(engine: &Engine, request: Request, searching: bool) -> Result<Recall, Error> {
        if request.limit.is_some_and(|limit| limit == 0 || limit > 1000) {
            return Err(Error::new(ErrorCode::InvalidRequest, "limit must be 1 to 1000"));
        }
        let nonce = request.nonce.as_ref().or(engine.nonce());
        let Some(nonce) = nonce.cloned().or_else(|| searching.then(|| Nonce::from_bytes(&[0; 8]).ok()).flatten())
        else {
            let message = "a recall needs a nonce for its delimiters: give one with the request, or set the session's";
            return Err(Error::new(ErrorCode::InvalidRequest, message));
        };
        let view = View {
            scope: request.scope.clone(),
            now: request.now,
            as_of: request.as_of,
            history: request.history,
            kinds: request.kinds.clone(),
        };
        let query = Query::new(&request.prompt, &engine.store().catalog().entities, &request.scope, request.now);
        Ok(Recall {
            request,
            view,
            nonce,
            searching,
            stage: Stage::Begin,
            calls: Vec::new(),
            side: None,
            query,
            found: Found::default(),
            seen: 0,
            decision: None,
            degraded: Vec::new(),
            scratch: Scratch::default(),
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
                let wanted = engine.config().semantic_timeout_ms > 0.0 && !engine.store().base().vectors().is_empty();
                if wanted && engine.embedder().is_some() {
                    self.stage = Stage::Embedding;
                    let kind = CallKind::Embed { texts: vec![self.query.text.clone()] };
                    self.call(kind, engine.config().semantic_timeout_ms);
                    return self.wait();
                }
                if let Some(model) = engine.store().model().filter(|_| wanted || engine.store().learned() > 0) {
                    let mut vector = vec![0.0; model.dimensions()];
                    model.embed(&self.query.text, &mut vector);
                    self.side = Some(Side { vector: quantize(&vector), share: model.share() });
                }
                self.plan(engine, counter)
            }
            Stage::Embedding => {
                self.take_vector(engine);
                self.plan(engine, counter)
            }
            Stage::Asking => self.finish(engine, counter),
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

    /// Adds to what the result will say did not work.
    pub fn degrade(&mut self, part: &str, message: impl Into<String>) {
        self.degraded.push(Degraded { part: part.to_string(), message: message.into() });
    }

    fn call(&mut self, kind: CallKind, timeout_ms: f64) {
        let call = Call { id: self.calls.len() as u32, timeout_ms, kind };
        self.calls.push(Pending { call, outcome: None });
    }

    fn wait(&self) -> Step {
        Step::Wait(
            self.calls.iter().filter(|pending| pending.outcome.is_none()).map(|pending| pending.call.clone()).collect(),
        )
    }

    fn take_vector(&mut self, engine: &Engine) {
        let expected = engine.embedder().map_or(0, |(_, dimensions)| *dimensions);
        let outcome = self.calls.drain(..).next().and_then(|pending| pending.outcome);
        let fault = match outcome {
            Some((Outcome::Vectors(vectors), _)) => match vectors.into_iter().next() {
                Some(mut vector) if vector.len() == expected && vector.iter().all(|value| value.is_finite()) => {
                    normalize(&mut vector);
                    self.side = Some(Side { vector: quantize(&vector), share: 2.0 / 3.0 });
                    return;
                }
                Some(vector) => format!("answered with {} numbers, {expected} finite ones were expected", vector.len()),
                None => "answered without a vector".to_string(),
            },
            Some((Outcome::Failed(message), _)) => format!("failed ({message})"),
            Some((Outcome::Aborted, _)) => "was called off".to_string(),
            _ => "did not answer in time".to_string(),
        };
        self.degrade("embedder", format!("the embedder {fault}; the lexical ranking stands alone"));
    }

    fn look(&mut self, engine: &Engine) {
        let masks = engine.store().masks(&self.view);
        let mut config = engine.config().search.clone();
        let limit = self.request.limit.unwrap_or(engine.config().evidence_limit);
        config.lexical_limit = config.lexical_limit.max(limit);
        self.found = engine.store().search(&self.query, self.side.as_ref(), &masks, &config, &mut self.scratch);
        self.seen = engine.store().overlay_revision();
    }

    fn plan(&mut self, engine: &Engine, counter: &dyn CountTokens) -> Step {
        self.look(engine);
        let decision = if self.searching {
            let plan = Plan {
                should_retrieve: true,
                confidence: 1.0,
                reason: "searched on request".to_string(),
                ..Plan::default()
            };
            Decision { plan, matches: Vec::new(), open_work: false }
        } else {
            decide(engine, &self.request, &self.query, &self.found)
        };
        let requests = decision.plan.requests.clone();
        self.decision = Some(decision);
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
        self.stage = Stage::Asking;
        if self.calls.is_empty() { self.finish(engine, counter) } else { self.wait() }
    }

    fn finish(&mut self, engine: &Engine, counter: &dyn CountTokens) -> Step {
        // What was learned or withdrawn while providers were awaited counts.
        if engine.store().overlay_revision() != self.seen {
            self.look(engine);
        }
        self.stage = Stage::Done;
        let Some(decision) = self.decision.take() else { return Step::Done(Box::default()) };
        let calls = std::mem::take(&mut self.calls);
        let merge = Merge {
            config: engine.config(),
            request: &self.request,
            view: &self.view,
            query: &self.query,
            plan: &decision.plan,
            found: &self.found,
            store: engine.store(),
            searching: self.searching,
            looks_back: decision.plan.signals.continuity.is_some(),
        };
        let mut reports = Vec::new();
        let mut evidence = Vec::new();
        let asks_store = self.searching || decision.plan.requests.iter().any(|request| request.provider_id == STORE_ID);
        if asks_store {
            let own = if decision.open_work { merge.open_work(3) } else { merge.store_evidence() };
            reports.push(ProviderReport { id: STORE_ID.to_string(), results: own.len(), ..ProviderReport::default() });
            evidence.extend(own);
        }
        let mut degraded = std::mem::take(&mut self.degraded);
        for pending in calls {
            let report = answer(pending, &merge, engine, &mut evidence);
            if let (false, Some(message)) = (report.status == ProviderStatus::Ok, &report.message) {
                degraded.push(Degraded {
                    part: "provider".to_string(),
                    message: format!("`{}` {message}; its results are missing", report.id),
                });
            }
            reports.push(report);
        }
        let evidence = merge.rank(evidence);
        let block = if self.searching {
            Default::default()
        } else {
            let mut options = BlockOptions::new(self.nonce.clone());
            options.datamark = engine.config().datamark;
            options.per_source_share = engine.config().per_source_share;
            let topics = shown_topics(engine, &self.request, &decision);
            write_block(&topics, &evidence, &engine.config().budgets, counter, &options)
        };
        Step::Done(Box::new(RecallResult {
            plan: decision.plan,
            evidence,
            block,
            providers: reports,
            degraded,
            revision: format!("{:016x}", engine.store().revision()),
            overlay_revision: engine.store().overlay_revision(),
        }))
    }
}

/// The visible topics, those of the plan first.
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

/// Reads one provider's answer into `evidence`.
fn answer(pending: Pending, merge: &Merge<'_>, engine: &Engine, evidence: &mut Vec<Evidence>) -> ProviderReport {
    let CallKind::Provider { provider_id, limit, .. } = pending.call.kind else { return ProviderReport::default() };
    let mut report = ProviderReport { id: provider_id, ..ProviderReport::default() };
    let (outcome, elapsed) = pending.outcome.unwrap_or((Outcome::TimedOut, pending.call.timeout_ms));
    report.elapsed_ms = elapsed;
    match outcome {
        Outcome::Results(results, unreadable) => {
            let most = limit.min(engine.config().provider_results);
            report.rejected = unreadable + results.len().saturating_sub(most);
            let budget = engine.config().budgets.per_provider_tokens;
            for (place, result) in results.into_iter().take(most).enumerate() {
                match result.normalize(&report.id, merge.view, budget) {
                    Ok((result, importance)) => {
                        report.results += 1;
                        report.truncated += usize::from(result.flags.contains(&crate::rank::Flag::Truncated));
                        evidence.push(merge.of_provider(result, importance, place));
                    }
                    Err(Rejection::Malformed | Rejection::OutOfScope | Rejection::NotInForce) => report.rejected += 1,
                }
            }
        }
        Outcome::TimedOut => {
            report.status = ProviderStatus::Timeout;
            report.message = Some(format!("did not answer within {} ms", pending.call.timeout_ms));
        }
        Outcome::Failed(message) => {
            report.status = ProviderStatus::Error;
            report.message = Some(format!("failed: {message}"));
        }
        Outcome::Aborted => {
            report.status = ProviderStatus::Aborted;
            report.message = Some("was called off".to_string());
        }
        Outcome::Vectors(_) | Outcome::Plan(_) => {
            report.status = ProviderStatus::Error;
            report.message = Some("answered with something else than results".to_string());
        }
    }
    report
}
