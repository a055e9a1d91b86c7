//! The built-in store, seen through the one path.

use std::cell::Cell;

use super::*;
use crate::memory::KnownEntity;
use crate::retrieve::{FusionMethod, Query, Scratch, SearchConfig, Side, View};

fn search(engine: &Engine, prompt: &str) -> Vec<String> {
    let result = engine.run(engine.search(ask(prompt)).unwrap());
    result.evidence.into_iter().map(|entry| entry.id).collect()
}

#[test]
fn words_without_a_topic_rank_and_admit_nothing() {
    let about = |id: &str, text: &str| Record { subject: "my".into(), ..Record::new(id, text) };
    let engine = engine(vec![
        about("tea", "What I like most of all is my green tea, and this is what it is."),
        about("home", "My home is in Kiel, and what is there is mine."),
        about(
            "visit",
            "Please tell the concierge at the harbour office, who will show everybody the way up to the tower.",
        ),
    ]);
    for prompt in ["What is the capital of France?", "What is my?", "And what is it?"] {
        assert_eq!(search(&engine, prompt), [""; 0], "{prompt}");
        let result = engine.run(engine.recall(ask(prompt)).unwrap());
        assert!(result.evidence.is_empty() && result.block.recall.is_empty(), "{prompt}");
    }
    assert_eq!(search(&engine, "What is my green tea?"), ["tea"]);
    // Words of routine do bring records up; they stay outside.
    assert_eq!(search(&engine, "Please show my green tea"), ["tea"]);
}

#[test]
fn a_date_raises_what_is_of_that_time_and_removes_nothing() {
    let on = |id: &str, dock: u32, day: &str| Record {
        created: Timestamp::parse(day),
        ..Record::new(id, format!("The ferry was painted in dock {dock}."))
    };
    let engine = engine(vec![on("march", 1, "2025-03-04"), on("may", 2, "2025-05-12"), on("june", 3, "2025-06-20")]);
    let first = |prompt: &str| {
        let ids = search(&engine, prompt);
        assert_eq!(ids.len(), 3, "{prompt}");
        ids.into_iter().next().unwrap()
    };
    assert_eq!(first("Which ferry was painted on 12 May 2025?"), "may");
    assert_eq!(first("Which ferry was painted on 20 June 2025?"), "june");
    assert_eq!(first("Which ferry was painted in March 2025?"), "march");
}

#[test]
fn scope_importance_and_age_decide_between_equals() {
    let now = Timestamp::parse("2025-12-01");
    let ana = Scope::global().with("user", "ana");
    let crane = |id: &str, number: u32| Record::new(id, format!("Crane {number} was painted by the night crew."));
    // The second of each pair is the better one; of equals, the first would lead.
    let pairs = [
        ("scope", crane("a", 1), Record { scope: ana.clone(), ..crane("b", 2) }),
        (
            "importance",
            Record { importance: Some(0.2), ..crane("a", 1) },
            Record { importance: Some(0.9), ..crane("b", 2) },
        ),
        (
            "recency",
            Record { created: Timestamp::parse("2025-09-01"), ..crane("a", 1) },
            Record { created: Timestamp::parse("2025-11-28"), ..crane("b", 2) },
        ),
        ("stale", Record { created: Timestamp::parse("2022-01-01"), ..crane("a", 1) }, crane("b", 2)),
    ];
    for (name, first, second) in pairs {
        let engine = engine(vec![first, second]);
        let request = Request { scope: ana.clone(), now, ..ask("Who painted the crane?") };
        let result = engine.run(engine.search(request).unwrap());
        assert_eq!(ids(&result), ["b", "a"], "{name}");
        assert!(result.evidence.iter().any(|entry| entry.components.iter().any(|part| part.name == name)), "{name}");
    }
}

