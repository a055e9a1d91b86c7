//! The graph of the MCP memory server: entities with observations, and relations between them, as JSON on each line.

use std::collections::{HashMap, HashSet};
use std::io::BufRead;

use serde::Deserialize;

use super::front::brief;
use super::jsonl::{Lines, read};
use super::{Importer, Progress, fit_id, hash};
use crate::memory::{KnownEntity, Record, Source};

/// The longest id made here, in bytes.
const ID_BYTES: usize = 200;

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
enum Item {
    #[serde(rename_all = "camelCase")]
    Entity {
        name: String,
        #[serde(default)]
        entity_type: String,
        #[serde(default)]
        observations: Vec<String>,
    },
    #[serde(rename_all = "camelCase")]
    Relation { from: String, to: String, relation_type: String },
}

impl Importer {
    /// Reads the file that the MCP memory server keeps (`memory.jsonl`, older ones `memory.json`).
    ///
    /// An observation becomes a fact about its entity (its id a hash of the text, so that it stays the same when others come
    /// and go; its session the entity, so that observations of one entity are neighbours). A relation becomes a fact in words,
    /// `Ana works at Acme`. Every entity becomes a known entity; `John_Smith` is also known as `John Smith`.
    ///
    /// `bytes_total`, `progress` and reports are as for [`Importer::jsonl`]; relations to entities that the file does not hold
    /// are pointed out, and kept. An observation that an entity has twice is kept once, in silence.
    pub fn mcp_graph(
        &mut self,
        name: &str,
        mut reader: impl BufRead,
        bytes_total: Option<u64>,
        progress: &mut dyn FnMut(Progress),
    ) {
        let mut lines = Lines::new(name, bytes_total);
        let mut positions: HashMap<String, u32> = HashMap::new();
        let mut known: HashSet<String> = HashSet::new();
        let mut ends: Vec<(String, usize)> = Vec::new();
        while let Some((number, line)) = lines.next(self, &mut reader, progress) {
            match read(line) {
                Err(message) => self.skipped(name, Some(number), message),
                Ok(Item::Entity { name: entity, .. }) if entity.trim().is_empty() => {
                    self.skipped(name, Some(number), "the entity has no name");
                }
                Ok(Item::Entity { name: entity, entity_type, observations }) => {
                    for observation in observations {
                        let position = positions.entry(entity.clone()).or_default();
                        self.observation(name, number, &entity, &entity_type, &observation, position);
                    }
                    let aliases = Some(in_words(&entity)).filter(|words| *words != entity).into_iter().collect();
                    self.entity(KnownEntity { name: entity.clone(), aliases, ..KnownEntity::default() });
                    known.insert(entity);
                }
                Ok(Item::Relation { from, to, relation_type }) => {
                    if [&from, &to, &relation_type].iter().any(|part| part.trim().is_empty()) {
                        self.skipped(name, Some(number), "the relation lacks `from`, `to` or `relationType`");
                        continue;
                    }
                    let statement = format!("{} {} {}", in_words(&from), in_words(&relation_type), in_words(&to));
                    let record = Record {
                        id: fit_id(&format!("{from}|{relation_type}|{to}"), ID_BYTES),
                        kind: "fact".into(),
                        subject: from.clone(),
                        predicate: relation_type,
                        statement,
                        entities: names(&[&from, &to]),
                        source: Source { uri: name.to_string(), ..Source::default() },
                        ..Record::default()
                    };
                    self.record(record, name, Some(number));
                    ends.extend([(from, number), (to, number)]);
                }
            }
        }
        let mut told = HashSet::new();
        for (end, number) in ends {
            if !known.contains(&end) && told.insert(end.clone()) {
                let message = format!("a relation names `{}`, which is no entity of this file", brief(&end));
                self.warning(name, Some(number), message);
            }
        }
    }

    fn observation(&mut self, file: &str, line: usize, entity: &str, tag: &str, observation: &str, position: &mut u32) {
        let statement = observation.trim();
        if statement.is_empty() {
            return self.skipped(file, Some(line), format!("`{}` has an empty observation", brief(entity)));
        }
        let id = format!("{}#{:016x}", fit_id(entity, ID_BYTES - 17), hash(statement));
        if self.taken.contains_key(&id) {
            return;
        }
        let record = Record {
            id,
            kind: "fact".into(),
            subject: entity.to_string(),
            statement: statement.to_string(),
            title: in_words(entity),
            tags: Some(tag.trim().to_string()).filter(|tag| !tag.is_empty()).into_iter().collect(),
            entities: names(&[entity]),
            source: Source {
                uri: file.to_string(),
                session: entity.to_string(),
                position: Some(*position),
                ..Source::default()
            },
            ..Record::default()
        };
        if self.record(record, file, Some(line)) {
            *position = position.saturating_add(1);
        }
    }
}

/// A name written as one word, such as `John_Smith`, in words.
fn in_words(name: &str) -> String {
    if name.contains(char::is_whitespace) { name.trim().to_string() } else { name.replace('_', " ").trim().to_string() }
}

fn names(entities: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    for entity in entities {
        super::add_new(&mut names, [entity.to_string(), in_words(entity)]);
    }
    names
}
