//! Hints promote and never remove.

use super::*;

fn fact(id: &str, subject: &str, predicate: &str, text: &str) -> Record {
    Record { subject: subject.into(), predicate: predicate.into(), ..Record::new(id, text) }
}

fn people() -> Engine {
    engine(vec![
        fact("ada-tea", "Ada", "favourite drink", "Ada drinks green tea with breakfast, tea again at four."),
        fact("bob-tea", "Bob", "favourite drink", "Bob likes tea."),
        fact("bob-work", "Bob", "works at", "Bob sells tea at the harbour market."),
        fact("no-one", "", "", "Tea is sold by weight."),
    ])
}

fn search(engine: &Engine, about: Option<&str>, attribute: Option<&str>) -> RecallResult {
    let request = Request { about: about.map(String::from), attribute: attribute.map(String::from), ..ask("tea") };
    engine.run(engine.search(request).unwrap())
}

fn place(result: &RecallResult, id: &str) -> usize {
    ids(result).iter().position(|known| *known == id).unwrap()
}

#[test]
fn what_matches_rises_and_nothing_is_removed() {
    let engine = people();
    let plain = search(&engine, None, None);
    let set =
        |result: &RecallResult| ids(result).into_iter().map(String::from).collect::<std::collections::BTreeSet<_>>();
    for (about, attribute, id) in [
        (Some("ada"), None, "ada-tea"),
        (Some("BOB"), None, "bob-work"),
        (None, Some("worksAt"), "bob-work"),
        (None, Some("works_at"), "bob-work"),
        (Some("Bob"), Some("favourite drinks"), "bob-tea"),
    ] {
        let hinted = search(&engine, about, attribute);
        assert_eq!(set(&hinted), set(&plain), "{about:?} {attribute:?}");
        let score = |result: &RecallResult| result.evidence[place(result, id)].score;
        assert!(score(&hinted) > score(&plain), "{about:?} {attribute:?}: {:?}", ids(&hinted));
        assert!(place(&hinted, id) <= place(&plain, id), "{about:?} {attribute:?}: {:?}", ids(&hinted));
        let entry = &hinted.evidence[place(&hinted, id)];
        assert!(entry.reasons.iter().any(|reason| reason.starts_with("promoted by the hint")));
        let sum: f64 = entry.components.iter().map(|part| part.contribution).sum();
        assert!((sum - entry.score).abs() < 1e-9);
    }
}

#[test]
fn a_hint_that_matches_nothing_changes_nothing() {
    let mut engine = people();
    engine.remember(vec![Record::new("fresh", "Tea was cheap today.")]).unwrap();
    let plain = search(&engine, None, None);
    for (about, attribute) in
        [(Some("Zoe"), None), (None, Some("shoe size")), (Some("Zoe"), Some("x")), (Some(""), Some("?!"))]
    {
        assert_eq!(search(&engine, about, attribute), plain, "{about:?} {attribute:?}");
    }
    let recall =
        |about: Option<String>| engine.run(engine.recall(Request { about, ..ask("What tea does Bob like?") }).unwrap());
    assert_eq!(recall(Some("Zoe".into())), recall(None));
}

#[test]
fn the_copy_reaches_deeper_than_the_ranking() {
    let mut records: Vec<Record> = (0..40)
        .map(|at| fact(&format!("t{at:02}"), "Zoe", "", &format!("In the report {at} somebody mentions tea once.")))
        .collect();
    records.push(fact("deep", "Ada", "", "In the report 40 somebody mentions tea once."));
    let engine = engine_with(records, Config { semantic_timeout_ms: 0.0, ..Config::default() });
    let request = |about: Option<&str>| Request { about: about.map(String::from), limit: Some(30), ..ask("tea") };
    let plain = engine.run(engine.search(request(None)).unwrap());
    assert!(!ids(&plain).contains(&"deep"));
    let hinted = engine.run(engine.search(request(Some("Ada"))).unwrap());
    assert_eq!(ids(&hinted)[0], "deep");
}

#[test]
fn a_fresh_record_that_does_not_say_is_boosted_not_dropped() {
    let mut engine = people();
    engine.remember(vec![Record::new("fresh", "Tea was cheap today, at the harbour market.")]).unwrap();
    let score = |result: &RecallResult, id: &str| result.evidence[place(result, id)].score;
    let (plain, hinted) = (search(&engine, None, None), search(&engine, Some("Ada"), None));
    assert!(score(&hinted, "fresh") > score(&plain, "fresh"));
    assert_eq!(score(&hinted, "no-one"), score(&plain, "no-one"), "the snapshot's own is not");
}

#[test]
fn another_name_of_a_known_entity_means_it() {
    let wife = crate::memory::KnownEntity { name: "Ada".into(), aliases: vec!["my wife".into()], ..Default::default() };
    let mut builder = SnapshotBuilder::new(IndexConfig::default(), None);
    builder.add_entity(wife);
    builder.add(fact("ada", "Ada", "", "She drinks tea.")).unwrap();
    builder.add(fact("zoe", "Zoe", "", "Tea, tea and tea.")).unwrap();
    let engine = Engine::load(builder.finish().unwrap(), Config::default(), None).unwrap();
    let hinted = search(&engine, Some("my wife"), None);
    let entry = &hinted.evidence[place(&hinted, "ada")];
    assert!(entry.components.iter().any(|part| part.name == "about"));
}