#[test]
fn every_field_is_searched_and_neighbours_at_low_weight() {
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
    let entity = KnownEntity { name: "Rhea".into(), aliases: vec!["quokka".into()], ..KnownEntity::default() };
    builder.add_entity(entity);
    let of = |id: &str, set: fn(&mut Record)| {
        let mut record = Record::new(id, "Plain words stand here.");
        set(&mut record);
        record
    };
    let fields = [
        of("subject", |record| record.subject = "Wombat".into()),
        of("entities", |record| record.entities = vec!["numbat".into()]),
        of("aliases", |record| record.subject = "Rhea".into()),
        of("predicate", |record| record.predicate = "bilby".into()),
        of("tags", |record| record.tags = vec!["dingo".into()]),
        of("cues", |record| record.cues = vec!["possum".into()]),
        of("statement", |record| record.statement = "Here stands an echidna.".into()),
        of("title", |record| record.title = "Platypus".into()),
    ];
    let words = ["wombat", "numbat", "quokka", "bilby", "dingo", "possum", "echidnas", "platypus"];
    let expected = fields.each_ref().map(|record| record.id.clone());
    let turn = |(at, text): (u32, &str)| {
        let mut record = Record { kind: "turn".into(), ..Record::new(format!("turn{at}"), text) };
        record.source.session = "s".into();
        record.source.position = Some(at);
        record
    };
    let turns = (0..).zip(["We saw a thylacine.", "Really, where was that?"]).map(turn);
    fields.into_iter().chain(turns).for_each(|record| builder.add(record).unwrap());
    let engine = Engine::load(builder.finish().unwrap(), Config::default(), None).unwrap();
    for (word, id) in words.iter().zip(&expected) {
        assert_eq!(search(&engine, &format!("the {word}")).first(), Some(id), "{word}");
    }
    assert_eq!(search(&engine, "thylacine"), ["turn0", "turn1"], "the neighbour counts for less");
}

/// A turn of one conversation.
fn said(at: u32, speaker: &str, text: &str) -> Record {
    let mut record = Record { kind: "turn".into(), ..Record::new(format!("{speaker}{at}"), text) };
    record.source.session = format!("s{at}");
    record.source.position = Some(at);
    record.source.speaker = speaker.into();
    record
}

#[test]
fn turns_that_ask_stand_behind_those_that_tell() {
    let engine = engine(vec![
        said(0, "Ana", "The kiln for the pottery? Did the kiln break?"),
        said(1, "Ana", "The pottery has a new kiln, it came by truck."),
        said(2, "Ana", "Look, the kiln of the pottery. Is it hot?"),
    ]);
    let result = engine.run(engine.search(ask("the kiln of the pottery")).unwrap());
    let asks = |id: &str| {
        let entry = result.evidence.iter().find(|entry| entry.id == id).unwrap();
        entry.components.iter().find(|component| component.name == "asks").map(|asks| (asks.value, asks.contribution))
    };
    assert_eq!(asks("Ana0"), Some((1.0, -0.15)));
    assert_eq!(asks("Ana1"), None);
    let (share, taken) = asks("Ana2").unwrap();
    assert!((0.2..0.5).contains(&share) && taken == -0.15 * share);
    assert_eq!(result.evidence.last().map(|entry| entry.id.as_str()), Some("Ana0"));
}

#[test]
fn of_several_whom_the_prompt_names_the_first_counts_most() {
    let engine = engine(vec![
        said(0, "Ana", "The kiln will come on Tuesday."),
        said(1, "Jo", "The kiln will come on Tuesday, I hear."),
        said(2, "Tim", "The kiln will come on Tuesday, they say."),
    ]);
    for (prompt, first) in [
        ("What did Ana tell Jo about the kiln?", "Ana0"),
        ("What did Jo tell Ana about the kiln?", "Jo1"),
        ("What did Tim say to Ana and Jo about the kiln?", "Tim2"),
    ] {
        assert_eq!(search(&engine, prompt).first().map(String::as_str), Some(first), "{prompt}");
    }
}

#[test]
fn rankings_take_twenty_and_ten_and_both_are_settings() {
    let records = (0..60).map(|at| Record::new(format!("r{at}"), format!("Falcon number {at} has landed.")));
    let engine = engine(records.collect());
    let store = engine.store();
    let query = Query::new("falcon", &[], &Scope::global(), None);
    let mut vector = vec![0.0; HashEmbedder::DIMENSIONS];
    crate::embed::EmbeddingModel::embed(&HashEmbedder, "falcon", &mut vector);
    let side = Side { vector: crate::index::Probe::new(&crate::embed::quantize(&vector)), share: 0.3 };
    let count = |config: &SearchConfig| {
        let masks = store.masks(&View::default());
        let hits = store.search(&query, Some(&side), &masks, config, &mut Scratch::default()).hits;
        let of = |rank: fn(&crate::retrieve::Hit) -> Option<u32>| hits.iter().filter(|hit| rank(hit).is_some()).count();
        (of(|hit| hit.lexical_rank), of(|hit| hit.semantic_rank))
    };
    assert_eq!(count(&SearchConfig::default()), (20, 10));
    assert_eq!(count(&SearchConfig { lexical_limit: 7, semantic_limit: 3, ..SearchConfig::default() }), (7, 3));
    assert_eq!(SearchConfig::default().rrf_k, 60.0);
    // Both merges are there; in reciprocal ranks the best of the words' ranking has the whole of its share.
    for (fusion, best) in [(FusionMethod::Rrf, 0.7), (FusionMethod::Weighted, 0.7)] {
        let config = SearchConfig { fusion, semantic_share: Some(0.3), ..SearchConfig::default() };
        let masks = store.masks(&View::default());
        let hits = store.search(&query, Some(&side), &masks, &config, &mut Scratch::default()).hits;
        let first = hits.iter().find(|hit| hit.lexical_rank == Some(1)).unwrap();
        assert!((first.lexical_share - best).abs() < 1e-4, "{fusion:?}");
        let tenth = hits.iter().find(|hit| hit.lexical_rank == Some(10)).unwrap();
        let expected =
            if fusion == FusionMethod::Rrf { best * 61.0 / 70.0 } else { best * tenth.lexical / first.lexical };
        assert!((tenth.lexical_share - expected).abs() < 1e-4, "{fusion:?}");
    }
}

