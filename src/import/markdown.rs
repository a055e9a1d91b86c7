//! Markdown notes with front matter.
//!
//! A note gives one record for its introduction and one for each `##` section (and for each further `#`); deeper headings
//! stay in the text. Long sections are cut at paragraphs. HTML comments are left out; `[[links]]` are written as their
//! label, and their targets become entities of the record.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use super::front::{self, Field, Front, Value, brief};
use super::split::{Fence, passages};
use super::{NOTE_ID_BYTES, Report, Severity, add_new, fit_id};
use crate::memory::{KnownEntity, Record, Scope, Status, Timestamp, Topic};

/// The longest slug in a record id, in bytes.
const SLUG_BYTES: usize = 60;

/// How far a link or a code span may reach, in bytes.
const SPAN_BYTES: usize = 1024;

/// A note whose records are made, waiting for the other notes.
#[derive(Debug)]
pub(super) struct Note {
    pub id: String,
    pub path_id: String,
    pub file: String,
    /// Its records' places among all; filled in when they are added.
    pub records: Range<usize>,
    pub topic: Topic,
    /// Neither archived nor deleted.
    pub active: bool,
    /// Whether a topic is made of it, as far as the note itself decides.
    pub catalog: bool,
    pub topic_name: Option<String>,
    pub entity: Option<KnownEntity>,
    pub supersedes: Vec<String>,
    pub superseded_by: Option<String>,
    pub reference_line: Option<usize>,
}

/// A note that has been read, before its id is settled.
#[derive(Debug)]
pub(super) struct Draft {
    pub id: String,
    pub path_id: String,
    pub id_line: Option<usize>,
    pub file: String,
    meta: Meta,
    title: String,
    sections: Vec<Section>,
}

/// What front matter says, typed.
#[derive(Debug, Default)]
struct Meta {
    record: Record,
    id: Option<(String, usize)>,
    title: Option<String>,
    aliases: Vec<String>,
    summary: String,
    entity: Option<String>,
    topic: Option<String>,
    catalog: Option<bool>,
    supersedes: Vec<String>,
    superseded_by: Option<String>,
    reference_line: Option<usize>,
    scope_unreadable: bool,
}

#[derive(Debug, Default)]
struct Section {
    heading: String,
    text: String,
    links: Vec<String>,
}

