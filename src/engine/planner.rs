//! Stage 2: a model is asked where the signals do not decide, and what it says is checked.

use super::decide::{Decision, ask};
use super::{CallKind, Engine, ProposedPlan, Request, STORE_ID};
use crate::plan::{Plan, PlanRequest, PlannerPrivacy, TopicMatch};
use crate::retrieve::Query;
use crate::text::truncate;

/// The longest query that a planner may send to a provider, in bytes.
const MAX_QUERY_BYTES: usize = 4096;
/// The longest reason that is taken over from a planner, in bytes.
const MAX_REASON_BYTES: usize = 300;

/// What to ask the planner; `None` where the decision stands without it.
pub(super) fn question(engine: &Engine, request: &Request, query: &Query, decision: &Decision) -> Option<CallKind> {
    let config = &engine.config().plan;
    let wanted = engine.injected().planner
        && config.planner != PlannerPrivacy::Off
        && config.planner_timeout_ms > 0.0
        && !decision.open_work
        && !decision.themes
        && config.is_ambiguous(decision.plan.confidence);
    if !wanted {
        return None;
    }
    let prompt = query.text.clone();
    if config.planner == PlannerPrivacy::PromptOnly {
        return Some(CallKind::Plan { prompt, topics: Vec::new(), providers: Vec::new() });
    }
    let visible = engine.store().catalog().topics.iter().filter(|topic| request.scope.admits(&topic.scope));
    let topics = visible.map(|topic| topic.title.clone()).collect();
    let asked = engine.providers().iter().filter(|provider| request.scope.admits(&provider.scope));
    let providers = std::iter::once(STORE_ID).chain(asked.map(|provider| provider.id.as_str()));
    Some(CallKind::Plan { prompt, topics, providers: providers.map(str::to_string).collect() })
}

/// The decision that a proposed plan leads to, or why it leads to none.
pub(super) fn check(
    engine: &Engine,
    request: &Request,
    query: &Query,
    standing: &Decision,
    proposed: &ProposedPlan,
) -> Result<Decision, String> {
    let Some(should_retrieve) = proposed.should_retrieve else {
        return Err("answered without `shouldRetrieve`".to_string());
    };
    let confidence = proposed.confidence.unwrap_or(standing.plan.confidence);
    if !(0.0..=1.0).contains(&confidence) {
        return Err(format!("answered with the confidence {confidence}, which is not 0 to 1"));
    }
    let reason = truncate(proposed.reason.trim(), MAX_REASON_BYTES);
    let verdict = if should_retrieve { "memory is needed" } else { "no memory is needed" };
    let mut plan = Plan {
        should_retrieve,
        confidence,
        stage: 2,
        reason: format!("{verdict} ({confidence:.2}), says the planner: {reason}"),
        signals: standing.plan.signals.clone(),
        ..Plan::default()
    };
    let mut matches = Vec::new();
    if should_retrieve {
        let limits = engine.config().plan.max_topics;
        let topics = engine.store().catalog().topics.iter().enumerate();
        for (number, topic) in topics.filter(|(_, topic)| request.scope.admits(&topic.scope)) {
            let named = proposed.topics.iter().any(|name| *name == topic.title || *name == topic.id);
            if named && matches.len() < limits {
                let reason = format!("{}: named by the planner", topic.title);
                matches.push(TopicMatch { topic: number, strength: confidence, exact: false, reason });
                plan.topics.push(topic.title.clone());
            }
        }
        for wanted in &proposed.requests {
            push(engine, request, query, wanted, &mut plan);
        }
        let named = !proposed.topics.is_empty() || !proposed.requests.is_empty();
        if named && matches.is_empty() && plan.requests.is_empty() {
            return Err("named only topics and providers that are unknown here".to_string());
        }
        if plan.requests.is_empty() {
            ask(engine, request, query, &matches, false, &mut plan);
        }
    }
    Ok(Decision { plan, matches, open_work: false, themes: false })
}

/// Adds a proposed request if its provider is known, may be asked, and is not asked already.
fn push(engine: &Engine, request: &Request, query: &Query, wanted: &super::ProposedRequest, plan: &mut Plan) {
    let provider = engine
        .providers()
        .iter()
        .find(|provider| provider.id == wanted.provider_id && request.scope.admits(&provider.scope));
    let known = wanted.provider_id == STORE_ID || provider.is_some();
    if !known || plan.requests.iter().any(|earlier| earlier.provider_id == wanted.provider_id) {
        return;
    }
    let text = truncate(wanted.query.trim(), MAX_QUERY_BYTES);
    let limit = provider.and_then(|provider| provider.limit).unwrap_or(engine.config().plan.request_limit);
    plan.requests.push(PlanRequest {
        provider_id: wanted.provider_id.clone(),
        query: if text.is_empty() { query.text.clone() } else { text.to_string() },
        reason: "asked for by the planner".to_string(),
        limit,
    });
}
