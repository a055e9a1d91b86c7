//! What was prepared is served only while everything it rests on holds.

use super::*;

const PROMPT: &str = "What did we decide about the falcon launch?";

fn falcon() -> Engine {
    engine(vec![
        Record::new("falcon", "We decided that the falcon launch waits for spring."),
        Record {
            scope: Scope::global().with("user", "ana"),
            ..Record::new("ana", "The falcon launch makes Ana nervous.")
        },
    ])
}

fn at(seconds: i64) -> Option<Timestamp> {
    Some(Timestamp(1_780_000_000_000 + seconds * 1000))
}

fn typed() -> Request {
    Request { now: at(0), ..ask(PROMPT) }
}

/// Prepares in turn 3.
fn prepare(engine: &mut Engine, request: Request) -> bool {
    let mut recall = engine.prepare(3, request).unwrap();
    let result = engine.drive(&mut recall, &mut |_| (Outcome::TimedOut, 0.0)).unwrap();
    engine.keep(&recall, &result)
}

fn serves(engine: &Engine, request: Request) -> bool {
    let result = engine.run(engine.recall(request).unwrap());
    result.prepared.is_some_and(|prepared| prepared.served)
}

fn sent() -> Request {
    Request { turn: Some(4), now: at(5), ..ask(PROMPT) }
}

#[test]
fn it_is_served_from_the_next_turn_on_and_equals_a_fresh_one() {
    let mut engine = falcon();
    let fresh = engine.run(engine.recall(Request { turn: None, ..typed() }).unwrap());
    assert!(prepare(&mut engine, typed()));
    let served = engine.run(engine.recall(sent()).unwrap());
    let expected = Preparation { source_turn: 3, first_turn: 4, expires: at(120), served: true };
    assert_eq!(served.prepared, Some(expected));
    assert_eq!(RecallResult { prepared: None, ..served }, fresh);
}

#[test]
fn it_is_served_only_if_everything_holds() {
    let ana = Scope::global().with("user", "ana");
    type Change = fn(&mut Request);
    let requests: [(&str, bool, Change); 14] = [
        ("as it was sent", true, |_| ()),
        ("a later turn", true, |request| request.turn = Some(9)),
        ("another deadline", true, |request| request.deadline_ms = Some(9.0)),
        ("white space around", true, |request| request.prompt = format!(" {PROMPT}\n")),
        ("its own turn", false, |request| request.turn = Some(3)),
        ("no turn", false, |request| request.turn = None),
        ("another prompt", false, |request| request.prompt.push('!')),
        ("another limit", false, |request| request.limit = Some(3)),
        ("history", false, |request| request.history = true),
        ("a hint", false, |request| request.about = Some("falcon".into())),
        ("kinds", false, |request| request.kinds = vec!["fact".into()]),
        ("another nonce", false, |request| request.nonce = Nonce::new("another0nonce").ok()),
        ("expired", false, |request| request.now = at(120)),
        ("without a clock", false, |request| request.now = None),
    ];
    let mut engine = falcon();
    assert!(prepare(&mut engine, typed()));
    for (name, expected, change) in requests {
        let mut request = sent();
        change(&mut request);
        assert_eq!(serves(&engine, request), expected, "{name}");
    }
    assert!(!serves(&engine, Request { scope: ana, ..sent() }), "another scope");
}

#[test]
fn any_change_ends_it() {
    type Change = fn(&mut Engine);
    let changes: [(&str, Change); 7] = [
        ("remember", |engine| drop(engine.remember(vec![Record::new("x", "Unrelated.")]).unwrap())),
        ("forget", |engine| assert!(engine.forget("falcon"))),
        ("supersede", |engine| {
            drop(engine.supersede("falcon", Record::new("y", "The falcon launch is off.")).unwrap())
        }),
        ("suppress", |engine| engine.suppress("falcon", "launch")),
        ("a topic", |engine| engine.add_topic(Topic { title: "Falcon".into(), ..Topic::default() }).unwrap()),
        ("a provider", |engine| {
            engine.add_provider(ProviderSpec { id: "wiki".into(), ..ProviderSpec::default() }).unwrap();
        }),
        ("a reranker", |engine| engine.set_injected(Injected { reranker: true, ..Injected::default() })),
    ];
    for (name, change) in changes {
        let mut engine = falcon();
        assert!(prepare(&mut engine, typed()) && serves(&engine, sent()));
        change(&mut engine);
        assert!(!serves(&engine, sent()), "{name}");
    }
}

#[test]
fn a_record_that_lapses_ends_it_earlier() {
    let mut engine = falcon();
    let soon = Record { expires: at(30), ..Record::new("soon", "The falcon launch window, as decided, closes.") };
    engine.remember(vec![soon]).unwrap();
    assert!(prepare(&mut engine, typed()));
    assert!(serves(&engine, Request { now: at(29), ..sent() }));
    assert!(!serves(&engine, Request { now: at(30), ..sent() }));
    let late = engine.run(engine.recall(Request { now: at(30), ..sent() }).unwrap());
    assert!(!ids(&late).contains(&"soon"));
}

#[test]
fn a_no_and_what_is_incomplete_or_outdated_are_not_kept() {
    let mut engine = falcon();
    assert!(!prepare(&mut engine, ask("What is the capital of France?")), "a no");
    let mut recall = engine.recall(typed()).unwrap();
    let result = engine.drive(&mut recall, &mut |_| (Outcome::TimedOut, 0.0)).unwrap();
    assert!(!engine.keep(&recall, &result), "no preparation");
    let mut recall = engine.prepare(3, typed()).unwrap();
    let result = engine.drive(&mut recall, &mut |_| (Outcome::TimedOut, 0.0)).unwrap();
    engine.forget("falcon");
    assert!(!engine.keep(&recall, &result), "outdated");
    let mut engine = falcon();
    engine.set_injected(Injected { semantic: true, ..Injected::default() });
    assert!(!prepare(&mut engine, typed()), "without its semantic ranking");
    let off = Config { prepared_seconds: 0, ..Config::default() };
    let mut engine = engine_with(vec![Record::new("falcon", "We decided that the falcon launch waits.")], off);
    assert!(!prepare(&mut engine, typed()), "switched off");
}

#[test]
fn what_was_learned_while_it_was_prepared_keeps_it_from_being_served() {
    let mut engine = falcon();
    engine.set_injected(Injected { semantic: true, ..Injected::default() });
    let mut recall = engine.prepare(3, typed()).unwrap();
    let Step::Wait(calls) = recall.advance(&engine, &Utf8Bytes) else { panic!("the backend is asked") };
    assert_eq!(calls[0].timeout_ms, 600.0);
    engine.remember(vec![Record::new("news", "The falcon launch was decided anew.")]).unwrap();
    recall.settle(calls[0].id, named(&["falcon"]), 1.0);
    let Step::Done(result) = recall.advance(&engine, &Utf8Bytes) else { panic!("it is done") };
    assert!(ids(&result).contains(&"news") && !engine.keep(&recall, &result));
}

#[test]
fn only_so_many_are_kept() {
    let config = Config { prepared_results: 2, ..Config::default() };
    let mut engine = engine_with(vec![Record::new("falcon", "We decided that the falcon launch waits.")], config);
    let variant = |limit: usize, request: Request| Request { limit: Some(limit), ..request };
    for limit in 1..=3 {
        assert!(prepare(&mut engine, variant(limit, typed())));
    }
    assert!(prepare(&mut engine, variant(3, typed())), "again: takes no second place");
    let served = [1, 2, 3].map(|limit| serves(&engine, variant(limit, sent())));
    assert_eq!(served, [false, true, true]);
}
