//! Whatever happens in whatever order, also while a recall waits: nothing superseded, forgotten, expired, suppressed or out of scope is
//! served, and what was learned is found. Checked against a model that is a map.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::*;
use crate::embed::EmbeddingModel;
use crate::retrieve::ProviderResult;

#[derive(Clone, Debug)]
enum Op {
    Remember { id: u8, owner: u8, lives: Option<u8>, subject: u8 },
    Forget(u8),
    Supersede { old: u8, new: u8, owner: u8 },
    Suppress(u8),
    Compact,
    Tick(u8),
    Recall { asked: Asked, preparing: bool, meanwhile: Vec<Op> },
}

/// A question, and how it is asked.
#[derive(Clone, Copy, Debug)]
struct Asked {
    id: u8,
    who: u8,
    history: bool,
    as_of: Option<u8>,
    kind: Option<u8>,
    planner: Planner,
    embedder_fails: bool,
}

/// What the planner says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Planner {
    Hangs,
    Yes,
    No,
    /// Yes, with a query of its own.
    Rewrites,
}

const KINDS: [&str; 2] = ["decision", "fact"];

fn kind(id: u8) -> &'static str {
    KINDS[usize::from(id % 2)]
}

fn config() -> Config {
    let plan = crate::plan::PlanConfig {
        planner: crate::plan::PlannerPrivacy::PromptOnly,
        ambiguity_band: 1.0,
        planner_calls: u32::MAX,
        ..Default::default()
    };
    Config { plan, ..Config::default() }
}

fn change() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => (0..6u8, 0..3u8, proptest::option::of(1..9u8), 0..2u8)
            .prop_map(|(id, owner, lives, subject)| Op::Remember { id, owner, lives, subject }),
        2 => (0..6u8).prop_map(Op::Forget),
        3 => (0..6u8, 0..9u8, 0..3u8).prop_map(|(old, new, owner)| Op::Supersede { old, new, owner }),
        1 => (0..2u8).prop_map(Op::Suppress),
        1 => Just(Op::Compact),
        1 => (1..4u8).prop_map(Op::Tick),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    // Few different questions, so that what was prepared is asked for.
    let plain = (0..3u8, 0..2u8).prop_map(|(id, who)| Asked {
        id,
        who,
        history: false,
        as_of: None,
        kind: None,
        planner: Planner::Yes,
        embedder_fails: false,
    });
    let planner = prop_oneof![Just(Planner::Hangs), Just(Planner::Yes), Just(Planner::No), Just(Planner::Rewrites)];
    let as_of = proptest::option::of(0..20u8);
    let odd = (0..6u8, 0..3u8, any::<bool>(), as_of, proptest::option::of(0..2u8), planner, any::<bool>()).prop_map(
        |(id, who, history, as_of, kind, planner, embedder_fails)| Asked {
            id,
            who,
            history,
            as_of,
            kind,
            planner,
            embedder_fails,
        },
    );
    let asked = prop_oneof![plain, odd];
    let recall = (asked, any::<bool>(), proptest::collection::vec(change(), 0..3))
        .prop_map(|(asked, preparing, meanwhile)| Op::Recall { asked, preparing, meanwhile });
    prop_oneof![1 => change(), 1 => recall]
}

fn scope(number: u8) -> Scope {
    match number {
        0 => Scope::global(),
        number => Scope::global().with("user", number.to_string()),
    }
}

/// What the model knows of a record.
#[derive(Clone, Debug)]
struct Known {
    owner: u8,
    expires: Option<i64>,
    subject: u8,
    /// In the snapshot, not only learned.
    canonical: bool,
    withdrawn: bool,
    created: i64,
    /// What replaced it.
    by: Vec<u8>,
}

struct World {
    engine: RefCell<Engine>,
    known: RefCell<BTreeMap<u8, Known>>,
    /// Ids that some record says it replaces: whether one of them is found when it is learned again is left open.
    replaced: RefCell<BTreeSet<u8>>,
    windows: RefCell<BTreeSet<u8>>,
    /// Every version that ever was, as a provider that is told nothing still answers it.
    copies: RefCell<Vec<ProviderResult>>,
    now: RefCell<i64>,
    turn: RefCell<u64>,
}

impl World {
    fn new() -> World {
        let world = World {
            engine: RefCell::new(engine_with(Vec::new(), config())),
            known: RefCell::default(),
            replaced: RefCell::default(),
            windows: RefCell::default(),
            copies: RefCell::default(),
            now: RefCell::new(1000),
            turn: RefCell::new(1),
        };
        world.inject();
        world
    }

    fn inject(&self) {
        let mut engine = self.engine.borrow_mut();
        engine.set_injected(Injected { semantic: true, planner: true, reranker: true });
        engine.set_embedder(HashEmbedder.id(), HashEmbedder::DIMENSIONS).unwrap();
        let all = ProviderSpec { id: "copies".into(), topics: Holds::One("*".into()), ..ProviderSpec::default() };
        engine.add_provider(all).unwrap();
        engine.add_topic(Topic { title: "Falcon".into(), ..Topic::default() }).unwrap();
    }

