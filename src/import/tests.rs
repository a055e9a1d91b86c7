use super::*;
use crate::memory::{Status, Timestamp};

/// Imports notes and gives the result, with the records' topics and all.
fn notes(notes: &[(&str, &str)]) -> Import {
    let mut importer = Importer::new();
    for (name, text) in notes {
        importer.markdown(name, text);
    }
    importer.finish()
}

fn reports(import: &Import) -> Vec<String> {
    import.reports.iter().map(ToString::to_string).collect()
}

fn record<'a>(import: &'a Import, id: &str) -> &'a Record {
    let ids: Vec<&str> = import.records.iter().map(|record| record.id.as_str()).collect();
    match import.records.iter().find(|record| record.id == id) {
        Some(record) => record,
        None => panic!("no record `{id}` among {ids:?}"),
    }
}

#[test]
fn every_field_of_front_matter_arrives() {
    let import = notes(&[(
        "work/billing.md",
        "---\n\
         id: billing\n\
         kind: decision\n\
         title: 'Billing rewrite'\n\
         aliases: [invoice engine, \"the rewrite\"]\n\
         tags: [\"#money\", work]\n\
         summary: >\n  Refunds and rounding,\n  from the ground up.\n\
         subject: billing\n\
         predicate: rounding\n\
         entities: [\"[[people/Rhea|my wife]]\", Stripe]\n\
         cues:\n  - how do we round?\n\
         unresolved: true\n\
         confidence: 0.75\n\
         importance: 1\n\
         created: 2026-03-01\n\
         updatedAt: 2026-03-02T08:30:00Z\n\
         valid_from: 2026-03\n\
         validUntil: 2027-01-01\n\
         expires: 2028-01-01\n\
         scope:\n  tenant: acme\n  user: ana\n\
         source:\n  uri: https://example.org/x\n  speaker: Ana\n\
         session: standup\n\
         ---\n\
         # Billing\n\nRefunds round half to even.\n",
    )]);
    assert_eq!(reports(&import), Vec::<String>::new());
    let found = record(&import, "billing");
    let day = |text| Timestamp::parse(text);
    let expected = Record {
        id: "billing".into(),
        kind: "decision".into(),
        topic: Some("billing".into()),
        subject: "billing".into(),
        predicate: "rounding".into(),
        statement: "Billing\n\nRefunds round half to even.".into(),
        title: "Billing rewrite".into(),
        cues: vec!["how do we round?".into(), "invoice engine".into(), "the rewrite".into()],
        tags: vec!["money".into(), "work".into()],
        entities: vec!["Rhea".into(), "Stripe".into()],
        unresolved: true,
        confidence: Some(0.75),
        importance: Some(1.0),
        created: day("2026-03-01"),
        updated: day("2026-03-02T08:30:00Z"),
        valid_from: day("2026-03-01"),
        valid_until: day("2027-01-01"),
        expires: day("2028-01-01"),
        scope: Scope::global().with("tenant", "acme").with("user", "ana"),
        source: crate::memory::Source {
            uri: "https://example.org/x".into(),
            session: "standup".into(),
            position: Some(0),
            speaker: "Ana".into(),
            ..Default::default()
        },
        ..Record::default()
    };
    assert_eq!(*found, expected);
    let topic = &import.topics[0];
    assert_eq!((topic.id.as_str(), topic.title.as_str()), ("billing", "Billing rewrite"));
    assert_eq!(topic.summary, "Refunds and rounding, from the ground up.");
    assert_eq!(topic.aliases, ["invoice engine", "the rewrite"]);
    assert_eq!(topic.tags, ["money", "work"]);
    assert!(topic.unresolved);
    assert_eq!(topic.scope, expected.scope);
}