/// Reads a note. `None` if there is nothing to import; why is in the reports.
pub(super) fn read(name: &str, text: &str, reports: &mut Vec<Report>) -> Option<Draft> {
    let mut report = |line: Option<usize>, severity, message: String| {
        reports.push(Report { file: name.to_string(), line, severity, message });
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text: Cow<'_, str> =
        if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n").into() } else { text.into() };
    if text.trim().is_empty() {
        report(None, Severity::Skipped, "is empty".into());
        return None;
    }
    let lines: Vec<&str> = text.lines().collect();
    let mut warn = |line: usize, message: String| report(Some(line), Severity::Warning, message);
    let (front, body_at) = front_matter(&lines, &mut warn);
    let has_front = front.is_some();
    let meta = front.map(|front| meta(front, &mut warn)).unwrap_or_default();
    if meta.scope_unreadable {
        let message = "who may see this note cannot be read from its front matter, so it is left out: expected `scope: {name: value}`, or no `scope` for everyone";
        report(Some(1), Severity::Skipped, message.into());
        return None;
    }
    let body = body(lines.get(body_at..).unwrap_or_default(), body_at + 1, meta.title.as_deref(), &mut warn);
    let path = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let stem = path.rsplit('/').next().unwrap_or(path);
    let path_id = fit_id(if path.is_empty() { "note" } else { path }, NOTE_ID_BYTES);
    let named = meta.title.is_some() || body.title.is_some() || meta.entity.is_some();
    let title = meta.title.clone().or(body.title).or_else(|| meta.entity.clone()).unwrap_or_else(|| title_of(stem));
    let mut sections = body.sections;
    let headings: Vec<String> =
        sections.iter().filter(|section| !section.heading.is_empty()).map(|section| section.heading.clone()).collect();
    sections.retain(|section| !section.text.trim().is_empty());
    // Without an introduction the summary stands in for it; a note of headings only keeps them as text.
    let has_intro = sections.first().is_some_and(|section| section.heading.is_empty());
    if !has_intro {
        let text = if !meta.summary.is_empty() {
            meta.summary.clone()
        } else if sections.is_empty() {
            headings.join("\n")
        } else {
            String::new()
        };
        if !text.is_empty() || sections.is_empty() && named {
            sections.insert(0, Section { text, ..Section::default() });
        }
    }
    if sections.is_empty() && !(has_front && meta.entity.is_some()) {
        report(None, Severity::Skipped, "has no text and no title".into());
        return None;
    }
    let mut meta = meta;
    if meta.record.created.is_none() {
        meta.record.created = stem.get(..10).filter(|date| date.matches('-').count() == 2).and_then(Timestamp::parse);
    }
    let id = match &meta.id {
        Some((id, line)) => {
            let fitted = fit_id(id, NOTE_ID_BYTES);
            if fitted != *id {
                let message = format!("the id is {} bytes long: shortened to `{fitted}`", id.len());
                report(Some(*line), Severity::Warning, message);
            }
            fitted
        }
        None => path_id.clone(),
    };
    Some(Draft {
        id,
        path_id,
        id_line: meta.id.as_ref().map(|(_, line)| *line),
        file: name.to_string(),
        meta,
        title,
        sections,
    })
}

/// The title that a file name gives: its words. A name that is only a date stays as it is.
fn title_of(stem: &str) -> String {
    if Timestamp::parse(stem).is_some() {
        return stem.to_string();
    }
    let (date, rest) = match stem.get(..10).and_then(Timestamp::parse) {
        Some(_) if stem.get(..10).is_some_and(|date| date.matches('-').count() == 2) => stem.split_at(10),
        _ => ("", stem),
    };
    let words = rest.replace(['-', '_'], " ");
    let title = format!("{date} {}", words.trim());
    let title = title.trim();
    if title.is_empty() { stem.to_string() } else { title.to_string() }
}

impl Draft {
    /// Makes the note and its records under the settled id; `taken` tells which record ids are in use already.
    pub fn finish(self, taken: impl Fn(&str) -> bool) -> (Note, Vec<Record>) {
        let Draft { id, path_id, file, meta, title, sections, .. } = self;
        let mut base = meta.record;
        if base.kind.is_empty() {
            base.kind = "note".into();
        }
        let entity = meta.entity.map(|name| {
            let mut aliases = Vec::new();
            add_new(&mut aliases, meta.aliases.iter().cloned());
            add_new(&mut aliases, [title.clone()]);
            aliases.retain(|alias| !alias.eq_ignore_ascii_case(&name));
            KnownEntity { name, aliases, scope: base.scope.clone() }
        });
        if let Some(entity) = &entity {
            if base.subject.is_empty() {
                base.subject.clone_from(&entity.name);
            }
            add_new(&mut base.entities, [entity.name.clone()]);
        }
        if base.source.uri.is_empty() {
            base.source.uri.clone_from(&file);
        }
        if base.source.session.is_empty() {
            base.source.session.clone_from(&id);
        }
        let first_position = base.source.position.unwrap_or(0);
        let pieces: Vec<(Section, Vec<String>)> = sections
            .into_iter()
            .map(|section| {
                let pieces = passages(&section.text);
                (section, if pieces.is_empty() { vec![String::new()] } else { pieces })
            })
            .collect();
        let alone = pieces.len() == 1;
        let mut used: HashSet<String> = HashSet::new();
        let mut records: Vec<Record> = Vec::new();
        for (section, pieces) in pieces {
            let stem = if section.heading.is_empty() || alone {
                id.clone()
            } else {
                format!("{id}#{}", slug(&section.heading))
            };
            for (number, statement) in pieces.into_iter().enumerate() {
                let mut record = base.clone();
                record.id = free_id(&stem, number, |id| used.contains(id) || taken(id));
                used.insert(record.id.clone());
                record.statement = statement;
                record.title =
                    if section.heading.is_empty() { title.clone() } else { format!("{title}: {}", section.heading) };
                add_new(&mut record.entities, section.links.iter().cloned());
                if records.is_empty() {
                    add_new(&mut record.cues, meta.aliases.iter().cloned());
                }
                record.source.position =
                    u32::try_from(records.len()).ok().and_then(|position| first_position.checked_add(position));
                records.push(record);
            }
        }
        let topic = Topic {
            id: id.clone(),
            title,
            aliases: meta.aliases,
            tags: base.tags,
            summary: meta.summary,
            unresolved: base.unresolved,
            scope: base.scope,
            providers: Vec::new(),
        };
        let note = Note {
            id,
            path_id,
            file,
            records: 0..0,
            active: base.status == Status::Active,
            catalog: meta.catalog != Some(false) && base.status == Status::Active,
            topic,
            topic_name: meta.topic,
            entity,
            supersedes: meta.supersedes,
            superseded_by: meta.superseded_by,
            reference_line: meta.reference_line,
        };
        (note, records)
    }
}

/// `stem` for the first piece, `stem-2` (`stem#2` where the stem names no section) for further ones, counted on while taken.
fn free_id(stem: &str, number: usize, taken: impl Fn(&str) -> bool) -> String {
    let mark = if stem.contains('#') { '-' } else { '#' };
    let mut number = number + 1;
    loop {
        let id = if number == 1 { stem.to_string() } else { format!("{stem}{mark}{number}") };
        if !taken(&id) {
            return id;
        }
        number += 1;
    }
}

/// A heading as part of an id: lower case letters and digits of any script, joined by `-`.
fn slug(heading: &str) -> String {
    let mut slug = String::new();
    for next in heading.chars().flat_map(char::to_lowercase) {
        if slug.len() + next.len_utf8() > SLUG_BYTES {
            break;
        }
        if next.is_alphanumeric() {
            slug.push(next);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    if slug.is_empty() { "section".into() } else { slug }
}

/// Front matter, if the note begins with it, and the number of lines that it takes.
fn front_matter(lines: &[&str], warn: &mut impl FnMut(usize, String)) -> (Option<Front>, usize) {
    if lines.first().is_none_or(|line| line.trim_end() != "---") {
        return (None, 0);
    }
    let rest = lines.get(1..).unwrap_or_default();
    let closes = |line: &&str| matches!(line.trim_end(), "---" | "...");
    if let Some(end) = rest.iter().position(closes) {
        let block = rest.get(..end).unwrap_or_default();
        // A rule, text, and another rule are no front matter.
        let looks = |line: &&str| line.contains(':') || line.trim_start().starts_with('#') || line.trim().is_empty();
        if block.is_empty() || block.iter().any(looks) {
            return (Some(front::parse(block, 2)), end + 2);
        }
        return (None, 0);
    }
    // Never closed: what stands before the first blank line or heading is taken for it, if it looks like keys.
    let end = rest.iter().position(|line| line.trim().is_empty() || line.starts_with('#')).unwrap_or(rest.len());
    let block = rest.get(..end).unwrap_or_default();
    if !block.first().is_some_and(|line| line.contains(':')) {
        return (None, 0);
    }
    warn(1, "front matter opens here and never closes: expected `---` on a line of its own".into());
    let front = front::parse(block, 2);
    (Some(front), end + 1)
}

fn meta(front: Front, warn: &mut impl FnMut(usize, String)) -> Meta {
    for fault in front.faults {
        warn(fault.line, fault.message);
    }
    let mut meta = Meta { scope_unreadable: front.scope_unreadable, ..Meta::default() };
    let mut seen: HashSet<String> = HashSet::new();
    for field in front.fields {
        // `valid_from`, `validFrom` and `Valid-From` are one key.
        let key: String =
            field.key.chars().filter(|next| !matches!(next, '_' | '-')).flat_map(char::to_lowercase).collect();
        if !seen.insert(key.clone()) {
            warn(field.line, format!("`{}` is given twice: the first is kept", field.key));
            meta.scope_unreadable |= key == "scope";
            continue;
        }
        if let Err(expected) = meta.set(&key, &field) {
            warn(field.line, expected);
        }
    }
    // `kind: entity` names its entity by the subject or the title.
    if meta.record.kind == "entity" && meta.entity.is_none() {
        let name = Some(meta.record.subject.clone()).filter(|subject| !subject.is_empty());
        meta.entity = name.or_else(|| meta.title.clone()).or_else(|| meta.id.as_ref().map(|(id, _)| id.clone()));
        if meta.entity.is_none() {
            warn(1, "`kind: entity` names nobody: expected `entity: name`, `subject` or `title`".into());
        }
    }
    meta
}

impl Meta {
    /// Takes one key; the error says what is expected.
    fn set(&mut self, key: &str, field: &Field) -> Result<(), String> {
        let Field { key: name, line, value } = field;
        if key == "scope" {
            return self.set_scope(value);
        }
        if matches!(value, Value::Null | Value::Unreadable) {
            return Ok(());
        }
        let record = &mut self.record;
        match key {
            "id" => self.id = Some((text(name, value)?, *line)),
            "kind" | "type" => record.kind = text(name, value)?,
            "title" => self.title = Some(text(name, value)?),
            "aliases" | "alias" => add_new(&mut self.aliases, list(name, value, false)?),
            "tags" | "tag" => {
                let tags = list(name, value, true)?;
                add_new(&mut record.tags, tags.iter().map(|tag| tag.trim_start_matches('#').to_string()));
            }
            "summary" | "description" => self.summary = text(name, value)?,
            "subject" => record.subject = unlink(&text(name, value)?),
            "predicate" => record.predicate = text(name, value)?,
            "entities" => {
                let entities = list(name, value, false)?;
                add_new(&mut record.entities, entities.iter().map(|entity| unlink(entity)));
            }
            "entity" => self.entity = Some(unlink(&text(name, value)?)),
            "cues" => add_new(&mut record.cues, list(name, value, false)?),
            "status" => {
                record.status = match text(name, value)?.to_lowercase().as_str() {
                    "active" => Status::Active,
                    "archived" => Status::Archived,
                    "deleted" => Status::Deleted,
                    other => {
                        return Err(format!(
                            "`{name}: {}`: expected `active`, `archived` or `deleted` (kept as active)",
                            brief(other)
                        ));
                    }
                };
            }
            "unresolved" => record.unresolved = truth(name, value)?,
            "catalog" => self.catalog = Some(truth(name, value)?),
            "supersedes" => {
                self.supersedes = list(name, value, false)?;
                self.reference_line = Some(*line);
            }
            "supersededby" => {
                self.superseded_by = Some(text(name, value)?);
                self.reference_line = self.reference_line.or(Some(*line));
            }
            "confidence" => record.confidence = Some(share(name, value)?),
            "importance" => record.importance = Some(share(name, value)?),
            "created" | "createdat" | "date" | "timestamp" => record.created = Some(time(name, value)?),
            "updated" | "updatedat" => record.updated = Some(time(name, value)?),
            "validfrom" => record.valid_from = Some(time(name, value)?),
            "validuntil" => record.valid_until = Some(time(name, value)?),
            "expires" | "expiresat" => record.expires = Some(time(name, value)?),
            "session" => record.source.session = text(name, value)?,
            "topic" => self.topic = Some(unlink(&text(name, value)?)),
            "source" => match value {
                Value::Map(pairs) => {
                    for (key, value) in pairs {
                        let value = value.clone().unwrap_or_default();
                        let source = &mut record.source;
                        match key.to_lowercase().as_str() {
                            "provider" => source.provider = value,
                            "uri" => source.uri = value,
                            "session" => source.session = value,
                            "speaker" => source.speaker = value,
                            "position" => match value.parse() {
                                Ok(position) => source.position = Some(position),
                                Err(_) => {
                                    return Err("`source.position`: expected a whole number from 0".into());
                                }
                            },
                            _ => {
                                return Err(format!(
                                    "unknown key `source.{}`: expected provider, uri, session, position or speaker",
                                    brief(key)
                                ));
                            }
                        }
                    }
                }
                _ => record.source.uri = text(name, value)?,
            },
            _ => {
                self.scope_unreadable |= key == "scopes" || key.starts_with("scope.");
                return Err(format!("unknown key `{}` is ignored", brief(name)));
            }
        }
        Ok(())
    }

    /// Fails closed: whatever is not a map of named values makes the scope unreadable.
    fn set_scope(&mut self, value: &Value) -> Result<(), String> {
        self.scope_unreadable = true;
        let Value::Map(pairs) = value else {
            return match value {
                Value::Unreadable => Ok(()),
                _ => Err("`scope`: expected `{name: value}` or one `name: value` on each line below, indented".into()),
            };
        };
        let mut names = HashSet::new();
        for (name, value) in pairs {
            if value.as_ref().is_none_or(String::is_empty) || name.is_empty() {
                return Err(format!("`scope.{}`: expected a value", brief(name)));
            }
            if !names.insert(name) {
                return Err(format!("`scope.{}` is given twice", brief(name)));
            }
        }
        self.record.scope =
            pairs.iter().map(|(name, value)| (name.clone(), value.clone().unwrap_or_default())).collect::<Scope>();
        self.scope_unreadable = false;
        Ok(())
    }
}

fn text(name: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::Text(text) if !text.trim().is_empty() => Ok(text.trim().to_string()),
        _ => Err(format!("`{name}`: expected one value")),
    }
}

fn list(name: &str, value: &Value, commas: bool) -> Result<Vec<String>, String> {
    let trimmed = |text: &str| text.trim().to_string();
    match value {
        Value::List(items) => Ok(items.iter().map(|item| trimmed(item)).collect()),
        Value::Text(text) if commas => Ok(text.split(',').map(trimmed).collect()),
        Value::Text(text) => Ok(vec![trimmed(text)]),
        _ => Err(format!("`{name}`: expected a list such as `[a, b]`")),
    }
}

fn truth(name: &str, value: &Value) -> Result<bool, String> {
    match value {
        Value::Text(text) if text.eq_ignore_ascii_case("true") => Ok(true),
        Value::Text(text) if text.eq_ignore_ascii_case("false") => Ok(false),
        _ => Err(format!("`{name}`: expected true or false")),
    }
}

fn share(name: &str, value: &Value) -> Result<f32, String> {
    match value {
        Value::Text(text) => text.parse().ok().filter(|share| (0.0..=1.0).contains(share)),
        _ => None,
    }
    .ok_or_else(|| format!("`{name}`: expected a number from 0 to 1"))
}

fn time(name: &str, value: &Value) -> Result<Timestamp, String> {
    match value {
        Value::Text(text) => Timestamp::parse(text),
        _ => None,
    }
    .ok_or_else(|| format!("`{name}`: expected a date such as 2026-03-01 or 2026-03-01T08:30:00Z"))
}

/// What `[[target|label]]` points to, without folders and headings; other text as it is.
pub(super) fn unlink(text: &str) -> String {
    let inner = text.trim().strip_prefix("[[").and_then(|text| text.strip_suffix("]]"));
    inner.map_or_else(|| text.trim().to_string(), |inner| link_target(inner).to_string())
}

fn link_target(inner: &str) -> &str {
    let target = inner.split(['|', '#', '^']).next().unwrap_or_default();
    let name = target.rsplit('/').next().unwrap_or_default().trim();
    name.strip_suffix(".md").unwrap_or(name)
}

#[derive(Debug, Default)]
struct Body {
    title: Option<String>,
    sections: Vec<Section>,
}

/// Cuts the text below front matter into sections; the first has no heading.
fn body(lines: &[&str], first: usize, title: Option<&str>, warn: &mut impl FnMut(usize, String)) -> Body {
    let last_close = lines.iter().rposition(|line| line.contains("-->"));
    let mut body = Body::default();
    let mut section = Section::default();
    let mut fence: Option<Fence> = None;
    let mut in_comment = false;
    let mut warned = false;
    // Where the paragraph that ends with the last line begins, if it is one line so far: an underline makes it a heading.
    let mut candidate: Option<usize> = None;
    let mut in_paragraph = false;
    for (at, line) in lines.iter().enumerate() {
        if let Some(open) = fence {
            push_line(&mut section.text, line);
            if open.closed_by(line) {
                fence = None;
            }
            continue;
        }
        let was_blank = line.trim().is_empty();
        let cleaned = clean(line, &mut in_comment, last_close.is_some_and(|close| close > at), &mut section.links);
        if cleaned.unclosed && !warned {
            warned = true;
            warn(first + at, "a comment opens here and never closes: kept as text".into());
        }
        let line = cleaned.text.trim_end();
        if line.trim().is_empty() {
            if was_blank {
                push_line(&mut section.text, "");
                (candidate, in_paragraph) = (None, false);
            }
            continue;
        }
        let underlined = match (candidate, underline(line)) {
            (Some(start), Some(level)) => {
                let heading = section.text.get(start..).unwrap_or_default().trim().to_string();
                section.text.truncate(start);
                Some((level, heading))
            }
            _ => None,
        };
        let heading = underlined.or_else(|| heading(line));
        match heading {
            Some((1, heading)) if body.title.is_none() && body.sections.is_empty() && section.heading.is_empty() => {
                if title.is_some_and(|title| !title.eq_ignore_ascii_case(&heading)) {
                    push_line(&mut section.text, &heading);
                    push_line(&mut section.text, "");
                }
                body.title = Some(heading);
                (candidate, in_paragraph) = (None, false);
            }
            Some((1 | 2, heading)) => {
                body.sections.push(std::mem::take(&mut section));
                section.heading = heading;
                (candidate, in_paragraph) = (None, false);
            }
            Some((_, _)) => {
                push_line(&mut section.text, line);
                (candidate, in_paragraph) = (None, false);
            }
            None => {
                fence = Fence::opened_by(line);
                let start = section.text.len();
                push_line(&mut section.text, line);
                let paragraph = fence.is_none() && is_paragraph(line);
                candidate = (paragraph && !in_paragraph).then_some(start);
                in_paragraph = paragraph || in_paragraph && fence.is_none();
            }
        }
    }
    body.sections.push(section);
    for section in &mut body.sections {
        let text = section.text.trim_end();
        section.text = text.trim_start_matches('\n').to_string();
        let mut links = Vec::new();
        add_new(&mut links, section.links.drain(..));
        section.links = links;
    }
    body
}

fn push_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

/// `## Heading ##`, its level and text.
fn heading(line: &str) -> Option<(usize, String)> {
    let text = line.trim_start_matches(' ');
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    let rest = text.get(level..)?;
    if line.len() - text.len() > 3 || !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let rest = rest.trim();
    let bare = rest.trim_end_matches('#');
    let text = if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim() } else { rest };
    Some((level, text.to_string()))
}

/// The level of the heading that this line underlines: `===` 1, `---` 2.
fn underline(line: &str) -> Option<usize> {
    let text = line.trim();
    let all = |mark: char, least: usize| text.len() >= least && text.chars().all(|next| next == mark);
    if line.starts_with("    ") {
        None
    } else if all('=', 2) {
        Some(1)
    } else if all('-', 3) {
        Some(2)
    } else {
        None
    }
}

/// Whether a line could be (part of) a paragraph: no list item, quote, table row, rule or indented code.
fn is_paragraph(line: &str) -> bool {
    let text = line.trim_start();
    let digits = text.trim_start_matches(|next: char| next.is_ascii_digit());
    let numbered = digits.len() < text.len() && digits.starts_with(['.', ')']);
    let starred = text.starts_with(['-', '*', '+']) && text.get(1..).is_some_and(|rest| rest.starts_with([' ', '\t']));
    !(line.starts_with("    ") || text.starts_with(['>', '|', '<']) || numbered || starred || underline(line).is_some())
}

struct Cleaned<'a> {
    text: Cow<'a, str>,
    /// A comment opens and nothing closes it.
    unclosed: bool,
}

