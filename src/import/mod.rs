//! Readers: notes, records, memory graphs and chat exports become records, topics and known entities.
//!
//! Everything here reads bytes or text that was handed in. Nothing panics on any input. A fault is reported by file and
//! line and costs what it stands on, nothing else. One exception is on purpose: a note whose **scope** cannot be read is
//! left out, because importing it would show it to everyone.
//!
//! | [`Format`] | what becomes of it |
//! | --- | --- |
//! | [`Markdown`](Format::Markdown) | a topic for each note, a record for each `##` section |
//! | [`Records`](Format::Records) | a record, topic or known entity for each line |
//! | [`McpGraph`](Format::McpGraph) | a fact for each observation and relation, a known entity for each entity |
//! | [`ChatGpt`](Format::ChatGpt) | a turn for each message on the current branch of each conversation |
//!
//! # Front matter of a note
//!
//! All keys are optional; `validFrom`, `valid_from` and `valid-from` are the same key, and unknown keys are pointed out.
//!
//! | keys | meaning | default |
//! | --- | --- | --- |
//! | `id`, `title`, `kind` | as in [`Record`] | the path without extension, the first `#` heading or the file name, `note` |
//! | `aliases`, `tags`, `summary` | of the topic; tags also of the records, aliases also cues of the first | none |
//! | `subject`, `predicate`, `entities`, `cues`, `unresolved`, `confidence`, `importance` | of every record | none |
//! | `status` | `active`, `archived` or `deleted` | `active` |
//! | `created` (or `date`), `updated`, `valid_from`, `valid_until`, `expires` | dates or times | `created` from a file name that begins with a date |
//! | `scope` | `{name: value}`: who may see it | everyone |
//! | `source` | an address, or a map of `provider`, `uri`, `session`, `position`, `speaker` | the path |
//! | `session` | conversation or document that the sections are part of | the note's id |
//! | `supersedes`, `superseded_by` | other notes by id, path, file name or title, or records by id; one side is enough | none |
//! | `entity` | this note is about that person or thing: `aliases` are its other names | with `kind: entity` the subject or title |
//! | `topic` | title of a topic that several notes share | the note is its own topic |
//! | `catalog` | `false`: no topic is made of it | `true` |
//!
//! Archived, deleted and superseded notes make no topic either.
//!
//! The JSON readers are native only; the Markdown reader compiles everywhere.

mod detect;
mod markdown;
mod front;
mod split;
mod resolve;
#[cfg(not(target_arch = "wasm32"))]
mod jsonl;
#[cfg(not(target_arch = "wasm32"))]
mod mcp;
#[cfg(not(target_arch = "wasm32"))]
mod chatgpt;
#[cfg(not(target_arch = "wasm32"))]
mod lines;
#[cfg(not(target_arch = "wasm32"))]
mod elements;
#[cfg(all(feature = "cli", not(target_arch = "wasm32")))]
pub mod folder;

use std::collections::{HashMap, HashSet};
use std::fmt;

use serde::Serialize;

pub use detect::{Format, detect};

use crate::memory::{KnownEntity, Record, Scope, Topic};
use markdown::{Draft, Note};

/// What was read, and what could not be.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Import {
    /// Records in the order of the input; ids are unique, and each record can be stored ([`Record::fault`] is `None`).
    pub records: Vec<Record>,
    /// Topics in the order of the input; ids are unique.
    pub topics: Vec<Topic>,
    /// Known entities in the order of the input; one for each name and scope.
    pub entities: Vec<KnownEntity>,
    /// What was skipped or is doubtful, in the order in which it was found.
    pub reports: Vec<Report>,
}

/// Something that the author of the input should know. Displayed as `path:line: message`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Report {
    /// Name of the file as it was given to the reader, or relative to the folder.
    pub file: String,
    /// Line, counted from 1, where there is one.
    pub line: Option<usize>,
    /// Whether anything was left out.
    pub severity: Severity,
    /// What is wrong, and what is expected.
    pub message: String,
}

