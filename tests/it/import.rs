//! Files of real shape, through the readers and through the folder reader.

use std::path::PathBuf;

use foreword::import::{Import, Importer, Progress, Severity, folder};
use foreword::memory::{Record, Status};

fn read(name: &str) -> Import {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/import").join(name);
    let mut last: Option<Progress> = None;
    let import = folder::read(&path, &mut |at| {
        assert!(last.is_none_or(|last| last.bytes_done <= at.bytes_done));
        last = Some(at);
    })
    .expect("the fixture is there");
    let last = last.expect("progress was told");
    assert_eq!(Some(last.bytes_done), last.bytes_total);
    assert_eq!(last.records, import.records.len());
    import
}

fn reports(import: &Import) -> Vec<String> {
    import.reports.iter().map(ToString::to_string).collect()
}

fn record<'a>(import: &'a Import, id: &str) -> &'a Record {
    import.records.iter().find(|record| record.id == id).unwrap_or_else(|| panic!("no record `{id}`"))
}

#[test]
fn a_folder_of_notes() {
    let import = read("notes");
    assert_eq!(
        reports(&import),
        [
            "broken.md:2: expected `\"` to close the text",
            "broken.md:4: unknown key `colour` is ignored",
            "empty.md: is empty",
            "latin1.md:1: is not UTF-8 (byte 3 of the file): save it as UTF-8",
            "photo.png: no reader is for this kind of file: expected .md, .jsonl, or an export of ChatGPT or of the MCP memory server",
            "secret.md:2: expected `}` to close what opens here",
            "secret.md:1: who may see this note cannot be read from its front matter, so it is left out: expected `scope: {name: value}`, or no `scope` for everyone",
        ]
    );
    let ids: Vec<&str> = import.records.iter().map(|record| record.id.as_str()).collect();
    assert_eq!(ids, ["broken", "ferry-winter", "ferry", "ferry#tickets", "ferry#code-for-the-gate", "people/rhea"]);
    assert_eq!(record(&import, "ferry-winter").superseded_by.as_deref(), Some("ferry"));
    assert_eq!(record(&import, "ferry#tickets").entities, ["rhea"]);
    assert_eq!(record(&import, "broken").tags, ["house"]);
    let topics: Vec<&str> = import.topics.iter().map(|topic| topic.title.as_str()).collect();
    assert_eq!(topics, ["broken", "Ferry timetable", "rhea"]);
    assert_eq!(import.entities[0].aliases, ["my wife"]);
}

#[test]
fn a_file_of_records() {
    let import = read("records.jsonl");
    assert_eq!(
        reports(&import),
        [
            "records.jsonl:4: EOF while parsing a value (column 27)",
            "records.jsonl:7: the id `tea` is taken (by records.jsonl:1): the first is kept",
        ]
    );
    assert_eq!(import.records.len(), 3);
    assert_eq!(record(&import, "gate-old").superseded_by.as_deref(), Some("gate-new"));
    assert_eq!(import.topics[0].id, "garden");
    assert_eq!(import.entities[0].name, "otis");
}

#[test]
fn a_graph_of_the_mcp_memory_server() {
    let import = read("memory.jsonl");
    assert_eq!(
        reports(&import),
        [
            "memory.jsonl:5: EOF while parsing a value (column 49)",
            "memory.jsonl:4: a relation names `Tidewater Ltd`, which is no entity of this file",
        ]
    );
    let found: Vec<(&str, &str, &str)> = import
        .records
        .iter()
        .map(|record| (record.subject.as_str(), record.predicate.as_str(), record.statement.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("Mira_Okafor", "", "Leads the harbour survey"),
            ("Mira_Okafor", "", "Prefers calls before noon"),
            ("harbour survey", "", "Ends in October"),
            ("Mira_Okafor", "leads", "Mira Okafor leads harbour survey"),
            ("Mira_Okafor", "works_at", "Mira Okafor works at Tidewater Ltd"),
        ]
    );
    assert_eq!(import.records[1].source.position, Some(1));
    assert_eq!(import.records[0].tags, ["person"]);
    assert_eq!(import.entities[0].aliases, ["Mira Okafor"]);
}