#[test]
fn a_note_becomes_a_record_for_each_section() {
    // name, text, [(id, title, statement)]
    type Expected = [(&'static str, &'static str, &'static str)];
    let cases: &[(&str, &str, &Expected)] = &[
        ("a.md", "# Title\nText.", &[("a", "Title", "Text.")]),
        ("dir/my-note.md", "Text.", &[("dir/my-note", "my note", "Text.")]),
        ("a.md", "\u{feff}# Title\r\n\r\nText.\r\n", &[("a", "Title", "Text.")]),
        (
            "a.md",
            "# T\nIntro.\n\n## One\nFirst.\n### Deeper\nStill first.\n\n## Two ##\nSecond.",
            &[
                ("a", "T", "Intro."),
                ("a#one", "T: One", "First.\n### Deeper\nStill first."),
                ("a#two", "T: Two", "Second."),
            ],
        ),
        ("a.md", "# T\n## Only\nText.", &[("a", "T: Only", "Text.")]),
        (
            "a.md",
            "# T\n## Same\n1\n## Same\n2\n## !!\n3",
            &[("a#same", "T: Same", "1"), ("a#same-2", "T: Same", "2"), ("a#section", "T: !!", "3")],
        ),
        (
            "a.md",
            "Title\n=====\nIntro.\n\nOne\n---\nFirst.\n\n- item\n---\nAfter the rule.\n\ntwo lines\nof text\n---\nEnd.",
            &[
                ("a", "Title", "Intro."),
                ("a#one", "Title: One", "First.\n\n- item\n---\nAfter the rule.\n\ntwo lines\nof text\n---\nEnd."),
            ],
        ),
        (
            "a.md",
            "# T\n```\n## no heading\n<!-- kept -->\n[[kept]]\n```\n\n## S\ntext",
            &[("a", "T", "```\n## no heading\n<!-- kept -->\n[[kept]]\n```"), ("a#s", "T: S", "text")],
        ),
        ("a.md", "# T\none <!-- hidden --> two\n<!--\n## hidden\n-->\nthree", &[("a", "T", "one  two\nthree")]),
        (
            "a.md",
            "# T\nSee [[dir/Rhea|my wife]], [[Kafka]], ![[i.png]], `[[code]]` and [[.",
            &[("a", "T", "See my wife, Kafka, ![[i.png]], `[[code]]` and [[.")],
        ),
        ("a.md", "---\ntitle: Other\n---\n# T\nText.", &[("a", "Other", "T\n\nText.")]),
        ("a.md", "---\ntitle: T\nsummary: Short.\n---\n", &[("a", "T", "Short.")]),
        ("a.md", "---\ntitle: Only a title\n---\n", &[("a", "Only a title", "")]),
        ("a.md", "# T\n## Buy milk\n## Call Bob\n", &[("a", "T", "Buy milk\nCall Bob")]),
        ("a.md", "---\n\nA rule, no front matter.\n", &[("a", "a", "---\n\nA rule, no front matter.")]),
        ("a.md", "# T\n#tag is no heading\n#\t\n", &[("a", "T", "#tag is no heading")]),
        ("2026-03-01-standup.md", "Text.", &[("2026-03-01-standup", "2026-03-01 standup", "Text.")]),
    ];
    for (name, text, expected) in cases {
        let import = notes(&[(name, text)]);
        let found: Vec<(&str, &str, &str)> = import
            .records
            .iter()
            .map(|record| (record.id.as_str(), record.title.as_str(), record.statement.as_str()))
            .collect();
        assert_eq!(found, *expected, "{text}");
        assert_eq!(reports(&import), Vec::<String>::new(), "{text}");
        for (position, record) in import.records.iter().enumerate() {
            assert_eq!(record.source.position, Some(position as u32));
            assert_eq!(record.source.session, import.topics[0].id);
            assert_eq!(record.source.uri, *name);
            assert_eq!(record.topic.as_deref(), Some(import.topics[0].id.as_str()));
            assert_eq!(record.kind, "note");
        }
    }
}

#[test]
fn notes_of_one_session_follow_each_other() {
    let import = notes(&[
        ("a.md", "---\nsession: s\n---\nOne.\n## Two\nText."),
        ("b.md", "---\nsession: s\n---\nThree."),
        ("c.md", "---\nsource: {session: s, position: 9}\n---\nTen.\n## Eleven\nText."),
    ]);
    let positions: Vec<Option<u32>> = import.records.iter().map(|record| record.source.position).collect();
    assert_eq!(positions, [0, 1, 2, 9, 10].map(Some));
}

#[test]
fn links_become_entities_and_file_dates_become_times() {
    let import = notes(&[("2026-03-01.md", "# T\nWith [[dir/Rhea#Early|her]] and [[rhea]] and [[Kafka]].")]);
    assert_eq!(import.records[0].entities, ["Rhea", "Kafka"]);
    assert_eq!(import.records[0].created, Timestamp::parse("2026-03-01"));
}

#[test]
fn a_long_section_is_cut_and_code_is_kept_whole() {
    let paragraph = "A sentence about rounding. ".repeat(30);
    let code = format!("```rust\n{}```", "let x = 1;\n\n".repeat(200));
    let text = format!("# T\n{paragraph}\n\n{paragraph}\n\n## Code\n{code}\n\n{paragraph}");
    let import = notes(&[("a.md", &text)]);
    let ids: Vec<&str> = import.records.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(ids, ["a", "a#2", "a#code", "a#code-2"]);
    assert_eq!(record(&import, "a#code").statement, code);
}

#[test]
fn faults_are_reported_by_line_and_skip_nothing_else() {
    // text, reports, number of records
    let cases: &[(&str, &[&str], usize)] = &[
        ("", &["a.md: is empty"], 0),
        (" \n\n", &["a.md: is empty"], 0),
        ("---\ntags: [x]\n---\n", &["a.md: has no text and no title"], 0),
        ("---\nmood: good\n---\nText.", &["a.md:2: unknown key `mood` is ignored"], 1),
        ("---\ntitle T\ntags: [x]\n---\nText.", &["a.md:2: expected `key: value`, found `title T`"], 1),
        (
            "---\nstatus: done\nconfidence: 7\ncreated: soon\nunresolved: maybe\nid: [a]\ntags: {a: b}\n---\nText.",
            &[
                "a.md:2: `status: done`: expected `active`, `archived` or `deleted` (kept as active)",
                "a.md:3: `confidence`: expected a number from 0 to 1",
                "a.md:4: `created`: expected a date such as 2026-03-01 or 2026-03-01T08:30:00Z",
                "a.md:5: `unresolved`: expected true or false",
                "a.md:6: `id`: expected one value",
                "a.md:7: `tags`: expected a list such as `[a, b]`",
            ],
            1,
        ),
        ("---\nid: a\nid: b\n---\nText.", &["a.md:3: `id` is given twice: the first is kept"], 1),
        (
            "---\ntitle: T\ntags: [x]\n\nText.",
            &["a.md:1: front matter opens here and never closes: expected `---` on a line of its own"],
            1,
        ),
        ("Text <!-- open", &["a.md:1: a comment opens here and never closes: kept as text"], 1),
        (
            "---\nsupersedes: [old]\nsuperseded_by: new\n---\nText.",
            &[
                "a.md:2: `supersedes` names `old`, which no note or record is called",
                "a.md:2: `superseded_by` names `new`, which no note or record is called",
            ],
            1,
        ),
        (
            "---\nkind: entity\n---\nText.",
            &["a.md:1: `kind: entity` names nobody: expected `entity: name`, `subject` or `title`"],
            1,
        ),
    ];
    for (text, expected, count) in cases {
        let import = notes(&[("a.md", text), ("b.md", "Fine.")]);
        assert_eq!(reports(&import), *expected, "{text}");
        assert_eq!(import.records.len(), count + 1, "{text}");
    }
}

#[test]
fn a_note_whose_scope_cannot_be_read_is_left_out() {
    for front in [
        "scope: acme",
        "scope:",
        "scope: [acme]",
        "scope: {tenant: acme",
        "scope: {tenant: }",
        "scope: {tenant}",
        "scope {tenant: acme}",
        "scopes: {tenant: acme}",
        "scope.tenant: acme",
        "scope:\n\ttenant: acme",
        "scope: {tenant: acme}\nscope: {tenant: globex}",
        "scope: {tenant: acme, tenant: globex}",
        "title: x\n  scope: {tenant: acme}",
    ] {
        for close in ["---\n", ""] {
            let import = notes(&[("a.md", &format!("---\n{front}\n{close}\nSecret.")), ("b.md", "Fine.")]);
            assert_eq!(import.records.len(), 1, "{front}");
            assert!(
                import.reports.iter().any(|report| report.severity == Severity::Skipped),
                "{front}: {:?}",
                reports(&import)
            );
        }
    }
    for (front, expected) in [
        ("scope: {}", Scope::global()),
        ("Scope: {tenant: 'a'}", Scope::global().with("tenant", "a")),
        ("scope:\n  tenant: a # b", Scope::global().with("tenant", "a")),
    ] {
        let import = notes(&[("a.md", &format!("---\n{front}\n---\nText."))]);
        assert_eq!(import.records[0].scope, expected, "{front}");
        assert_eq!(reports(&import), Vec::<String>::new());
    }
}

#[test]
fn bytes_that_are_not_utf8_are_reported_by_line() {
    let mut importer = Importer::new();
    importer.markdown_bytes("latin.md", b"fine\ncaf\xe9\n");
    importer.markdown_bytes("wide.md", b"\xff\xfea\0b\0");
    importer.markdown_bytes("good.md", "\u{feff}café".as_bytes());
    let import = importer.finish();
    assert_eq!(
        reports(&import),
        ["latin.md:2: is not UTF-8 (byte 8 of the file): save it as UTF-8", "wide.md:1: is UTF-16: save it as UTF-8"]
    );
    assert_eq!(import.records[0].statement, "café");
}

#[test]
fn ids_that_are_taken_fall_back_to_the_path() {
    let import = notes(&[
        ("x/a.md", "---\nid: a\n---\nOne."),
        ("y/a.md", "---\nid: a\n---\nTwo."),
        ("y/a.markdown", "Three."),
        ("z.md", "---\nid: a#s\n---\nFour."),
        ("a.md", "Intro.\n## S\nFive."),
    ]);
    let ids: Vec<&str> = import.records.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(ids, ["a", "y/a", "y/a~2", "a#s", "a~2", "a~2#s"]);
    assert_eq!(
        reports(&import),
        [
            "y/a.md:2: the id `a` is taken: imported as `y/a`",
            "y/a.markdown: the id `y/a` is taken: imported as `y/a~2`",
            "a.md: the id `a` is taken: imported as `a~2`",
        ]
    );
    let long = "é".repeat(200);
    let import = notes(&[(&format!("{long}1.md"), "One."), (&format!("{long}2.md"), "Two.\n## S\nThree.")]);
    assert_eq!(import.records.len(), 3);
    assert!(import.records.iter().all(|record| record.id.len() <= Record::MAX_ID_BYTES));
}

#[test]
fn supersession_reaches_every_record_in_both_directions() {
    let old = "# Old\nIntro.\n## One\nFirst.";
    // the two notes' front matter
    let cases = [
        ("", "supersedes: [old]"),
        ("", "supersedes: \"[[old]]\""),
        ("", "supersedes: Old"),
        ("", "supersedes: [old.md]"),
        ("superseded_by: new", ""),
        ("supersededBy: 'New'", ""),
        ("superseded_by: new", "supersedes: [old]"),
    ];
    for (front_old, front_new) in cases {
        let import = notes(&[
            ("new.md", &format!("---\n{front_new}\n---\n# New\nIntro.\n## Two\nSecond.")),
            ("old.md", &format!("---\n{front_old}\n---\n{old}")),
        ]);
        assert_eq!(reports(&import), Vec::<String>::new());
        for id in ["old", "old#one"] {
            assert_eq!(record(&import, id).superseded_by.as_deref(), Some("new"), "{front_old} {front_new}");
            assert_eq!(record(&import, id).topic, None);
        }
        assert_eq!(record(&import, "new").supersedes, ["old", "old#one"], "{front_old} {front_new}");
        assert_eq!(record(&import, "new").superseded_by, None);
        let topics: Vec<&str> = import.topics.iter().map(|topic| topic.id.as_str()).collect();
        assert_eq!(topics, ["new"]);
    }
}

#[test]
fn supersession_takes_nothing_away_from_a_wider_scope() {
    let narrow = "---\nscope: {tenant: acme}\nsupersedes: [old]\n---\nNew.";
    let import = notes(&[("new.md", narrow), ("old.md", "Old.")]);
    assert_eq!(record(&import, "old").superseded_by, None);
    assert_eq!(record(&import, "new").supersedes, ["old"]);
    assert_eq!(
        reports(&import),
        ["new.md:1: `new` supersedes `old` in a narrower scope: `old` stays for everyone else"]
    );
    // A wider note replaces a narrow one, but does not give its id away unasked.
    let import = notes(&[("new.md", "New."), ("old.md", "---\nscope: {tenant: acme}\nsuperseded_by: new\n---\nOld.")]);
    assert_eq!(record(&import, "old").superseded_by.as_deref(), Some("new"));
    assert_eq!(record(&import, "new").supersedes, Vec::<String>::new());
}

#[test]
fn a_circle_of_supersession_is_reported() {
    let import = notes(&[("a.md", "---\nsupersedes: [b]\n---\nA."), ("b.md", "---\nsupersedes: [a]\n---\nB.")]);
    assert_eq!(reports(&import), ["a.md:1: `a` is superseded in a circle: all of the circle is hidden"]);
    let import = notes(&[("a.md", "---\nsupersedes: [a]\n---\nA.")]);
    assert_eq!(reports(&import), ["a.md:2: `supersedes` names `a`, which is this note itself"]);
    assert_eq!(import.records[0].superseded_by, None);
}

#[test]
fn notes_out_of_use_make_no_topic() {
    for (front, status) in [
        ("catalog: false", Status::Active),
        ("status: archived", Status::Archived),
        ("status: deleted", Status::Deleted),
    ] {
        let import = notes(&[("a.md", &format!("---\n{front}\n---\nText."))]);
        assert_eq!(import.topics, []);
        assert_eq!(import.records[0].status, status);
        assert_eq!(import.records[0].topic, None);
    }
}

#[test]
fn notes_that_name_a_topic_share_it() {
    let import = notes(&[
        ("a.md", "---\ntopic: Billing\ntags: [x]\n---\n# Rounding\nText."),
        ("b.md", "---\ntopic: billing\naliases: [b]\nunresolved: true\n---\n# Refunds\nText."),
        ("c.md", "---\ntopic: Billing\nscope: {tenant: acme}\n---\n# Secret\nText."),
        ("d.md", "---\ntopic: Kafka\n---\n# Queues\nText."),
        ("e.md", "# Kafka\nText."),
        ("f.md", "---\ntopic: F\n---\n# F\nText."),
    ]);
    let found: Vec<(&str, Vec<&str>, bool)> = import
        .topics
        .iter()
        .map(|topic| (topic.id.as_str(), topic.aliases.iter().map(String::as_str).collect(), topic.unresolved))
        .collect();
    assert_eq!(
        found,
        [
            ("e", vec!["Queues"], false),
            ("f", vec![], false),
            ("Billing", vec!["Rounding", "Refunds", "b"], true),
            ("Billing~2", vec!["Secret"], false),
        ]
    );
    let topics: Vec<Option<&str>> = import.records.iter().map(|record| record.topic.as_deref()).collect();
    let expected = ["Billing", "Billing", "Billing~2", "e", "e", "f"].map(Some);
    assert_eq!(topics, expected);
}

#[test]
fn entity_notes_make_known_entities() {
    let import = notes(&[
        ("rhea.md", "---\nkind: entity\nentity: rhea\naliases: [my wife]\n---\n# Rhea Lindqvist\nPlays the cello."),
        ("kafka.md", "---\nkind: entity\ntitle: Kafka\naliases: [the queue]\nscope: {tenant: acme}\n---\n"),
        ("more.md", "---\nentity: rhea\naliases: [My wife, R.]\n---\nText."),
        ("gone.md", "---\nentity: ghost\nstatus: deleted\n---\nText."),
    ]);
    let found: Vec<(&str, Vec<&str>, bool)> = import
        .entities
        .iter()
        .map(|entity| {
            (entity.name.as_str(), entity.aliases.iter().map(String::as_str).collect(), entity.scope.is_global())
        })
        .collect();
    assert_eq!(found, [("rhea", vec!["my wife", "Rhea Lindqvist", "R."], true), ("Kafka", vec!["the queue"], false)]);
    assert_eq!(record(&import, "rhea").subject, "rhea");
    assert_eq!(record(&import, "rhea").entities, ["rhea"]);
}

#[cfg(not(target_arch = "wasm32"))]
mod json {
    use super::*;

    fn jsonl(text: &[u8]) -> Import {
        let mut importer = Importer::new();
        importer.jsonl("r.jsonl", text, Some(text.len() as u64), &mut |_| {});
        importer.finish()
    }

    #[test]
    fn each_line_is_a_record_a_topic_or_an_entity() {
        let import = jsonl(
            "\u{feff}{\"id\":\"a\",\"text\":\"One.\",\"valid_from\":\"2026-03-01\",\"source\":{\"uri\":\"x\"}}\r\n\
             \n\
             {\"type\":\"record\",\"id\":\"b\",\"statement\":\"Two.\",\"supersedes\":[\"a\"],\"scope\":{}}\n\
             {\"type\":\"topic\",\"title\":\"Billing\",\"tags\":[\"x\"]}\n\
             {\"type\":\"entity\",\"name\":\"rhea\",\"aliases\":[\"my wife\"]}"
                .as_bytes(),
        );
        assert_eq!(reports(&import), Vec::<String>::new());
        assert_eq!(record(&import, "a").superseded_by.as_deref(), Some("b"));
        assert_eq!(record(&import, "a").source.uri, "x");
        assert_eq!(import.topics[0].id, "Billing");
        assert_eq!(import.entities[0].aliases, ["my wife"]);
    }

    #[test]
    fn a_bad_line_is_reported_with_its_number_and_costs_nothing_else() {
        let cases: &[(&[u8], &str)] = &[
            (b"{\"id\":", "EOF while parsing a value (column 6)"),
            (b"[1]", "invalid type: sequence, expected a map"),
            (b"{\"id\":\"x\",\"statement\":5}", "invalid type: integer `5`, expected a string (column 23)"),
            (b"{\"id\":\"x\"}", "the record `x` has neither `statement` nor `title`: give it a text"),
            (b"{\"statement\":\"x\"}", "the record has no id: give it a unique `id`"),
            (b"{\"id\":\"a\",\"statement\":\"x\"}", "the id `a` is taken (by r.jsonl:1): the first is kept"),
            (b"{\"id\":\"x\",\"statement\":\"y\",\"mood\":1}", "unknown key `mood` is ignored, here and below"),
            (b"{\"id\":\"x\",\"statement\":\"y\",\"Scope\":{}}", "unknown key `Scope`: expected `scope`"),
            (b"{\"id\":\"x\",\"statement\":\"y\",\"scope\":\"acme\"}", "expected a map"),
            (b"{\"type\":\"fact\",\"id\":\"x\"}", "unknown type `fact`: expected record, topic or entity"),
            (b"{\"type\":\"topic\"}", "the topic has neither `id` nor `title`"),
            (b"{\"type\":\"entity\"}", "the entity has no `name`"),
            (b"{\"type\":\"entity\",\"name\":\"x\",\"observations\":[]}", "MCP memory graph"),
            (b"\xff", "the line is not UTF-8 (byte 1)"),
        ];
        for (line, expected) in cases {
            let mut text = b"{\"id\":\"a\",\"statement\":\"One.\"}\n".to_vec();
            text.extend_from_slice(line);
            text.extend_from_slice(b"\n{\"id\":\"z\",\"statement\":\"Last.\"}\n");
            let import = jsonl(&text);
            let found = reports(&import);
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].starts_with("r.jsonl:2: "), "{found:?}");
            assert!(found[0].contains(expected), "{found:?} holds {expected}");
            record(&import, "a");
            record(&import, "z");
        }
        assert_eq!(reports(&jsonl(b"\n")), ["r.jsonl: is empty"]);
    }

    #[test]
    fn reports_of_one_file_are_bounded_and_progress_reaches_the_end() {
        let text = "nonsense\n".repeat(100_000);
        let mut importer = Importer::new();
        let mut seen = Vec::new();
        importer.jsonl("r.jsonl", text.as_bytes(), None, &mut |at| seen.push(at.bytes_done));
        let import = importer.finish();
        assert_eq!(import.reports.len(), Importer::MAX_REPORTS_PER_FILE);
        assert!(reports(&import)[999].ends_with("(more of this file is not reported)"));
        assert!(seen.len() > 2 && seen.is_sorted());
        assert_eq!(seen.last(), Some(&(text.len() as u64)));
    }

    #[test]
    fn a_reader_that_fails_keeps_what_came_before() {
        struct Fails;
        impl std::io::Read for Fails {
            fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
                Err(std::io::Error::other("the cable is out"))
            }
        }
        let text: &[u8] = b"{\"id\":\"a\",\"statement\":\"One.\"}\n";
        let reader = std::io::BufReader::new(std::io::Read::chain(text, Fails));
        let mut importer = Importer::new();
        importer.jsonl("r.jsonl", reader, None, &mut |_| {});
        let import = importer.finish();
        assert_eq!(reports(&import), ["r.jsonl:2: cannot be read any further: the cable is out"]);
        assert_eq!(import.records.len(), 1);
    }
}

