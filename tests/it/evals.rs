//! The evals on the project's own small data: the form of what they print, and that the figures measure.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::command_line::{Ran, foreword, scratch};

const CONVERSATIONS: &str = "evals/suites/conversations";
const NEGATIVES: &str = "evals/suites/conversations/negatives.jsonl";
const FIGURES: [&str; 6] = ["recall@1", "recall@5", "recall@10", "hit@5", "mrr@10", "ndcg@10"];

fn eval(args: &[&str]) -> Ran {
    let ran = foreword(["eval"].iter().chain(args));
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.err);
    ran
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn rows(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("written");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// A conversation of its own, small enough to know every figure by heart.
fn tiny(name: &str) -> PathBuf {
    let folder = scratch(name);
    let inside = folder.join("one");
    fs::create_dir(&inside).expect("a folder");
    let lines = |rows: &[Value]| rows.iter().map(|row| format!("{row}\n")).collect::<String>();
    let turn = |id: &str, session: u32, speaker: &str, text: &str| json!({ "id": id, "session": session, "speaker": speaker, "text": text, "timestamp": "2025-03-04T10:00:00" });
    let turns = [
        turn("D1:1", 1, "Ana", "My piano arrived from Trieste this morning."),
        turn("D1:2", 1, "Ben", "Congratulations, a walnut upright?"),
        turn("D2:1", 2, "Ben", "Our kitten chewed through the modem cable."),
        turn("D2:2", 2, "Ana", "Buy an armoured cable from the hardware market."),
    ];
    let observations = [
        json!({ "id": "O1:0", "session": 1, "speaker": "Ana", "text": "Ana received a piano from Trieste.", "evidence": ["D1:1"] }),
        json!({ "id": "O2:0", "session": 2, "speaker": "Ben", "text": "Ben's kitten chewed the modem cable.", "evidence": ["D2:1"] }),
    ];
    let queries = [
        json!({ "id": "q0", "text": "Where did the piano of Trieste come from?", "evidence": ["D1:1", "D1:2"], "category": 1 }),
        json!({ "id": "q1", "text": "What did Ben's kitten chew?", "evidence": ["D2:1"], "category": "4" }),
        json!({ "id": "q2", "text": "What did Ana's kitten chew?", "evidence": ["D2:1"], "category": 5 }),
        json!({ "id": "q3", "text": "Is the upright of walnut?", "evidence": ["D1:2"], "category": 4 }),
        json!({ "id": "q4", "text": "Who is the president?", "evidence": [], "category": 3 }),
    ];
    fs::write(inside.join("meta.json"), r#"{"name": "one", "speakers": ["Ana", "Ben"]}"#).expect("writes");
    fs::write(inside.join("corpus.jsonl"), lines(&turns)).expect("writes");
    fs::write(inside.join("observations.jsonl"), lines(&observations)).expect("writes");
    fs::write(inside.join("queries.jsonl"), lines(&queries)).expect("writes");
    folder
}

#[test]
fn locomo_prints_three_levels_of_six_figures() {
    let found = eval(&["locomo", CONVERSATIONS, "--json"]).json();
    assert_eq!(keys(&found), ["observations", "sessions", "turns"]);
    for level in keys(&found) {
        let mut expected = [&FIGURES[..], &["recall within 2048", "recall within 512"]].concat();
        expected.sort_unstable();
        assert_eq!(keys(&found[level]), expected);
        let figure = |name: &str| found[level][name].as_f64().expect("a number");
        assert!(FIGURES.iter().all(|name| (0.0..=1.0).contains(&figure(name))), "{level}: {}", found[level]);
        assert!(figure("recall@1") <= figure("recall@5") && figure("recall@5") <= figure("recall@10"));
        assert!(figure("recall@10") >= 0.8, "{level}: {}", found[level]);
        assert!(figure("recall within 512") <= figure("recall within 2048"), "{level}: {}", found[level]);
    }
}

#[test]
fn locomo_counts_what_can_be_found_and_leaves_out_what_cannot() {
    let folder = tiny("locomo_tiny");
    let dump = folder.join("dump.jsonl");
    let (name, dump_name) = (&*folder.to_string_lossy(), &*dump.to_string_lossy());
    let found = eval(&["locomo", name, "--dump", dump_name, "--json"]).json();
    let rows = rows(&dump);
    let asked = |level: &str| -> Vec<(&str, Vec<&str>)> {
        let of_level = rows.iter().filter(|row| row["level"] == level);
        let texts = |value: &'_ Value| -> Vec<String> {
            value.as_array().expect("a list").iter().map(|id| id.as_str().expect("an id").to_string()).collect()
        };
        of_level
            .map(|row| {
                assert_eq!(texts(&row["ranked"]).len(), row["scores"].as_array().expect("scores").len());
                assert!(row["question"].is_string());
                let gold = row["gold"].as_array().expect("gold").iter().filter_map(Value::as_str).collect();
                (row["id"].as_str().expect("an id"), gold)
            })
            .collect()
    };
    // Category 5 is left out, and so is a question without evidence.
    assert_eq!(asked("turns"), [("q0", vec!["D1:1", "D1:2"]), ("q1", vec!["D2:1"]), ("q3", vec!["D1:2"])]);
    // No observation covers D1:2: q0 keeps what is covered, q3 has nothing left.
    assert_eq!(asked("observations"), [("q0", vec!["D1:1"]), ("q1", vec!["D2:1"])]);
    // A session stands for its turns, once.
    assert_eq!(asked("sessions"), [("q0", vec!["1"]), ("q1", vec!["2"]), ("q3", vec!["1"])]);
    for (level, figure) in
        [("observations", "recall@1"), ("observations", "ndcg@10"), ("sessions", "recall@1"), ("turns", "recall@5")]
    {
        assert_eq!(found[level][figure], 1.0, "{level} {figure}: {found}");
    }
}

#[test]
fn a_config_changes_the_figures_without_a_rebuild() {
    let folder = scratch("eval_config");
    let path = folder.join("config.json");
    let name = &*path.to_string_lossy();
    let default = eval(&["locomo", CONVERSATIONS, "--json"]).out;
    fs::write(&path, "{}").expect("writes");
    assert_eq!(eval(&["locomo", CONVERSATIONS, "--config", name, "--json"]).out, default);
    // A statement's own words count for next to nothing.
    fs::write(&path, r#"{"index": {"turn": {"statement": 0.0, "before": 0.0, "after": 0.0, "further": 0.0}}, "search": {"groupWeight": 0.0}}"#)
        .expect("writes");
    let other = eval(&["locomo", CONVERSATIONS, "--config", name, "--model", "none", "--json"]).json();
    let default: Value = serde_json::from_str(&default).expect("JSON");
    let recall = |found: &Value| found["turns"]["recall@10"].as_f64().expect("a number");
    assert!(recall(&other) < recall(&default) - 0.1, "{other}");
    fs::write(&path, r#"{"index": {"turns": {}}}"#).expect("writes");
    let failed = foreword(["eval", "locomo", CONVERSATIONS, "--config", name]);
    assert_eq!(failed.code, Some(1));
    assert!(failed.err.contains("INVALID_CONFIG") && failed.err.contains("turns"), "{}", failed.err);
}

#[test]
fn gate_prints_four_shares() {
    let folder = scratch("gate");
    let dump = folder.join("signals.jsonl");
    let dump_name = &*dump.to_string_lossy();
    let gate = ["gate", "--stores", CONVERSATIONS, "--negatives", NEGATIVES];
    let named = eval(&[&gate[..], &["--json"]].concat()).json();
    let expected = ["yes_on_negatives", "yes_on_other_stores", "yes_on_questions", "yes_on_short_negatives"];
    assert_eq!(keys(&named), expected);
    let share = |name: &str| named[name].as_f64().expect("a share");
    assert!(share("yes_on_questions") >= 0.3 && share("yes_on_negatives") <= 0.05, "{named}");

    let masked = eval(&[&gate[..], &["--mask-names", "--dump-signals", dump_name, "--json"]].concat()).json();
    assert_eq!(keys(&masked), expected);
    let rows = rows(&dump);
    let of = |label: &str| rows.iter().filter(|row| row["label"] == label).count();
    let negatives =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(NEGATIVES)).expect("there").lines().count();
    // Two stores: every negative is asked of both, and each store's questions of the other.
    assert_eq!((of("negative"), of("other")), (2 * negatives, of("question")));
    for row in &rows {
        let text = row["text"].as_str().expect("a text");
        assert!(
            row["masked"] == true && row["signals"]["coverage"].is_number() && row["confidence"].is_number(),
            "{row}"
        );
        let words: Vec<&str> = text.split(|char: char| !char.is_alphanumeric()).collect();
        let names = ["Nuala", "Teo", "Ines", "Kwabena"];
        assert!(row["label"] == "negative" || names.iter().all(|name| !words.contains(name)), "{text}");
    }
    // What was printed is what was dumped.
    let stores = ["canal", "hill"].map(|store| {
        let of_store = rows.iter().filter(|row| row["store"] == store && row["label"] == "question");
        let yes: Vec<bool> = of_store.map(|row| row["yes"] == true).collect();
        yes.iter().filter(|yes| **yes).count() as f64 / yes.len() as f64
    });
    assert_eq!(masked["yes_on_questions"].as_f64(), Some((stores[0] + stores[1]) / 2.0));
}

#[test]
fn ranking_prints_two_figures() {
    let [corpus, queries] = ["corpus", "queries"].map(|name| format!("{CONVERSATIONS}/ranking/{name}.jsonl"));
    let found = eval(&["ranking", "--corpus", &corpus, "--queries", &queries, "--json"]).json();
    assert_eq!(keys(&found), ["ndcg@10", "recall@10"]);
    for (name, least) in [("ndcg@10", 0.75), ("recall@10", 0.85)] {
        assert!(found[name].as_f64() >= Some(least) && found[name].as_f64() <= Some(1.0), "{found}");
    }
}

#[test]
fn broken_data_is_named_by_file_and_line_and_measures_nothing() {
    let folder = tiny("broken_data");
    let queries = folder.join("one/queries.jsonl");
    let mut text = fs::read_to_string(&queries).expect("written");
    text.push_str("{\"id\": 7}\n");
    fs::write(&queries, text).expect("writes");
    let ran = foreword(["eval", "locomo", &folder.to_string_lossy(), "--json"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains(&format!("{}:6: missing field `text`", queries.display())), "{}", ran.err);
    assert_eq!(keys(&ran.json()), ["error"]);
}