#[test]
fn an_export_of_chatgpt() {
    let import = read("conversations.json");
    assert_eq!(
        reports(&import),
        [
            "conversations.json:4: conversation 4: invalid type: sequence, expected a map",
            "conversations.json:5: conversation 5 (`One odd message`) does not say which branch is in use: the one with the latest message is taken",
            "conversations.json:5: conversation 5 (`One odd message`), message `u`: invalid type: string \"nobody\", expected struct Author",
            "conversations.json: archived conversations, kept as history: 1",
            "conversations.json: left out of 5 conversations: conversations marked as not to be remembered: 1, \
             images, sound and files (the text beside them is kept): 1, messages on branches not in use: 1, \
             messages to tools: 1, reasoning: 1, system messages: 1, tool messages: 1",
        ]
    );
    let found: Vec<(&str, Option<u32>, &str)> = import
        .records
        .iter()
        .map(|record| (record.source.speaker.as_str(), record.source.position, record.statement.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("user", Some(0), "My starter smells of acetone. What now?"),
            ("assistant", Some(1), "It is hungry: feed it twice a day for three days."),
            ("user", Some(2), "Does this look right?"),
            ("assistant", Some(3), "Yes: bubbles on top are a good sign."),
            ("user", Some(0), "How do I reset the router?"),
            ("assistant", Some(1), "Hold the pin for ten seconds."),
            ("user", Some(0), "Still here."),
        ]
    );
    let first = &import.records[0];
    assert_eq!(first.id, "6f0c1d52-0001-4000-8000-00000000c0de/u1");
    assert_eq!(first.kind, "turn");
    assert_eq!(first.title, "Sourdough starter");
    assert_eq!(first.source.session, "6f0c1d52-0001-4000-8000-00000000c0de");
    assert_eq!(first.source.uri, "https://chatgpt.com/c/6f0c1d52-0001-4000-8000-00000000c0de");
    assert_eq!(first.created.map(|time| time.to_string()).as_deref(), Some("2026-01-01T10:00:01.500Z"));
    assert_eq!(import.records[4].status, Status::Archived);
    assert_eq!(import.records[6].created.map(|time| time.date()).as_deref(), Some("2025-01-01"));
}

#[test]
fn the_sample_notes_have_no_fault() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("www/notes");
    let import = folder::read(&path, &mut |_| {}).expect("the sample notes are there");
    assert_eq!(reports(&import), Vec::<String>::new());
    assert!(import.topics.len() >= 40);
    assert_eq!(record(&import, "decision-events-kafka").superseded_by.as_deref(), Some("decision-events-outbox"));
    assert!(!import.topics.iter().any(|topic| topic.id == "decision-events-kafka"));
    let rhea = import.entities.iter().find(|entity| entity.name == "rhea").expect("rhea is known");
    assert_eq!(rhea.aliases, ["my wife"]);
}

#[test]
fn everything_together_and_nothing_at_all() {
    let import = read("");
    assert_eq!(import.records.len(), 6 + 3 + 5 + 7);
    assert!(reports(&import).iter().any(|report| report.starts_with("notes/broken.md:2: ")));
    let again = read("");
    assert_eq!(import, again);

    let empty = std::env::temp_dir().join(format!("foreword-empty-{}", std::process::id()));
    std::fs::create_dir_all(&empty).expect("a temporary folder");
    let import = folder::read(&empty, &mut |_| {}).expect("reads");
    std::fs::remove_dir(&empty).expect("removes it");
    assert_eq!(import.reports.len(), 1);
    assert_eq!(import.reports[0].severity, Severity::Skipped);
    assert!(import.reports[0].message.contains("no file"));
    assert!(folder::read(&empty, &mut |_| {}).is_err());
}

proptest::proptest! {
    /// Files of real shape with some bytes changed and the end cut off: no panic, ids unique, every record fit to be stored.
    #[test]
    fn damaged_files_do_no_harm(
        changes in proptest::collection::vec((0usize..8000, proptest::num::u8::ANY), 0..6),
        cut in 0usize..8000,
    ) {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/import");
        let mut importer = Importer::new();
        for name in ["notes/ferry.md", "notes/people/rhea.md", "records.jsonl", "memory.jsonl", "conversations.json"] {
            let mut bytes = std::fs::read(folder.join(name)).expect("the fixture is there");
            let length = bytes.len();
            for (at, byte) in &changes {
                bytes[at % length] = *byte;
            }
            bytes.truncate(length - (cut % length) / 4);
            match name {
                "records.jsonl" => importer.jsonl(name, &bytes[..], None, &mut |_| {}),
                "memory.jsonl" => importer.mcp_graph(name, &bytes[..], None, &mut |_| {}),
                "conversations.json" => importer.chatgpt(name, &bytes[..], None, &mut |_| {}),
                _ => importer.markdown_bytes(name, &bytes),
            }
        }
        let import = importer.finish();
        let ids: std::collections::HashSet<&str> = import.records.iter().map(|record| record.id.as_str()).collect();
        proptest::prop_assert_eq!(ids.len(), import.records.len());
        proptest::prop_assert!(import.records.iter().all(|record| record.fault().is_none()));
    }
}
