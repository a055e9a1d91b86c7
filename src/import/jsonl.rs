//! JSON on each line: records, topics and known entities.

use std::collections::{BTreeMap, HashMap};
use std::io::BufRead;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::front::brief;
use super::lines::{Line, MAX_LINE_BYTES, next_line};
use super::{Importer, Progress};
use crate::memory::{KnownEntity, Topic};

/// Bytes between two calls of a progress callback.
pub(super) const PROGRESS_BYTES: u64 = 256 * 1024;

/// Keys of a record line; others are pointed out.
const RECORD_KEYS: [&str; 33] = [
    "type",
    "id",
    "kind",
    "topic",
    "subject",
    "predicate",
    "statement",
    "text",
    "content",
    "title",
    "cues",
    "tags",
    "entities",
    "status",
    "supersedes",
    "supersededBy",
    "superseded_by",
    "unresolved",
    "confidence",
    "importance",
    "created",
    "timestamp",
    "created_at",
    "createdAt",
    "updated",
    "updated_at",
    "updatedAt",
    "validFrom",
    "valid_from",
    "validUntil",
    "valid_until",
    "expires",
    "expires_at",
];
const MORE_RECORD_KEYS: [&str; 3] = ["expiresAt", "scope", "source"];
const TOPIC_KEYS: [&str; 9] = ["type", "id", "title", "aliases", "tags", "summary", "unresolved", "scope", "providers"];
const ENTITY_KEYS: [&str; 4] = ["type", "name", "aliases", "scope"];

impl Importer {
    /// Reads a record (camelCase or snake_case), a `{"type": "topic", ...}` or a `{"type": "entity", ...}` from each line.
    /// `bytes_total` is the length of the input, if it is known; `progress` is called about every 256 KiB and at the end.
    ///
    /// Reported, and left out: a line that is not JSON of that shape (with what serde says of it), longer than 16 MiB, or whose id
    /// is taken. Reported: keys that nobody reads, once for each. A reader that fails is reported with the line, and ends the file.
    pub fn jsonl(
        &mut self,
        name: &str,
        mut reader: impl BufRead,
        bytes_total: Option<u64>,
        progress: &mut dyn FnMut(Progress),
    ) {
        let mut unknown: HashMap<String, usize> = HashMap::new();
        let mut lines = Lines::new(name, bytes_total);
        while let Some((number, line)) = lines.next(self, &mut reader, progress) {
            match self.jsonl_line(name, number, line) {
                Ok(keys) => {
                    for key in keys {
                        if unknown.len() < 100 && unknown.insert(key.clone(), number).is_none() {
                            let message = format!("unknown key `{}` is ignored, here and below", brief(&key));
                            self.warning(name, Some(number), message);
                        }
                    }
                }
                Err(message) => self.skipped(name, Some(number), message),
            }
        }
    }

    /// Takes one line; gives the keys that it does not know, or why the line is left out.
    fn jsonl_line(&mut self, name: &str, number: usize, line: &str) -> Result<Vec<String>, String> {
        let keys: BTreeMap<String, IgnoredAny> = read(line)?;
        // A misspelt scope would make a memory visible to everyone.
        if let Some(key) =
            keys.keys().find(|key| *key != "scope" && matches!(key.to_lowercase().as_str(), "scope" | "scopes"))
        {
            return Err(format!("unknown key `{key}`: expected `scope`"));
        }
        let kind = if keys.contains_key("type") { read::<Type>(line)?.kind } else { None };
        let known: &[&[&str]] = match kind.as_deref() {
            None | Some("record") => {
                self.record(read(line)?, name, Some(number));
                &[&RECORD_KEYS, &MORE_RECORD_KEYS]
            }
            Some("topic") => {
                let mut topic: Topic = read(line)?;
                if topic.id.is_empty() {
                    topic.id.clone_from(&topic.title);
                }
                if topic.title.is_empty() {
                    topic.title.clone_from(&topic.id);
                }
                if topic.id.is_empty() {
                    return Err("the topic has neither `id` nor `title`".into());
                }
                if !self.topic_ids.insert(topic.id.clone()) {
                    return Err(format!("the topic id `{}` is taken: the first is kept", topic.id));
                }
                self.import.topics.push(topic);
                &[&TOPIC_KEYS]
            }
            Some("entity") => {
                if keys.contains_key("observations") || keys.contains_key("entityType") {
                    return Err(
                        "this is a line of an MCP memory graph among records: import it as a file of its own".into()
                    );
                }
                let entity: KnownEntity = read(line)?;
                if entity.name.is_empty() {
                    return Err("the entity has no `name`".into());
                }
                self.entity(entity);
                &[&ENTITY_KEYS]
            }
            Some(other) => {
                return Err(format!("unknown type `{}`: expected record, topic or entity", brief(other)));
            }
        };
        Ok(keys.into_keys().filter(|key| !known.iter().any(|known| known.contains(&key.as_str()))).collect())
    }
}