/// How much a [`Report`] cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Imported, but not quite as written.
    Warning,
    /// Left out.
    Skipped,
}

/// How far a reader has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of input read so far.
    pub bytes_done: u64,
    /// Bytes of input in all, where that is known.
    pub bytes_total: Option<u64>,
    /// Records imported so far.
    pub records: usize,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Takes input piece by piece and gives the whole at the end, when references between notes can be resolved.
///
/// ```
/// use foreword::import::Importer;
///
/// let mut importer = Importer::new();
/// importer.markdown("billing.md", "---\ntags: [money]\n---\n# Billing rewrite\nRefunds round half to even.\n");
/// let import = importer.finish();
/// assert_eq!(import.topics[0].title, "Billing rewrite");
/// assert_eq!(import.records[0].statement, "Refunds round half to even.");
/// assert!(import.reports.is_empty());
/// ```
#[derive(Debug, Default)]
pub struct Importer {
    import: Import,
    notes: Vec<Note>,
    /// Record ids that are taken, with the place that took them.
    taken: HashMap<String, (String, Option<usize>)>,
    note_ids: HashSet<String>,
    /// The next free place in each session that notes share.
    places: HashMap<String, u32>,
    /// Topics that were given as such, not made from notes.
    #[cfg(not(target_arch = "wasm32"))]
    topic_ids: HashSet<String>,
    /// Chats that have been read.
    #[cfg(not(target_arch = "wasm32"))]
    conversations: HashSet<String>,
    entity_places: HashMap<(String, Scope), usize>,
    /// Reports so far by file, for the limit.
    reported: HashMap<String, usize>,
}

impl Importer {
    /// Reports kept for one file; beyond them a last one says that there are more.
    pub const MAX_REPORTS_PER_FILE: usize = 1_000;

    /// The largest Markdown note that is read, in bytes.
    pub const MAX_NOTE_BYTES: usize = 16 * 1024 * 1024;

    /// An importer that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one Markdown note. `name` is its path relative to the folder, with `/`; it becomes the id unless front matter gives one.
    ///
    /// Reported: front matter that cannot be read, unknown keys, an id that is taken, an empty note, a note without a readable scope.
    pub fn markdown(&mut self, name: &str, text: &str) {
        if text.len() > Self::MAX_NOTE_BYTES {
            let message = format!("is {} bytes long: notes of at most {} are read", text.len(), Self::MAX_NOTE_BYTES);
            return self.skipped(name, None, message);
        }
        let mut reports = Vec::new();
        let draft = markdown::read(name, text, &mut reports);
        for report in reports {
            self.report(report);
        }
        let Some(mut draft) = draft else {
            return;
        };
        self.settle_id(&mut draft);
        let first = self.import.records.len();
        let (mut note, mut records) = draft.finish(|id| self.taken.contains_key(id));
        for record in &mut records {
            // Notes of one session follow each other; each keeps the order of its sections.
            let next = self.places.entry(record.source.session.clone()).or_default();
            let position = record.source.position.unwrap_or(0).max(*next);
            *next = position.saturating_add(1);
            record.source.position = Some(position);
        }
        for record in records {
            self.record(record, name, Some(1));
        }
        note.records = first..self.import.records.len();
        self.note_ids.insert(note.id.clone());
        self.notes.push(note);
    }