/// A line without comments and with links as their labels; code spans stay as they are. `closes_later` tells whether any
/// line below holds a `-->`.
fn clean<'a>(line: &'a str, in_comment: &mut bool, closes_later: bool, links: &mut Vec<String>) -> Cleaned<'a> {
    if !*in_comment && !["`", "<!--", "[["].iter().any(|mark| line.contains(mark)) {
        return Cleaned { text: line.into(), unclosed: false };
    }
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    let mut unclosed = false;
    while !rest.is_empty() {
        if *in_comment {
            let Some((_, after)) = rest.split_once("-->") else {
                break;
            };
            *in_comment = false;
            rest = after;
            continue;
        }
        let at = rest
            .char_indices()
            .find(|(at, next)| match next {
                '`' => true,
                '<' => !unclosed && rest.get(*at..).is_some_and(|rest| rest.starts_with("<!--")),
                '[' => rest.get(*at..).is_some_and(|rest| rest.starts_with("[[")),
                _ => false,
            })
            .map_or(rest.len(), |(at, _)| at);
        let (before, marked) = rest.split_at(at);
        text.push_str(before);
        rest = marked;
        if rest.starts_with('`') {
            let (span, after) = rest.split_at(code_span(rest));
            text.push_str(span);
            rest = after;
        } else if let Some(inside) = rest.strip_prefix("<!--") {
            if let Some((_, after)) = inside.split_once("-->") {
                rest = after;
            } else if closes_later {
                *in_comment = true;
                break;
            } else {
                unclosed = true;
            }
        } else if let Some(inside) = rest.strip_prefix("[[") {
            let embed = text.ends_with('!');
            match link_end(inside).filter(|_| !embed) {
                Some(end) => {
                    let (inner, after) = inside.split_at(end);
                    let target = link_target(inner);
                    let label = inner.rsplit_once('|').map_or(inner, |(_, label)| label).trim();
                    text.push_str(label);
                    if !target.is_empty() {
                        links.push(target.to_string());
                    }
                    rest = after.get(2..).unwrap_or_default();
                }
                None => {
                    text.push_str("[[");
                    rest = inside;
                }
            }
        }
    }
    Cleaned { text: text.into(), unclosed }
}

/// Length of the code span at the start of a text, or of its backticks if none closes.
fn code_span(text: &str) -> usize {
    let ticks = text.bytes().take_while(|byte| *byte == b'`').count();
    let mut run = 0;
    for (at, byte) in text.bytes().enumerate().skip(ticks).take(SPAN_BYTES) {
        if byte == b'`' {
            run += 1;
        } else {
            if run == ticks {
                return at;
            }
            run = 0;
        }
    }
    if run == ticks && text.len() <= ticks + SPAN_BYTES { text.len() } else { ticks }
}

/// Where `]]` closes a link, if it does so soon and nothing opens in between.
fn link_end(inside: &str) -> Option<usize> {
    let bytes = inside.as_bytes();
    let end = bytes.iter().take(SPAN_BYTES).position(|byte| matches!(byte, b'[' | b']'))?;
    (end > 0 && bytes.get(end..end + 2) == Some(b"]]")).then_some(end)
}
