//! ChatGPT's `conversations.json`: an array of conversations, each a tree of messages of which one branch is in use.

use std::collections::{BTreeMap, HashSet};
use std::io::{self, BufRead};

use serde::Deserialize;
use serde_json::Value;

use super::elements::{Elements, Found};
use super::front::brief;
use super::jsonl::PROGRESS_BYTES;
use super::split::passages;
use super::{Importer, Progress, fit_id};
use crate::memory::{Record, Source, Status, Timestamp};

/// The longest conversation that is read, in bytes of JSON; a longer one is passed over.
const MAX_CONVERSATION_BYTES: usize = 256 * 1024 * 1024;

/// The longest id of a message made here, in bytes; a piece number still fits behind it.
const ID_BYTES: usize = 200;

#[derive(Deserialize)]
struct Conversation {
    id: Option<String>,
    conversation_id: Option<String>,
    title: Option<String>,
    create_time: Option<Value>,
    current_node: Option<String>,
    /// In the order of their ids, so that nothing depends on chance.
    mapping: Option<BTreeMap<String, Node>>,
    is_archived: Option<bool>,
    is_do_not_remember: Option<bool>,
}

#[derive(Deserialize)]
struct Node {
    parent: Option<String>,
    children: Option<Vec<String>>,
    message: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    id: Option<String>,
    author: Author,
    create_time: Option<Value>,
    content: Option<Content>,
    recipient: Option<String>,
    metadata: Option<Metadata>,
}

#[derive(Deserialize)]
struct Author {
    role: String,
}

#[derive(Deserialize)]
struct Content {
    content_type: Option<String>,
    parts: Option<Vec<Value>>,
}

#[derive(Deserialize)]
struct Metadata {
    is_visually_hidden_from_conversation: Option<bool>,
    is_user_system_message: Option<bool>,
}

/// What was left out of a file, counted by reason.
type Skips = BTreeMap<&'static str, usize>;

impl Importer {
    /// Reads ChatGPT's export, one conversation at a time; a file that holds a single conversation is fine too.
    ///
    /// Each message of user and assistant on the branch in use becomes a `turn`: session the conversation, position its place among the
    /// turns, title the conversation's. A long message is cut into passages, each with a position of its own. Archived conversations are kept
    /// as history; one that is marked as not to be remembered is left out.
    ///
    /// Reported: a conversation or message of another shape (with its line and what serde says), a conversation longer than 256 MiB or seen
    /// before, a file that ends too early; and in one report at the end, what was left out and why: system and tool messages, reasoning, images,
    /// other branches. Memory holds one conversation at a time beside the records.
    pub fn chatgpt(
        &mut self,
        name: &str,
        reader: impl BufRead,
        bytes_total: Option<u64>,
        progress: &mut dyn FnMut(Progress),
    ) {
        let mut elements = Elements::new(reader, MAX_CONVERSATION_BYTES);
        let mut skips = Skips::new();
        let mut buffer = Vec::new();
        let mut told = 0;
        let mut count = 0usize;
        let first = self.records();
        loop {
            let found = elements.next(&mut buffer);
            if elements.done - told >= PROGRESS_BYTES || !matches!(found, Ok(Found::Element { .. })) {
                told = elements.done;
                progress(Progress { bytes_done: told, bytes_total, records: self.records() });
            }
            match found {
                Ok(Found::Element { line }) => {
                    count += 1;
                    self.conversation(name, line, count, &buffer, &mut skips);
                }
                Ok(Found::TooLong { line }) => {
                    count += 1;
                    let most = MAX_CONVERSATION_BYTES >> 20;
                    self.skipped(name, Some(line), format!("conversation {count} is longer than {most} MiB"));
                }
                Ok(Found::Broken { line, message }) => {
                    self.skipped(name, Some(line), format!("after conversation {count}: {message}"));
                    break;
                }
                Ok(Found::End) => {
                    if count == 0 {
                        self.skipped(name, None, "holds no conversation");
                    }
                    break;
                }
                Err(error) => {
                    self.skipped(name, Some(elements.line), unreadable(&error));
                    break;
                }
            }
        }
        let archived: HashSet<&str> = self
            .import
            .records
            .iter()
            .skip(first)
            .filter(|record| record.status == Status::Archived)
            .map(|record| record.source.session.as_str())
            .collect();
        if !archived.is_empty() {
            let message = format!("archived conversations, kept as history: {}", archived.len());
            self.warning(name, None, message);
        }
        if !skips.is_empty() {
            let parts: Vec<String> = skips.iter().map(|(what, count)| format!("{what}: {count}")).collect();
            self.skipped(name, None, format!("left out of {count} conversations: {}", parts.join(", ")));
        }
    }

