//! Stage 2: when the planner is asked, what it is sent, and what its answer may do.

use super::*;
use crate::plan::PlannerPrivacy;

const PROMPT: &str = "How should the invoice totals come out?";

fn config(planner: PlannerPrivacy) -> Config {
    let mut config = Config::default();
    config.plan.planner = planner;
    // Everything is ambiguous.
    config.plan.ambiguity_band = 1.0;
    config
}

fn planned(config: Config) -> Engine {
    let mut engine = engine_with(
        vec![
            Record {
                topic: Some("Billing".into()),
                ..Record::new("round", "Billing rounds refunds down to the cent.")
            },
            Record::new("lunch", "The canteen serves soup on Mondays."),
        ],
        config,
    );
    engine.set_injected(Injected { planner: true, ..Injected::default() });
    let ana = Scope::global().with("user", "ana");
    for (id, scope) in [("wiki", Scope::global()), ("hers", ana.clone())] {
        engine.add_provider(ProviderSpec { id: id.into(), scope, ..ProviderSpec::default() }).unwrap();
    }
    for (title, scope) in [("Billing", Scope::global()), ("Her secret", ana)] {
        engine.add_topic(Topic { title: title.into(), scope, ..Topic::default() }).unwrap();
    }
    engine
}

/// The calls of one recall, and its result, where the planner proposes `plan`.
fn recall(engine: &Engine, plan: &Outcome) -> (Vec<CallKind>, RecallResult) {
    let mut calls = Vec::new();
    let mut recall = engine.recall(ask(PROMPT)).unwrap();
    let call = &mut |call: &Call| {
        calls.push(call.kind.clone());
        match call.kind {
            CallKind::Plan { .. } => (plan.clone(), 1.0),
            // The prompt means what nothing here means.
            CallKind::Embed { .. } => (Outcome::Vectors(vec![vec![0.05; 384]]), 1.0),
            _ => (Outcome::Results(Vec::new(), 0), 1.0),
        }
    };
    let result = engine.drive(&mut recall, call).unwrap();
    (calls, result)
}

fn yes(topics: &[&str], requests: &[(&str, &str)]) -> Outcome {
    Outcome::Plan(ProposedPlan {
        should_retrieve: Some(true),
        confidence: Some(0.8),
        topics: topics.iter().map(|topic| topic.to_string()).collect(),
        requests: requests
            .iter()
            .map(|(id, query)| ProposedRequest { provider_id: id.to_string(), query: query.to_string() })
            .collect(),
        reason: "totals are rounded somewhere".into(),
    })
}

#[test]
fn it_is_off_by_default_and_asked_only_in_doubt() {
    let mut config = config(PlannerPrivacy::Off);
    assert!(recall(&planned(config.clone()), &yes(&[], &[])).0.is_empty());
    assert_eq!(Config::default().plan.planner, PlannerPrivacy::Off);
    config.plan.planner = PlannerPrivacy::PromptOnly;
    assert_eq!(recall(&planned(config.clone()), &yes(&[], &[])).0.len(), 1);
    config.plan.ambiguity_band = 0.2;
    assert!(recall(&planned(config), &yes(&[], &[])).0.is_empty(), "the signals say no clearly");
    assert!(Config::default().plan.is_ambiguous(0.6) && !Config::default().plan.is_ambiguous(0.95));
}

#[test]
fn it_is_sent_what_the_privacy_rule_says_and_nothing_of_another_scope() {
    let (calls, _) = recall(&planned(config(PlannerPrivacy::PromptOnly)), &yes(&[], &[]));
    assert_eq!(calls[0], CallKind::Plan { prompt: PROMPT.into(), topics: vec![], providers: vec![] });
    let (calls, _) = recall(&planned(config(PlannerPrivacy::PromptAndTopics)), &yes(&[], &[]));
    let (topics, providers) = (vec!["Billing".into()], vec!["memory".into(), "wiki".into()]);
    assert_eq!(calls[0], CallKind::Plan { prompt: PROMPT.into(), topics, providers });
}