#[test]
fn records_of_other_scopes_change_no_score_no_reason_and_no_decision() {
    let ana = Scope::global().with("user", "ana");
    let mine = [
        Record::new("round", "We decided that billing rounds refunds down."),
        Record::new("retry", "Refunds are retried three times."),
    ];
    let alone = engine(mine.to_vec());
    let hers = (0..20).map(|at| Record {
        scope: ana.clone(),
        subject: "Refunds".into(),
        ..Record::new(format!("hers{at}"), "Billing, refunds, rounding: decided by Ana, refunds again.")
    });
    let together = engine(mine.into_iter().chain(hers).collect());
    for prompt in ["What did we decide about rounding refunds in billing?", "Ana's refunds?", "What is the plan?"] {
        let [one, other] = [&alone, &together].map(|engine| {
            let result = engine.run(engine.recall(ask(prompt)).unwrap());
            (result.plan, result.evidence, result.block, result.providers)
        });
        assert_eq!(one, other, "{prompt}");
    }
}

#[test]
fn a_prompt_is_embedded_once_whoever_else_is_asked() {
    let mut engine = engine(vec![
        Record::new("a", "Billing rounds refunds down."),
        Record::new("b", "Refunds in billing are retried."),
    ]);
    engine.set_injected(Injected { semantic: true, reranker: true, ..Injected::default() });
    engine.set_embedder("remem-local-hash-v1", HashEmbedder::DIMENSIONS).unwrap();
    let all = ProviderSpec { id: "wiki".into(), ..ProviderSpec::default() };
    engine.add_provider(all).unwrap();
    let (embedded, calls) = (Cell::new(0), Cell::new(0));
    let request = Request { providers: vec!["wiki".into()], ..ask("How are refunds in billing rounded?") };
    drive(&engine, engine.recall(request).unwrap(), |kind| {
        calls.set(calls.get() + 1);
        embedded.set(embedded.get() + usize::from(matches!(kind, CallKind::Embed { .. })));
        None
    });
    assert_eq!((embedded.get(), calls.get()), (1, 4));
}

#[test]
fn a_new_record_is_found_at_once_by_text_and_cues_by_links_and_community_once_folded_in() {
    let mut engine = engine(vec![Record::new("a", "The kiln needs a new element before the glaze firing.")]);
    let cued = Record { cues: vec!["pottery deadline".into()], ..Record::new("b", "The kiln glaze firing is in May.") };
    for (at, record) in [cued, Record::new("c", "A hotter kiln suits the glaze firing.")].into_iter().enumerate() {
        engine.remember(vec![record]).unwrap();
        assert_eq!(engine.store().learned(), at + 1);
    }
    assert_eq!(search(&engine, "When is the pottery deadline?"), ["b"]);
    assert_eq!(search(&engine, "hotter kiln").first().map(String::as_str), Some("c"));
    assert!(engine.store().segments()[1].links().is_empty());
    let themes = |engine: &Engine| engine.themes(&ThemesRequest::default()).unwrap();
    assert!(themes(&engine).is_empty());
    let reloaded = Engine::load(engine.compact().unwrap(), Config::default(), Some(Arc::new(HashEmbedder))).unwrap();
    assert!(!reloaded.store().base().links().is_empty());
    assert_eq!(themes(&reloaded)[0].size, 3);
}

#[test]
fn a_thousand_records_learned_one_by_one_are_all_there() {
    let mut engine = Engine::empty(Config::default(), None).unwrap();
    for at in 0..1000 {
        engine.remember(vec![Record::new(format!("r{at}"), format!("Falcon {at} has landed."))]).unwrap();
    }
    assert_eq!(engine.store().learned(), 1000);
    assert_eq!(search(&engine, "falcon 777").first().map(String::as_str), Some("r777"));
    assert!(engine.forget("r777"));
    assert!(!search(&engine, "falcon 777").contains(&"r777".to_string()));
}