    fn conversation(&mut self, file: &str, line: usize, number: usize, json: &[u8], skips: &mut Skips) {
        let mut conversation: Conversation = match serde_json::from_slice(json) {
            Ok(conversation) => conversation,
            Err(error) => {
                let line = line + error.line().saturating_sub(1);
                let message = error.to_string();
                let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
                return self.skipped(file, Some(line), format!("conversation {number}: {what}"));
            }
        };
        if conversation.is_do_not_remember == Some(true) {
            *skips.entry("conversations marked as not to be remembered").or_default() += 1;
            return;
        }
        let given = conversation.conversation_id.take().or(conversation.id.take());
        let session = given.filter(|id| !id.is_empty()).unwrap_or_else(|| format!("{file}#{number}"));
        let title = conversation.title.take().unwrap_or_default();
        let called = if title.is_empty() { session.clone() } else { title.clone() };
        let called = format!("conversation {number} (`{}`)", brief(&called));
        if !self.conversations.insert(session.clone()) {
            return self.skipped(file, Some(line), format!("{called} has been read already"));
        }
        let mut mapping = conversation.mapping.unwrap_or_default();
        let (path, guessed) = branch(&mapping, conversation.current_node.as_deref());
        if guessed && !path.is_empty() {
            let message =
                format!("{called} does not say which branch is in use: the one with the latest message is taken");
            self.warning(file, Some(line), message);
        }
        let started = conversation.create_time.as_ref().and_then(moment);
        let address = session.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let base = Record {
            kind: "turn".into(),
            title,
            status: if conversation.is_archived == Some(true) { Status::Archived } else { Status::Active },
            source: Source {
                uri: if address { format!("https://chatgpt.com/c/{session}") } else { file.to_string() },
                session: session.clone(),
                ..Source::default()
            },
            ..Record::default()
        };
        let mut position = 0u32;
        for node in path {
            let Some(message) = mapping.get_mut(&node).and_then(|node| node.message.take()) else {
                continue;
            };
            let message: Message = match serde_json::from_value(message) {
                Ok(message) => message,
                Err(error) => {
                    let message = format!("{called}, message `{}`: {error}", brief(&node));
                    self.skipped(file, Some(line), message);
                    continue;
                }
            };
            let Some(text) = text_of(&message, skips) else {
                continue;
            };
            let id = message.id.filter(|id| !id.is_empty()).unwrap_or(node);
            let id = fit_id(&format!("{session}/{id}"), ID_BYTES);
            for (number, statement) in passages(&text).into_iter().enumerate() {
                let mut record = base.clone();
                record.id = if number == 0 { id.clone() } else { format!("{id}#{}", number + 1) };
                record.statement = statement;
                record.created = message.create_time.as_ref().and_then(moment).or(started);
                record.source.speaker.clone_from(&message.author.role);
                record.source.position = Some(position);
                if self.record(record, file, Some(line)) {
                    position = position.saturating_add(1);
                }
            }
        }
        if position == 0 {
            *skips.entry("conversations without a turn").or_default() += 1;
        }
        let others = mapping.values().filter(|node| node.message.is_some()).count();
        if others > 0 {
            *skips.entry("messages on branches not in use").or_default() += others;
        }
    }
}

