//! The built command, as a user runs it: what it writes, what it says, what it exits with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// What a run came to.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Ran {
    /// The one JSON object on standard output.
    pub fn json(&self) -> Value {
        assert_eq!(self.out.trim_end().lines().count(), 1, "one object on one line: {}\n{}", self.out, self.err);
        let value: Value = serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out));
        assert!(value.is_object(), "{value}");
        value
    }
}

/// Runs the command in the package's folder.
pub fn foreword<S: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = S>) -> Ran {
    let Output { status, stdout, stderr } = Command::new(env!("CARGO_BIN_EXE_foreword"))
        .args(args)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the command starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Ran { code: status.code(), out: text(stdout), err: text(stderr) }
}

/// An empty folder for one test.
pub fn scratch(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).expect("a folder for the test");
    path
}

/// Builds a snapshot that must succeed.
fn build(input: &str, output: &Path) -> Ran {
    let ran = foreword(["build", input, "--output", &output.to_string_lossy(), "--json"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran
}

fn recall(snapshot: &Path, more: &[&str]) -> Value {
    let snapshot = snapshot.to_string_lossy();
    let args = ["recall", &*snapshot, "--now", "2026-01-15", "--nonce", "7q3m2k9d0wz5f", "--json"];
    let ran = foreword(args.iter().chain(more));
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.json()
}

fn ids(result: &Value) -> Vec<&str> {
    result["evidence"].as_array().expect("evidence").iter().map(|one| one["id"].as_str().expect("an id")).collect()
}

#[test]
fn two_builds_are_byte_identical() {
    let folder = scratch("two_builds");
    let (one, two) = (folder.join("one.fw"), folder.join("two.fw"));
    let report = build("www/notes", &one).json();
    build("www/notes", &two);
    assert_eq!(fs::read(&one).expect("written"), fs::read(&two).expect("written"));
    assert_eq!(report["bytes"], fs::metadata(&one).expect("written").len());
    let notes = report["topics"].as_u64().expect("a count");
    assert!(report["records"].as_u64() > Some(notes) && notes >= 40, "{report}");
    assert_eq!((&report["skipped"], &report["warnings"]), (&0.into(), &0.into()), "{report}");
    assert_eq!(report["model"], "remem-local-hash-v1");
}

#[test]
fn faults_are_reported_by_file_and_line_and_cost_nothing_else() {
    let folder = scratch("faults");
    let jsonl = folder.join("memory.jsonl");
    fs::write(&jsonl, "{\"id\":\"a\",\"statement\":\"The gate code is 4417\"}\nnot json\n{\"id\":\"b\"}\n{\"id\":\"c\",\"statement\":\"Ana sails\"}\n")
        .expect("writes");
    fs::write(folder.join("photo.png"), "png").expect("writes");
    fs::create_dir(folder.join("empty")).expect("a folder");
    let output = folder.join("out.fw");
    let args = ["build", &folder.to_string_lossy(), "tests/data/import/notes", "-o", &output.to_string_lossy()];
    let ran = foreword(args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let jsonl = jsonl.display();
    let photo = folder.join("photo.png");
    for expected in [
        format!("{jsonl}:2: "),
        format!("{jsonl}:3: the record `b` has neither `statement` nor `title`"),
        format!("{}: no reader is for this kind of file", photo.display()),
        "tests/data/import/notes/broken.md:2: expected `\"` to close the text".to_string(),
        "tests/data/import/notes/latin1.md:1: is not UTF-8".to_string(),
        "tests/data/import/notes/empty.md: is empty".to_string(),
    ] {
        assert!(
            ran.err.lines().any(|line| line.starts_with(&expected)),
            "no line begins with {expected}:\n{}",
            ran.err
        );
    }
    let inspected = foreword(["inspect", &output.to_string_lossy(), "--json"]).json();
    // Two lines of JSON, and the notes that could be read.
    assert_eq!(inspected["records"], 8, "{inspected}");
}

#[test]
fn nothing_is_written_where_nothing_was_read() {
    let folder = scratch("nothing");
    let output = scratch("nothing_out").join("out.fw");
    let cases = [(folder.to_string_lossy().into_owned(), "holds no file"), ("no/such/folder".into(), "no/such/folder")];
    for (input, expected) in cases {
        let ran = foreword(["build", &input, "-o", &output.to_string_lossy()]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains(expected), "{}", ran.err);
        assert!(!output.exists());
    }
}

#[test]
fn a_wrong_call_exits_with_2_and_a_failure_with_1() {
    let folder = scratch("exits");
    let snapshot = folder.join("notes.fw");
    build("www/notes", &snapshot);
    let snapshot = &*snapshot.to_string_lossy();
    let config = folder.join("config.json");
    fs::write(&config, "{\"search\": {\"rrfQ\": 1}}").expect("writes");
    let config = &*config.to_string_lossy();
    let cases: &[(&[&str], i32, &str)] = &[
        (&[], 2, "Usage"),
        (&["remember"], 2, "unrecognized subcommand"),
        (&["build", "www/notes"], 2, "--output"),
        (&["build", "www/notes", "-o", "x", "--model", "static"], 2, "--static FILE"),
        (&["build", "www/notes", "-o", "x", "--model", "none", "--static", "y"], 2, "--model static"),
        (&["recall", snapshot], 2, "PROMPT"),
        (&["recall", snapshot, "x", "--scope", "ana"], 2, "user=ana"),
        (&["recall", snapshot, "x", "--now", "soon"], 2, "ISO 8601"),
        (&["recall", snapshot, "x", "--nonce", "short"], 2, "8 to 32"),
        (&["recall", "no-such-file", "x"], 1, "no-such-file"),
        (&["recall", snapshot, "x", "--limit", "0"], 1, "INVALID_REQUEST: limit must be 1 to 1000"),
        (&["search", snapshot, "x", "--config", config], 1, "INVALID_CONFIG"),
        (&["search", snapshot, "x", "--static", "README.md"], 1, ""),
        (&["search", snapshot, "x", "--static", "pkg/static/foreword-static-v1.bin"], 1, "MODEL_MISMATCH"),
        (&["eval", "locomo", "src"], 1, "src: holds no folder"),
    ];
    for (args, code, expected) in cases {
        let ran = foreword(*args);
        assert_eq!(ran.code, Some(*code), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
        assert!(ran.out.is_empty(), "{args:?}: {}", ran.out);
    }
    let failed = foreword(["inspect", "no-such-file", "--json"]);
    assert_eq!(failed.code, Some(1));
    assert_eq!(failed.json()["error"]["code"], "IO");
}

#[test]
fn a_damaged_snapshot_is_a_typed_error_never_a_panic() {
    let folder = scratch("damaged");
    let whole = folder.join("whole.fw");
    build("tests/data/import/records.jsonl", &whole);
    let bytes = fs::read(&whole).expect("written");
    let path = folder.join("damaged.fw");
    let name = &*path.to_string_lossy();
    let check = |what: &str, damaged: &[u8]| {
        fs::write(&path, damaged).expect("writes");
        for args in [&["inspect", name, "--json"][..], &["recall", name, "ferry", "--json"]] {
            let ran = foreword(args);
            assert_eq!(ran.code, Some(1), "{what}, {args:?}: {}", ran.err);
            let code = ran.json()["error"]["code"].as_str().map(str::to_string);
            let typed = ["SNAPSHOT_CORRUPT", "SNAPSHOT_VERSION"];
            assert!(code.as_deref().is_some_and(|code| typed.contains(&code)), "{what}: {}", ran.out);
        }
    };
    for length in [0, 7, 23, 24, 100, bytes.len() / 2, bytes.len() - 1] {
        check(&format!("cut to {length}"), &bytes[..length]);
    }
    let step = bytes.len() / 11;
    for at in (0..bytes.len()).step_by(step.max(1)).chain([8, 10, 16, bytes.len() - 1]) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x10;
        check(&format!("bit flipped at {at}"), &damaged);
    }
    check("one byte more", &[&bytes[..], b"\0"].concat());
}

#[test]
fn inspect_tells_what_is_in_a_snapshot() {
    let folder = scratch("inspect");
    let snapshot = folder.join("notes.fw");
    let built = build("www/notes", &snapshot).json();
    let snapshot = &*snapshot.to_string_lossy();
    let told = foreword(["inspect", snapshot, "--json"]).json();
    for key in ["records", "bytes", "model", "revision"] {
        assert_eq!(told[key], built[key], "{key}");
    }
    assert_eq!((&told["formatVersion"], &told["dimensions"]), (&1.into(), &384.into()));
    let sections = told["sections"].as_array().expect("sections");
    assert!(sections.iter().any(|section| section["name"] == "VECM" && section["bytes"].as_u64() > Some(0)));
    let of_kinds: u64 = told["kinds"].as_object().expect("kinds").values().filter_map(Value::as_u64).sum();
    assert_eq!(Some(of_kinds), told["records"].as_u64());
    let scopes: Vec<&Value> = told["scopes"].as_array().expect("scopes").iter().map(|owned| &owned["scope"]).collect();
    assert!(scopes.contains(&&serde_json::json!({ "tenant": "tidelands" })), "{scopes:?}");
    let told = foreword(["inspect", snapshot]);
    assert!(told.out.contains("undamaged") && told.out.contains("Billing rewrite (unresolved)"), "{}", told.out);
}

#[test]
fn recall_decides_finds_and_writes_within_scope_and_budget() {
    let folder = scratch("recall");
    let snapshot = folder.join("notes.fw");
    build("www/notes", &snapshot);

    let yes = recall(&snapshot, &["What is the state of the", "billing rewrite?"]);
    assert_eq!(yes["plan"]["shouldRetrieve"], true);
    assert_eq!(yes["plan"]["topics"][0], "Billing rewrite");
    assert!(ids(&yes).contains(&"billing-rewrite"), "{:?}", ids(&yes));
    let text = yes["block"]["text"].as_str().expect("text");
    assert!(text.contains("<memory-7q3m2k9d0wz5f>") && text.contains("billing-rewrite"), "{text}");
    assert!(!yes["evidence"][0]["components"].as_array().expect("components").is_empty());

    let no = recall(&snapshot, &["What is the capital of Australia?"]);
    assert_eq!(no["plan"]["shouldRetrieve"], false);
    assert!(no["block"]["recall"] == "" && no["plan"]["reason"] != "", "{no}");

    let price = "How much does the Tidelands group pay us a month?";
    assert!(!ids(&recall(&snapshot, &[price])).contains(&"tidelands-pricing"));
    assert!(ids(&recall(&snapshot, &[price, "--scope", "tenant=tidelands"])).contains(&"tidelands-pricing"));

    let small = recall(&snapshot, &["What is the state of the billing rewrite?", "--budget", "500"]);
    let recalled = small["block"]["recall"].as_str().expect("text").len();
    assert!(recalled > 0 && recalled <= 500, "{recalled} bytes");

    let queue = "Which queue did we decide on for booking events?";
    assert!(!ids(&recall(&snapshot, &[queue])).contains(&"decision-events-kafka"));
    assert!(ids(&recall(&snapshot, &[queue, "--history"])).contains(&"decision-events-kafka"));
    let kinds = recall(&snapshot, &[queue, "--kind", "decision", "--limit", "2"]);
    assert!((1..=2).contains(&ids(&kinds).len()), "{:?}", ids(&kinds));
    assert!(kinds["evidence"].as_array().expect("evidence").iter().all(|one| one["kind"] == "decision"));
}

#[test]
fn every_recall_draws_its_own_nonce() {
    let folder = scratch("nonce");
    let snapshot = folder.join("notes.fw");
    build("www/notes", &snapshot);
    let draw = || {
        let result = foreword(["recall", &snapshot.to_string_lossy(), "the billing rewrite", "--json"]).json();
        let text = result["block"]["recall"].as_str().expect("text").to_string();
        text.split(['-', '>']).nth(1).expect("a delimiter").to_string()
    };
    let (one, two) = (draw(), draw());
    assert!(one.len() >= 13 && one != two, "{one} {two}");
}

#[test]
fn search_finds_without_deciding() {
    let folder = scratch("search");
    let snapshot = folder.join("notes.fw");
    build("www/notes", &snapshot);
    let snapshot = &*snapshot.to_string_lossy();
    let found = foreword(["search", snapshot, "INC-410", "--limit", "3", "--json"]).json();
    assert!(ids(&found)[0].starts_with("inc-410"), "{:?}", ids(&found));
    assert_eq!(found["block"]["text"], "");
    let shown = foreword(["search", snapshot, "INC-410"]);
    assert!(
        shown.out.contains(" 1. ") && shown.out.contains("[inc-410") && shown.out.contains("lexical +"),
        "{}",
        shown.out
    );
}

#[test]
fn themes_lists_what_belongs_together_within_scope() {
    let folder = scratch("themes");
    let snapshot = folder.join("notes.fw");
    build("www/notes", &snapshot);
    let snapshot = &*snapshot.to_string_lossy();
    let told = foreword(["themes", snapshot, "--limit", "3", "--json"]).json();
    let themes = told["themes"].as_array().expect("themes");
    assert!((1..=3).contains(&themes.len()), "{told}");
    assert!(themes.iter().all(|theme| theme["title"] != "" && theme["size"].as_u64() >= Some(2)), "{told}");
    let shown = foreword(["themes", snapshot]);
    assert!(shown.out.contains(themes[0]["title"].as_str().expect("a title")), "{}", shown.out);
    assert!(!shown.out.contains("Tidelands group pays"), "{}", shown.out);
}

#[test]
fn a_static_table_is_used_where_the_snapshot_was_built_with_it() {
    let folder = scratch("static");
    let snapshot = folder.join("notes.fw");
    let table = "pkg/static/foreword-static-v1.bin";
    let name = &*snapshot.to_string_lossy();
    let built = foreword(["build", "www/notes", "-o", name, "--static", table, "--json"]).json();
    assert_eq!(built["model"], "foreword-static-v1");
    let semantic = |more: &[&str]| {
        let ran = foreword(["search", name, "the boat place booked twice without signal", "--json"].iter().chain(more));
        let found = ran.json();
        let parts = found["evidence"][0]["components"].as_array().expect("components");
        (parts.iter().any(|part| part["name"] == "semantic"), ran.err)
    };
    assert_eq!(semantic(&["--static", table]), (true, String::new()));
    let (without, remark) = semantic(&[]);
    assert!(!without && remark.contains("foreword-static-v1"), "{remark}");
}

#[test]
fn what_is_stored_cannot_drive_the_terminal() {
    let folder = scratch("terminal");
    let input = folder.join("memory.jsonl");
    fs::write(&input, "{\"id\":\"a\\u001b[2J\",\"statement\":\"The gate code is \\u001b[31m4417\\u202e\"}\n")
        .expect("writes");
    let snapshot = folder.join("out.fw");
    build(&input.to_string_lossy(), &snapshot);
    let snapshot = &*snapshot.to_string_lossy();
    for args in
        [&["recall", snapshot, "what is the gate code"][..], &["search", snapshot, "gate code"], &["inspect", snapshot]]
    {
        let ran = foreword(args);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(!ran.out.contains(['\u{1b}', '\u{202e}']) && !ran.err.contains('\u{1b}'), "{args:?}: {:?}", ran.out);
    }
    assert!(foreword(["search", snapshot, "gate code"]).out.contains("\\u{1b}[31m4417"));
}