    fn record(&self, id: u8, owner: u8, lives: Option<u8>, subject: u8) -> Record {
        let expires = lives.map(|lives| Timestamp(*self.now.borrow() + i64::from(lives)));
        Record {
            scope: scope(owner),
            expires,
            kind: kind(id).into(),
            created: Some(Timestamp(*self.now.borrow())),
            subject: format!("subject{subject}"),
            predicate: "state".into(),
            ..Record::new(id.to_string(), format!("We decided about the falcon that number{id} is settled."))
        }
    }

    fn learned(&self, id: u8, owner: u8, record: &Record, subject: u8) {
        let expires = record.expires.map(|time| time.0);
        self.known.borrow_mut().insert(
            id,
            Known {
                owner,
                expires,
                subject,
                canonical: false,
                withdrawn: false,
                created: *self.now.borrow(),
                by: Vec::new(),
            },
        );
        let copy = ProviderResult {
            id: self.copies.borrow().len().to_string(),
            kind: record.kind.clone(),
            text: format!("A copy: the falcon, number{id}, owner {owner}."),
            subject: record.subject.clone(),
            predicate: record.predicate.clone(),
            expires: record.expires,
            scope: record.scope.clone(),
            ..ProviderResult::default()
        };
        self.copies.borrow_mut().push(copy);
    }

    fn apply(&self, op: &Op) {
        match op {
            Op::Remember { id, owner, lives, subject } => {
                let record = self.record(*id, *owner, *lives, *subject);
                if self.engine.borrow_mut().remember(vec![record.clone()]).is_ok() {
                    self.learned(*id, *owner, &record, *subject);
                }
            }
            Op::Forget(id) => {
                self.engine.borrow_mut().forget(&id.to_string());
                self.known.borrow_mut().remove(id);
            }
            Op::Supersede { old, new, owner } => {
                let record = self.record(*new, *owner, None, 0);
                if self.engine.borrow_mut().supersede(&old.to_string(), record.clone()).is_err() {
                    return;
                }
                if old != new {
                    let mut known = self.known.borrow_mut();
                    let old_record = known.get_mut(old).unwrap();
                    // Whoever sees the old one sees the new one.
                    if scope(old_record.owner).admits(&record.scope) {
                        old_record.withdrawn = true;
                        old_record.by.push(*new);
                    }
                    self.replaced.borrow_mut().insert(*old);
                }
                self.learned(*new, *owner, &record, 0);
            }
            Op::Suppress(subject) => {
                self.engine.borrow_mut().suppress(&format!("Subject{subject}"), "state");
                self.windows.borrow_mut().insert(*subject);
                for known in self.known.borrow_mut().values_mut() {
                    known.withdrawn |= known.canonical && known.subject == *subject;
                }
            }
            Op::Compact => {
                let bytes = self.engine.borrow().compact().unwrap();
                let mut reloaded = Engine::load(bytes, config(), Some(Arc::new(HashEmbedder))).unwrap();
                reloaded.set_nonce(Nonce::new("0123456789ab").unwrap());
                self.engine.replace(reloaded);
                self.inject();
                self.known.borrow_mut().values_mut().for_each(|known| known.canonical = true);
            }
            Op::Tick(by) => *self.now.borrow_mut() += i64::from(*by),
            Op::Recall { asked, preparing, meanwhile } => self.recall(*asked, meanwhile, *preparing),
        }
    }