    /// Reads one Markdown note from bytes, which must be UTF-8; a byte order mark is fine. Reported: bytes that are not.
    pub fn markdown_bytes(&mut self, name: &str, bytes: &[u8]) {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.markdown(name, text),
            Err(error) => {
                let good = bytes.get(..error.valid_up_to()).unwrap_or_default();
                let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
                let utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
                let message = if utf16 {
                    "is UTF-16: save it as UTF-8".to_string()
                } else {
                    format!("is not UTF-8 (byte {} of the file): save it as UTF-8", error.valid_up_to())
                };
                self.skipped(name, Some(line), message);
            }
        }
    }

    /// Resolves what notes say of each other and gives everything that was read.
    pub fn finish(mut self) -> Import {
        resolve::supersession(&mut self);
        resolve::topics(&mut self);
        self.import
    }

    /// Number of records so far.
    pub fn records(&self) -> usize {
        self.import.records.len()
    }

    /// What has been reported so far.
    pub fn reports(&self) -> &[Report] {
        &self.import.reports
    }

    /// An id for the note that no other has: its own, else its path, else its path with a number.
    fn settle_id(&mut self, draft: &mut Draft) {
        let free = |id: &str| !self.note_ids.contains(id) && !self.taken.contains_key(id);
        if free(&draft.id) {
            return;
        }
        let wanted = draft.id.clone();
        if free(&draft.path_id) {
            draft.id.clone_from(&draft.path_id);
        } else {
            let mut number = 2u64;
            draft.id = loop {
                let id = fit_id(&format!("{}~{number}", draft.path_id), NOTE_ID_BYTES);
                if free(&id) {
                    break id;
                }
                number += 1;
            };
        }
        let message = format!("the id `{wanted}` is taken: imported as `{}`", draft.id);
        let (file, line) = (draft.file.clone(), draft.id_line);
        self.warning(&file, line, message);
    }

    /// Adds a record; reported and left out if it cannot be stored or its id is taken.
    fn record(&mut self, record: Record, file: &str, line: Option<usize>) -> bool {
        if let Some(fault) = record.fault() {
            self.skipped(file, line, format!("the record {fault}"));
            return false;
        }
        if let Some((other, other_line)) = self.taken.get(&record.id) {
            let place = match other_line {
                Some(line) => format!("{other}:{line}"),
                None => other.clone(),
            };
            let message = format!("the id `{}` is taken (by {place}): the first is kept", record.id);
            self.skipped(file, line, message);
            return false;
        }
        self.taken.insert(record.id.clone(), (file.to_string(), line));
        self.import.records.push(record);
        true
    }

    fn entity(&mut self, entity: KnownEntity) {
        let entities = &mut self.import.entities;
        let place = *self.entity_places.entry((entity.name.clone(), entity.scope.clone())).or_insert(entities.len());
        match entities.get_mut(place) {
            Some(known) => add_new(&mut known.aliases, entity.aliases),
            None => entities.push(entity),
        }
    }

    fn report(&mut self, report: Report) {
        let count = self.reported.entry(report.file.clone()).or_default();
        *count += 1;
        match (*count).cmp(&Self::MAX_REPORTS_PER_FILE) {
            std::cmp::Ordering::Less => self.import.reports.push(report),
            std::cmp::Ordering::Equal => self
                .import
                .reports
                .push(Report { message: format!("{} (more of this file is not reported)", report.message), ..report }),
            std::cmp::Ordering::Greater => {}
        }
    }

    fn warning(&mut self, file: &str, line: Option<usize>, message: impl Into<String>) {
        self.report(Report { file: file.to_string(), line, severity: Severity::Warning, message: message.into() });
    }

    fn skipped(&mut self, file: &str, line: Option<usize>, message: impl Into<String>) {
        self.report(Report { file: file.to_string(), line, severity: Severity::Skipped, message: message.into() });
    }
}

/// The longest note id, in bytes: leaves room for `#slug-2` in a record id.
const NOTE_ID_BYTES: usize = 180;

/// Appends what is not there yet, whatever its case.
fn add_new(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    let mut known: HashSet<String> = list.iter().map(|value| value.to_lowercase()).collect();
    for value in more {
        if !value.is_empty() && known.insert(value.to_lowercase()) {
            list.push(value);
        }
    }
}

/// An id of at most `most` bytes: one that is longer is cut, and a hash of the whole keeps it apart from others.
fn fit_id(id: &str, most: usize) -> String {
    if id.len() <= most {
        return id.to_string();
    }
    let mut end = most.saturating_sub(17);
    while !id.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}~{:016x}", id.get(..end).unwrap_or_default(), hash(id))
}

/// FNV-1a, 64 bits: stable over time and machines, as ids must be.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests;