#[test]
fn any_failure_leaves_the_decision_already_made() {
    let plain = planned(config(PlannerPrivacy::Off));
    let standing = plain.run(plain.recall(ask(PROMPT)).unwrap());
    let engine = planned(config(PlannerPrivacy::PromptOnly));
    let proposal = |plan: ProposedPlan| Outcome::Plan(plan);
    let unclear = ProposedPlan { reason: "hm".into(), ..ProposedPlan::default() };
    let sure = |confidence| ProposedPlan { should_retrieve: Some(true), confidence, ..ProposedPlan::default() };
    let junk = [
        ("does not decide", proposal(unclear)),
        ("is too sure", proposal(sure(Some(7.0)))),
        ("is sure of nothing", proposal(sure(Some(f64::NAN)))),
        ("names only strangers", yes(&["Taxes", "Her secret"], &[("crm", "x"), ("hers", "x")])),
    ];
    for (name, trouble) in troubles().into_iter().chain(junk) {
        let (_, result) = recall(&engine, &trouble);
        assert_eq!((&result.plan, parts(&result)), (&standing.plan, vec!["planner"]), "{name}");
    }
}

#[test]
fn its_plan_is_checked_against_what_is_known() {
    let engine = planned(config(PlannerPrivacy::PromptAndTopics));
    let proposal =
        yes(&["Taxes", "Billing", "Her secret"], &[("crm", "x"), ("hers", "x"), ("wiki", ""), ("wiki", "y")]);
    let (calls, result) = recall(&engine, &proposal);
    assert_eq!((result.plan.stage, result.plan.topics.as_slice()), (2, &["Billing".to_string()][..]));
    assert!(result.degraded.is_empty());
    let asked: Vec<(&str, &str)> = calls
        .iter()
        .filter_map(|call| match call {
            CallKind::Provider { provider_id, query, .. } => Some((provider_id.as_str(), query.as_str())),
            _ => None,
        })
        .collect();
    assert_eq!(asked, [("wiki", PROMPT)]);
    // Topics without requests are routed as the signals would; a query of the store's own replaces the prompt.
    let (_, result) = recall(&engine, &yes(&["Billing"], &[]));
    assert_eq!(result.plan.requests[0].provider_id, STORE_ID);
    let (_, result) = recall(&engine, &yes(&[], &[(STORE_ID, "billing refunds rounding")]));
    assert_eq!(ids(&result), ["round"]);
    let no = ProposedPlan { should_retrieve: Some(false), ..ProposedPlan::default() };
    let (_, result) = recall(&engine, &Outcome::Plan(no));
    assert!(!result.plan.should_retrieve && result.evidence.is_empty() && result.plan.reason.starts_with("no memory"));
}

#[test]
fn a_query_that_it_rewrote_is_compared_by_its_own_meaning_or_by_words_alone() {
    let rewritten = "soup on Mondays in the canteen";
    let record = Record::new("soup", "Soup on Mondays in the canteen.");
    let similarity = |engine: &Engine| {
        let (_, result) = recall(engine, &yes(&[], &[(STORE_ID, rewritten)]));
        let entry = result.evidence.into_iter().find(|entry| entry.id == "soup").unwrap();
        entry.components.into_iter().find(|part| part.name == "semantic").map(|part| part.value)
    };
    let mut engine = planned(config(PlannerPrivacy::PromptOnly));
    engine.remember(vec![record.clone()]).unwrap();
    assert!(similarity(&engine).unwrap() > 0.9, "embedded anew");
    // A vector that came from outside was the prompt's.
    engine.set_embedder("remem-local-hash-v1", 384).unwrap();
    assert_eq!(similarity(&engine), None);
}

#[test]
fn its_calls_are_counted_for_the_whole_session() {
    let mut config = config(PlannerPrivacy::PromptOnly);
    config.plan.planner_calls = 2;
    let engine = planned(config);
    for _ in 0..2 {
        let copy = engine.clone();
        assert_eq!(recall(&copy, &Outcome::TimedOut).0.len(), 1);
    }
    let (calls, result) = recall(&engine, &yes(&["Billing"], &[]));
    assert_eq!((calls.len(), parts(&result)), (0, vec!["planner"]));
}