    fn recall(&self, asked: Asked, meanwhile: &[Op], preparing: bool) {
        let turn = *self.turn.borrow();
        *self.turn.borrow_mut() += u64::from(!preparing);
        // The moment is the request's: time that passes while it waits does not count.
        let now = *self.now.borrow();
        let request = Request {
            scope: scope(asked.who),
            now: Some(Timestamp(now)),
            as_of: asked.as_of.map(|back| Timestamp(now - i64::from(back))),
            history: asked.history,
            kinds: asked.kind.map(|kind| KINDS[usize::from(kind)].to_string()).into_iter().collect(),
            turn: Some(turn),
            limit: Some(60),
            ..ask(&format!("What did we decide about the falcon number{}?", asked.id))
        };
        let mut recall = {
            let engine = self.engine.borrow();
            if preparing { engine.prepare(turn - 1, request) } else { engine.recall(request) }.unwrap()
        };
        let mut left = meanwhile.iter();
        let result = loop {
            let engine = self.engine.borrow().clone();
            let calls = match recall.advance(&engine, &Utf8Bytes) {
                Step::Done(result) => break result,
                Step::Failed(error) => panic!("{error}"),
                Step::Wait(calls) => calls,
            };
            if let Some(op) = left.next() {
                self.apply(op);
            }
            for call in calls {
                let outcome = match &call.kind {
                    // A backend and a provider that still know everything.
                    CallKind::Semantic { .. } => Outcome::Ids((0..9).map(|id: u8| id.to_string()).collect()),
                    CallKind::Provider { .. } => {
                        Outcome::Results(self.copies.borrow().iter().rev().cloned().collect(), 0)
                    }
                    CallKind::Rerank { candidates, .. } => {
                        Outcome::Ids(candidates.iter().rev().map(|candidate| candidate.id.clone()).collect())
                    }
                    CallKind::Plan { .. } => match asked.planner {
                        Planner::Hangs => Outcome::TimedOut,
                        says => Outcome::Plan(ProposedPlan {
                            should_retrieve: Some(says != Planner::No),
                            topics: vec!["Falcon".into()],
                            requests: (says == Planner::Rewrites)
                                .then(|| [STORE_ID, "copies"].map(|id| (id, "falcon number1 number2")))
                                .into_iter()
                                .flatten()
                                .map(|(id, query)| ProposedRequest { provider_id: id.into(), query: query.into() })
                                .collect(),
                            ..ProposedPlan::default()
                        }),
                    },
                    CallKind::Embed { .. } if asked.embedder_fails => Outcome::Failed("down".into()),
                    CallKind::Embed { texts } => {
                        let mut vector = vec![0.0; HashEmbedder::DIMENSIONS];
                        HashEmbedder.embed(&texts[0], &mut vector);
                        Outcome::Vectors(vec![vector])
                    }
                };
                recall.settle(call.id, outcome, 1.0);
            }
        };
        self.check(&result, asked, now);
        if preparing {
            self.engine.borrow_mut().keep(&recall, &result);
        }
        left.for_each(|op| self.apply(op));
    }

    fn check(&self, result: &RecallResult, how: Asked, now: i64) {
        let Asked { id: asked, who, history, .. } = how;
        let as_of = how.as_of.map(|back| now - i64::from(back));
        let known = self.known.borrow();
        let lives = |expires: Option<i64>| expires.is_none_or(|expires| expires > now);
        for entry in &result.evidence {
            assert!(
                how.kind.is_none_or(|kind| entry.kind == KINDS[usize::from(kind)]),
                "{} is a {}",
                entry.id,
                entry.kind
            );
            if entry.provider_id == STORE_ID {
                let id: u8 = entry.id.parse().unwrap();
                let record = known.get(&id).unwrap_or_else(|| panic!("{id} was forgotten"));
                match as_of {
                    _ if history => {
                        let labelled = entry.freshness == crate::rank::Freshness::Historical;
                        assert!(labelled || as_of.is_some() || !record.withdrawn, "{id} is not labelled: {record:?}");
                    }
                    // What was withdrawn held until what replaced it began; where nobody knows when, it is not told.
                    Some(moment) => {
                        assert!(record.created <= moment, "{id} did not hold yet at {moment}: {record:?}");
                        let end = record.by.iter().filter_map(|by| known.get(by)).map(|by| by.created).max();
                        assert!(
                            !record.withdrawn || end.is_some_and(|end| moment < end),
                            "{id} at {moment}: {record:?}"
                        );
                    }
                    None => assert!(!record.withdrawn, "{id} was withdrawn: {record:?}"),
                }
                assert!(lives(record.expires), "{id} is expired: {record:?} at {now}");
                assert!(scope(who).admits(&scope(record.owner)), "{id} is not for {who}: {record:?}");
            } else {
                let copies = self.copies.borrow();
                let copy = copies.iter().find(|copy| copy.id == entry.id).unwrap();
                assert!(lives(copy.expires.map(|time| time.0)) && scope(who).admits(&copy.scope), "{}", entry.id);
                let hidden = self.windows.borrow().iter().any(|window| copy.subject == format!("subject{window}"));
                assert!(!hidden || history, "{} is suppressed", entry.id);
            }
        }
        let must_be_found = known.get(&asked).filter(|record| {
            !record.withdrawn
                && as_of.is_none()
                && how.kind.is_none_or(|of| KINDS[usize::from(of)] == kind(asked))
                && matches!(how.planner, Planner::Yes | Planner::Hangs)
                && lives(record.expires)
                && scope(who).admits(&scope(record.owner))
                && !self.replaced.borrow().contains(&asked)
        });
        if must_be_found.is_some() {
            let found =
                |entry: &crate::rank::Evidence| entry.sources.iter().any(|source| source.id == asked.to_string());
            assert!(result.evidence.iter().any(found), "{asked} is not found by {who}: {:?}", result.evidence);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_interleaving_serves_what_may_not_be_served(ops in proptest::collection::vec(op(), 1..40)) {
        let world = World::new();
        ops.iter().for_each(|op| world.apply(op));
    }
}