proptest::proptest! {
    #[test]
    fn no_notes_panic_and_ids_are_unique(
        texts in proptest::collection::vec(
            "(---\n((id|scope|tags|supersedes|topic|entity): ?[\\[{a:\"' ]{0,4}[ab]?[\\]}\"',]{0,2}\n){0,4}(---\n)?)?(([#=-]{1,3} ?|<!--|-->|\\[\\[|\\]\\]|`|```|[ab\n]|é|\r){0,12}\n){0,8}",
            0..6,
        ),
    ) {
        let mut importer = Importer::new();
        for (number, text) in texts.iter().enumerate() {
            importer.markdown(["a.md", "b.md", "a", "x/a.md", "", "é#a.md"][number], text);
        }
        let import = importer.finish();
        let ids: HashSet<&str> = import.records.iter().map(|record| record.id.as_str()).collect();
        proptest::prop_assert_eq!(ids.len(), import.records.len());
        let topics: HashSet<&str> = import.topics.iter().map(|topic| topic.id.as_str()).collect();
        proptest::prop_assert_eq!(topics.len(), import.topics.len());
        proptest::prop_assert!(import.records.iter().all(|record| record.fault().is_none()));
        for record in &import.records {
            if let Some(topic) = &record.topic {
                proptest::prop_assert!(topics.contains(topic.as_str()), "{}", topic);
            }
        }
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
        let mut importer = Importer::new();
        importer.markdown_bytes("a.md", &bytes);
        #[cfg(not(target_arch = "wasm32"))]
        importer.jsonl("a.jsonl", &bytes[..], None, &mut |_| {});
        let _ = detect("a.json", &bytes);
        let _ = importer.finish();
    }
}