fn unreadable(error: &io::Error) -> String {
    format!("cannot be read any further: {error}")
}

/// The node ids from the root to the current node, and whether the current node had to be guessed.
fn branch(mapping: &BTreeMap<String, Node>, current: Option<&str>) -> (Vec<String>, bool) {
    let current = current.filter(|id| mapping.contains_key(*id));
    let latest = || {
        let time = |node: &Node| {
            let time = node.message.as_ref()?.get("create_time")?.as_f64()?;
            Some(time).filter(|time| time.is_finite())
        };
        let leaf = |node: &Node| node.children.as_ref().is_none_or(Vec::is_empty);
        mapping
            .iter()
            .filter(|(_, node)| leaf(node))
            .max_by(|(_, one), (_, other)| {
                let (one, other) = (time(one).unwrap_or(f64::MIN), time(other).unwrap_or(f64::MIN));
                one.total_cmp(&other)
            })
            .map(|(id, _)| id.as_str())
    };
    let mut path = Vec::new();
    let mut seen = HashSet::new();
    let mut at = current.or_else(latest);
    while let Some((id, node)) = at.and_then(|id| mapping.get_key_value(id)) {
        if !seen.insert(id.as_str()) {
            break;
        }
        path.push(id.clone());
        at = node.parent.as_deref();
    }
    path.reverse();
    (path, current.is_none())
}

/// What was said, if it was said by one of the two to the other; otherwise the reason is counted.
fn text_of(message: &Message, skips: &mut Skips) -> Option<String> {
    let mut skip = |why: &'static str| {
        *skips.entry(why).or_default() += 1;
        None
    };
    let content = message.content.as_ref();
    let content_type = content.and_then(|content| content.content_type.as_deref()).unwrap_or("text");
    let flag = |flag: fn(&Metadata) -> Option<bool>| message.metadata.as_ref().and_then(flag) == Some(true);
    if flag(|metadata| metadata.is_user_system_message)
        || matches!(content_type, "user_editable_context" | "model_editable_context")
    {
        return skip("custom instructions");
    }
    match message.author.role.as_str() {
        "user" | "assistant" => {}
        "system" => return skip("system messages"),
        "tool" => return skip("tool messages"),
        _ => return skip("messages of other roles"),
    }
    if flag(|metadata| metadata.is_visually_hidden_from_conversation) {
        return skip("hidden messages");
    }
    if message.recipient.as_deref().is_some_and(|recipient| !matches!(recipient, "" | "all")) {
        return skip("messages to tools");
    }
    match content_type {
        "text" | "multimodal_text" => {}
        "thoughts" | "reasoning_recap" => return skip("reasoning"),
        "code" => return skip("code for tools"),
        _ => return skip("messages of other content types"),
    }
    let mut texts: Vec<&str> = Vec::new();
    let mut others = 0;
    for part in content.and_then(|content| content.parts.as_deref()).unwrap_or_default() {
        // A transcript of speech is an object with a text; an image has none.
        match part.as_str().or_else(|| part.get("text").and_then(Value::as_str)) {
            Some(text) if text.trim().is_empty() => {}
            Some(text) => texts.push(text.trim()),
            None => others += 1,
        }
    }
    if others > 0 {
        *skips.entry("images, sound and files (the text beside them is kept)").or_default() += others;
    }
    if texts.is_empty() {
        if others == 0 {
            *skips.entry("empty messages").or_default() += 1;
        }
        return None;
    }
    Some(texts.join("\n\n").replace("\r\n", "\n"))
}

/// A time in seconds since 1970, or in words.
fn moment(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => Timestamp::parse(text),
        _ => {
            let ms = value.as_f64()? * 1000.0;
            // Up to the year 9999; anything else is no time.
            (ms > 0.0 && ms < 253_402_300_800_000.0).then(|| Timestamp(ms.round() as i64))
        }
    }
}
