//! From signals to a plan.

use super::{Engine, Request, STORE_ID};
use crate::embed::{EmbeddingModel, HashEmbedder, dot};
use crate::index::idf;
use crate::memory::Topic;
use crate::plan::{
    Gate, Plan, PlanRequest, Signals, TopicMatch, asks_for_themes, continuity, is_command, is_personal, shape, tasks,
};
use crate::retrieve::{Found, Query, View};
use crate::text::{self, Kind, Role};

/// How much looking back strengthens a topic that is matched already.
const CONTINUITY_BOOST: f64 = 0.1;
/// The same for unfinished work.
const UNRESOLVED_BOOST: f64 = 0.25;

/// A plan, and the topics behind it.
pub(super) struct Decision {
    pub plan: Plan,
    pub matches: Vec<TopicMatch>,
    /// The prompt only looks back ("continue"): unfinished work is what it may mean.
    pub open_work: bool,
    /// The prompt asks what memory is mostly about.
    pub themes: bool,
}

pub(super) fn decide(engine: &Engine, request: &Request, view: &View, query: &Query, found: &Found) -> Decision {
    let config = &engine.config().plan;
    let catalog = engine.store().catalog();
    let mut words = Vec::new();
    text::tokenize(&query.text, &mut |token| words.push(token.surface.to_string()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let looks_back = continuity(&words).next();

    let mut matches = engine.topics().matches(&query.text, &catalog.topics, &request.scope);
    if looks_back.is_some() {
        for hit in &mut matches {
            let unresolved = catalog.topics.get(hit.topic).is_some_and(|topic| topic.unresolved);
            let boost = if unresolved { UNRESOLVED_BOOST } else { CONTINUITY_BOOST };
            hit.strength = (hit.strength + boost).min(0.97);
            hit.reason.push_str(if unresolved { ", looks back at unresolved work" } else { ", looks back" });
        }
        matches.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(a.topic.cmp(&b.topic)));
    }
    let mut signals = signals(query, found, &words);
    signals.continuity = looks_back.map(str::to_string);
    signals.topic = matches.first().map_or(0.0, |hit| hit.strength);
    signals.exact |= matches.first().is_some_and(|hit| hit.exact);

    matches.retain(|hit| hit.strength >= config.topic_threshold);
    matches.truncate(config.max_topics);
    let mut plan = Plan { confidence: Gate::new(&signals, &config.gate).probability, ..Plan::default() };
    if plan.confidence < config.semantic_below {
        semantic_stage(engine, request, query, &mut matches, &mut plan);
    }

    let topical = found.terms.iter().any(|term| term.topical);
    let open_work =
        looks_back.is_some() && !topical && matches.is_empty() && signals.names.is_empty() && query.length <= 12;
    let themes = asks_for_themes(&words) && engine.store().themes_in(view, 1).is_ok_and(|themes| !themes.is_empty());
    plan.should_retrieve = themes || plan.confidence >= config.threshold || open_work || !plan.requests.is_empty();
    plan.topics =
        matches.iter().filter_map(|hit| catalog.topics.get(hit.topic)).map(|topic| topic.title.clone()).collect();
    plan.reason = reason(&signals, &matches, &plan, open_work, found.visible);
    if themes {
        plan.reason.push_str("; asks what memory is mostly about");
    }
    plan.signals = signals;
    if plan.should_retrieve {
        ask(engine, request, query, &matches, open_work, &mut plan);
    } else {
        plan.topics.clear();
    }
    Decision { plan, matches, open_work, themes }
}

#[inline(never)]
fn signals(query: &Query, found: &Found, words: &[&str]) -> Signals {
    let best = found.hits.iter().max_by(|a, b| a.coverage.total_cmp(&b.coverage).then(b.record.cmp(&a.record)));
    let surfaces = |held: bool| {
        query
            .terms
            .iter()
            .zip(&found.terms)
            .enumerate()
            .filter(|(at, (_, statistics))| {
                let matched = best.is_some_and(|hit| hit.matched.contains(&((*at).min(255) as u8)));
                statistics.topical && matched == held
            })
            .map(|(_, (term, _))| term.surface.clone())
            .collect::<Vec<_>>()
    };
    let identifier = query.terms.iter().zip(&found.terms).any(|(term, statistics)| {
        term.kind == Kind::Identifier && statistics.frequency > 0 && text::role(&term.surface) == Role::Content
    });
    let max_idf = f64::from(idf(found.visible, 0)).max(f64::MIN_POSITIVE);
    let topical = || query.terms.iter().zip(&found.terms).filter(|(_, statistics)| statistics.topical);
    let unknown = topical().filter(|(_, statistics)| statistics.frequency == 0);
    let runner_up = found.hits.iter().filter(|hit| best.is_some_and(|best| !std::ptr::eq(*hit, best)));
    let absent: f32 = unknown.clone().map(|(_, statistics)| statistics.idf).sum();
    Signals {
        runner_up: f64::from(runner_up.map(|hit| hit.coverage).fold(0.0, f32::max)),
        rarity: best.map_or(0.0, |hit| f64::from(hit.matched_idf) / max_idf),
        absent: if found.query_idf > 0.0 { f64::from(absent / found.query_idf) } else { 0.0 },
        unknown_names: unknown.filter(|(term, _)| term.proper).map(|(term, _)| term.surface.clone()).collect(),
        tasks: tasks(words),
        shape: shape(&query.text, words),
        coverage: best.map_or(0.0, |hit| f64::from(hit.coverage)),
        matched_idf: best.map_or(0.0, |hit| f64::from(hit.matched_idf)),
        matched: surfaces(true),
        missing: surfaces(false),
        records: found.visible,
        topical_terms: found.terms.iter().filter(|term| term.topical).count(),
        names: found.names.clone(),
        exact: identifier,
        similarity: f64::from(found.best_similarity),
        nearness: f64::from(found.nearness),
        length: query.length,
        command: is_command(words),
        personal: is_personal(words),
        dated: found.dated > 0,
        ..Signals::default()
    }
}

/// Stage 1: topics and providers that are near the prompt in the hash embedding.
#[inline(never)]
fn semantic_stage(engine: &Engine, request: &Request, query: &Query, matches: &mut Vec<TopicMatch>, plan: &mut Plan) {
    let config = &engine.config().plan;
    let mut prompt = [0f32; HashEmbedder::DIMENSIONS];
    HashEmbedder.embed(&query.text, &mut prompt);
    let similarity = |text: &str| {
        let mut vector = [0f32; HashEmbedder::DIMENSIONS];
        HashEmbedder.embed(text, &mut vector);
        f64::from(dot(&prompt, &vector))
    };
    let visible = |topic: &Topic| request.scope.admits(&topic.scope);
    let mut qualified = false;
    for (number, topic) in engine.store().catalog().topics.iter().enumerate().filter(|(_, topic)| visible(topic)) {
        let near = std::iter::once(&topic.title)
            .chain(&topic.aliases)
            .map(|name| similarity(name))
            .fold(similarity(&format!("{} {}", topic.title, topic.summary)), f64::max);
        if near < config.semantic_threshold || matches.iter().any(|hit| hit.topic == number) {
            continue;
        }
        qualified = true;
        plan.stage = 1;
        plan.confidence = plan.confidence.max(near);
        let reason = format!("{}: semantic catalog similarity {near:.3}", topic.title);
        matches.push(TopicMatch { topic: number, strength: near, exact: false, reason });
    }
    if qualified || !matches.is_empty() {
        return;
    }
    for provider in engine.providers().iter().filter(|provider| request.scope.admits(&provider.scope)) {
        let near = if provider.description.is_empty() { 0.0 } else { similarity(&provider.description) };
        if near >= config.semantic_threshold {
            plan.stage = 1;
            plan.requests.push(PlanRequest {
                provider_id: provider.id.clone(),
                query: query.text.clone(),
                reason: format!("the description of `{}` is similar ({near:.3}); no memory is claimed", provider.id),
                limit: provider.limit.unwrap_or(config.request_limit),
            });
        }
    }
}

/// Whom to ask: a topic's own providers; the store wherever it has evidence; everybody once, where the prompt only looks back.
pub(super) fn ask(
    engine: &Engine,
    request: &Request,
    query: &Query,
    matches: &[TopicMatch],
    open_work: bool,
    plan: &mut Plan,
) {
    let config = &engine.config().plan;
    let topics = &engine.store().catalog().topics;
    let mut ask = |provider_id: &str, reason: String, limit: usize| {
        if !plan.requests.iter().any(|known| known.provider_id == provider_id) {
            plan.requests.push(PlanRequest {
                provider_id: provider_id.to_string(),
                query: query.text.clone(),
                reason,
                limit,
            });
        }
    };
    let held_here = |topic: &Topic| topic.providers.is_empty() || topic.providers.iter().any(|id| id == STORE_ID);
    let first = matches.iter().find(|hit| topics.get(hit.topic).is_some_and(held_here));
    match first {
        Some(hit) => ask(STORE_ID, hit.reason.clone(), config.request_limit),
        None if matches.is_empty() => ask(STORE_ID, plan.reason.clone(), config.request_limit),
        None => {}
    }
    for provider in engine.providers().iter().filter(|provider| request.scope.admits(&provider.scope)) {
        let limit = provider.limit.unwrap_or(config.request_limit);
        let held = matches.iter().find(|hit| {
            topics.get(hit.topic).is_some_and(|topic| {
                topic.providers.contains(&provider.id) || provider.topics.holds(&topic.id, &topic.title)
            })
        });
        if let Some(hit) = held {
            ask(&provider.id, hit.reason.clone(), limit);
        } else if open_work {
            ask(&provider.id, "the prompt looks back without naming a topic; asked once".to_string(), limit);
        }
    }
}

#[inline(never)]
fn reason(signals: &Signals, matches: &[TopicMatch], plan: &Plan, open_work: bool, visible: usize) -> String {
    let mut parts: Vec<String> = matches.iter().map(|hit| hit.reason.clone()).collect();
    if open_work {
        parts.push(format!(
            "looks back (`{}`) without naming a topic: unresolved work is what it may mean",
            signals.continuity.as_deref().unwrap_or("")
        ));
    }
    if visible == 0 {
        parts.push("nothing is remembered in this scope".to_string());
    } else if signals.topical_terms == 0 {
        parts.push("the prompt has no word that could name a memory".to_string());
    } else {
        let list = |words: &[String]| if words.is_empty() { "none".to_string() } else { words.join(", ") };
        parts.push(format!(
            "best record covers {:.2} of the prompt (matched: {}; missing: {})",
            signals.coverage,
            list(&signals.matched),
            list(&signals.missing)
        ));
    }
    if !signals.names.is_empty() {
        parts.push(format!("names {}", signals.names.join(", ")));
    }
    if !signals.unknown_names.is_empty() {
        parts.push(format!("no record holds {}", signals.unknown_names.join(", ")));
    }
    if signals.command {
        parts.push("begins like an order".to_string());
    }
    let verdict = if plan.should_retrieve { "memory is needed" } else { "no memory is needed" };
    format!("{verdict} ({:.2}): {}", plan.confidence, parts.join("; "))
}