#[derive(Deserialize)]
struct Type {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Reads a value from a line; the column is kept in the message, its "line 1" is not.
pub(super) fn read<'a, T: Deserialize<'a>>(line: &'a str) -> Result<T, String> {
    serde_json::from_str(line).map_err(|error| {
        let message = error.to_string();
        match message.rsplit_once(" at line 1 column ") {
            Some((what, column)) => format!("{what} (column {column})"),
            None => message,
        }
    })
}

/// The lines of a file that hold something, with progress, and with reports of those that cannot be read.
pub(super) struct Lines<'a> {
    name: &'a str,
    number: usize,
    buffer: Vec<u8>,
    done: u64,
    told: u64,
    bytes_total: Option<u64>,
    any: bool,
}

impl<'a> Lines<'a> {
    pub fn new(name: &'a str, bytes_total: Option<u64>) -> Self {
        Lines { name, number: 0, buffer: Vec::new(), done: 0, told: 0, bytes_total, any: false }
    }

    /// The next line that holds something, trimmed, with its number.
    pub fn next(
        &mut self,
        importer: &mut Importer,
        reader: &mut impl BufRead,
        progress: &mut dyn FnMut(Progress),
    ) -> Option<(usize, &str)> {
        loop {
            self.number += 1;
            let found = next_line(reader, &mut self.buffer, MAX_LINE_BYTES, &mut self.done);
            if self.done - self.told >= PROGRESS_BYTES || matches!(found, Ok(Line::End)) {
                self.told = self.done;
                progress(Progress {
                    bytes_done: self.done,
                    bytes_total: self.bytes_total,
                    records: importer.records(),
                });
            }
            let number = Some(self.number);
            match found {
                Err(error) => {
                    importer.skipped(self.name, number, format!("cannot be read any further: {error}"));
                    return None;
                }
                Ok(Line::End) => {
                    if !self.any {
                        importer.skipped(self.name, None, "is empty");
                    }
                    return None;
                }
                Ok(Line::TooLong) => {
                    self.any = true;
                    let message = format!("is longer than {} MiB", MAX_LINE_BYTES >> 20);
                    importer.skipped(self.name, number, format!("the line {message}"));
                }
                Ok(Line::Read) => {
                    if self.number == 1 && self.buffer.starts_with("\u{feff}".as_bytes()) {
                        self.buffer.drain(..3);
                    }
                    if self.buffer.trim_ascii().is_empty() {
                        continue;
                    }
                    self.any = true;
                    if let Err(error) = std::str::from_utf8(&self.buffer) {
                        let message = format!("the line is not UTF-8 (byte {})", error.valid_up_to() + 1);
                        importer.skipped(self.name, number, message);
                        continue;
                    }
                    break;
                }
            }
        }
        let line = std::str::from_utf8(&self.buffer).ok()?;
        Some((self.number, line.trim()))
    }
}
