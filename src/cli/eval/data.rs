//! Data with known answers: conversations, prompts that need no memory, ranked collections. Read strictly: a figure over half of the data is no figure.

use std::fs;
use std::path::{Path, PathBuf};

use foreword::memory::{Record, Timestamp};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::cli::failure::Failure;
use crate::cli::options::read;

/// A conversation with its questions.
pub struct Conversation {
    pub name: String,
    pub speakers: Vec<String>,
    pub turns: Vec<Turn>,
    pub observations: Vec<Observation>,
    pub queries: Vec<Query>,
}

/// Who said what, when.
#[derive(Deserialize)]
pub struct Said {
    #[serde(deserialize_with = "text")]
    pub id: String,
    pub text: String,
    pub speaker: String,
    #[serde(deserialize_with = "text")]
    pub session: String,
    #[serde(default)]
    pub timestamp: Option<Timestamp>,
}

impl Said {
    fn record(&self, kind: &str) -> Record {
        let mut record = Record::new(self.id.clone(), self.text.clone());
        record.kind = kind.into();
        record.created = self.timestamp;
        record.source.session.clone_from(&self.session);
        record.source.speaker.clone_from(&self.speaker);
        record
    }
}

/// One turn of a dialogue.
#[derive(Deserialize)]
pub struct Turn {
    #[serde(flatten)]
    pub said: Said,
    /// What is to be seen in a picture that came with it.
    #[serde(default)]
    pub caption: String,
}

/// A fact drawn from some turns.
#[derive(Deserialize)]
pub struct Observation {
    #[serde(flatten)]
    pub said: Said,
    pub evidence: Vec<String>,
}

/// A question and the ids that answer it.
#[derive(Deserialize)]
pub struct Query {
    #[serde(deserialize_with = "text")]
    pub id: String,
    pub text: String,
    #[serde(default)]
    pub evidence: Vec<String>,
    #[serde(default, deserialize_with = "text")]
    pub category: String,
}

impl Query {
    /// Whether it is of category 5: a question that the conversation does not answer.
    pub fn is_adversarial(&self) -> bool {
        self.category == "5"
    }
}

/// A prompt that needs no memory.
#[derive(Deserialize)]
pub struct Negative {
    #[serde(deserialize_with = "text")]
    pub id: String,
    pub text: String,
}

/// A document of a ranked collection.
#[derive(Deserialize)]
pub struct Document {
    #[serde(deserialize_with = "text")]
    pub id: String,
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub text: String,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(default)]
    name: String,
    speakers: Vec<String>,
}

impl Conversation {
    fn read(folder: &Path) -> Result<Conversation, Failure> {
        let meta = folder.join("meta.json");
        let Meta { name, speakers } =
            serde_json::from_slice(&read(&meta)?).map_err(|error| Failure::file(&meta, error))?;
        let named = || folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        Ok(Conversation {
            name: if name.is_empty() { named() } else { name },
            speakers,
            turns: lines(&folder.join("corpus.jsonl"))?,
            observations: lines(&folder.join("observations.jsonl"))?,
            queries: lines(&folder.join("queries.jsonl"))?,
        })
    }
}

/// Every conversation in a folder, in the order of their folders' names.
pub fn conversations(folder: &Path) -> Result<Vec<Conversation>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::file(folder, error))?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|path| path.join("corpus.jsonl").is_file() && path.join("meta.json").is_file());
    folders.sort();
    if folders.is_empty() {
        return Err(Failure::file(folder, "holds no folder with `meta.json` and `corpus.jsonl`"));
    }
    folders.iter().map(|path| Conversation::read(path)).collect()
}

/// A value from each line of a file that is not empty.
pub fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, Failure> {
    let bytes = read(path)?;
    let mut values = Vec::new();
    for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let value = serde_json::from_slice(line)
            .map_err(|error| Failure::Other(format!("{}:{}: {error}", path.display(), number + 1)))?;
        values.push(value);
    }
    if values.is_empty() {
        return Err(Failure::file(path, "is empty"));
    }
    Ok(values)
}

/// The turns of a conversation as records. A turn that is only a picture states its caption; one without any text is left out.
pub fn turn_records(turns: &[Turn]) -> Vec<Record> {
    let mut places: Vec<(&str, u32)> = Vec::new();
    let mut records = Vec::with_capacity(turns.len());
    for Turn { said, caption } in turns {
        let at = places.iter().position(|(session, _)| *session == said.session).unwrap_or_else(|| {
            places.push((&said.session, 0));
            places.len() - 1
        });
        let Some((_, next)) = places.get_mut(at) else { continue };
        let position = *next;
        *next += 1;
        let mut record = said.record("turn");
        match (said.text.trim().is_empty(), caption.is_empty()) {
            (true, true) => continue,
            (true, false) => record.statement.clone_from(caption),
            (false, true) => {}
            (false, false) => record.cues = vec![caption.clone()],
        }
        record.source.position = Some(position);
        records.push(record);
    }
    records
}

/// The facts of a conversation as records.
pub fn observation_records(observations: &[Observation]) -> Vec<Record> {
    let said = observations.iter().map(|observation| &observation.said);
    let record = |said: &Said| Record { subject: said.speaker.clone(), ..said.record("observation") };
    said.filter(|said| !said.text.trim().is_empty()).map(record).collect()
}

/// The sessions of a conversation as records: all that was said, a turn a line.
pub fn session_records(turns: &[Turn]) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for Turn { said, caption } in turns {
        let known = records.iter().position(|record| record.id == said.session);
        let at = known.unwrap_or_else(|| {
            let mut record = Record::new(said.session.clone(), "");
            record.kind = "section".into();
            record.created = said.timestamp;
            records.push(record);
            records.len() - 1
        });
        let Some(record) = records.get_mut(at) else { continue };
        if !record.statement.is_empty() {
            record.statement.push('\n');
        }
        record.statement.push_str(&said.speaker);
        record.statement.push_str(": ");
        record.statement.push_str(&said.text);
        if !caption.is_empty() {
            record.cues.push(caption.clone());
        }
    }
    records
}

/// A text, or a number as text: ids, sessions and categories come as either.
fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    match Value::deserialize(deserializer)? {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(serde::de::Error::custom(format!("expected a text or a number, found {other}"))),
    }
}
