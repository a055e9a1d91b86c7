use crate::memory::Topic;
use crate::rank::{Evidence, Freshness, SourceRef};
use crate::text::{Style, escape, truncate};

/// What stands around the text of an element: its opening tag without the `>`, and what precedes its end tag.
#[derive(Clone, Debug, Default)]
pub(super) struct Label {
    pub head: String,
    pub tail: String,
    /// Invisible controls that were made visible in it.
    pub hidden: usize,
    /// The most bytes that a value may have before it is cut; ids never are.
    longest: usize,
    mark: Option<char>,
}

/// Longest value, in bytes before escaping, in a label that has to be short.
const LEAN_VALUE: usize = 40;

/// Contradicted ids that are named; the rest is counted.
const NAMED_CONFLICTS: usize = 3;

impl Label {
    /// The label of a record. A lean one cuts long values, leaves out addresses and sessions, and counts the
    /// sources that it does not name. `conflicts` are the ids of the results that contradict it;
    /// `note` says that it reads like an instruction.
    pub(super) fn record(
        result: &Evidence,
        id: &str,
        conflicts: &[&str],
        note: bool,
        mark: Option<char>,
        lean: bool,
    ) -> Label {
        let mut label = Label::new("<m", mark, lean);
        label.attribute("id", id, None, usize::MAX);
        label.words("type", &result.kind);
        label.words("topic", result.topic.as_deref().unwrap_or_default());
        label.unless_said("title", &result.title, result);
        label.unless_said("about", &result.subject, result);
        let (own, others) = own_source(result);
        label.words("by", own.map_or("", |source| &source.speaker));
        label.name("date", &date(result));
        label.name(
            "status",
            match (result.freshness, result.unresolved) {
                (Freshness::Historical, _) => "no longer in force",
                (_, true) => "open",
                _ => "",
            },
        );
        label.name("from", &result.provider_id);
        if let Some(own) = own.filter(|_| !lean) {
            label.place(own);
        }
        label.attribute("conflicts", &named(conflicts), None, usize::MAX);
        if note {
            label.name("note", "reads like an instruction");
        }
        if !lean {
            others.iter().for_each(|source| label.also(source));
        } else if !others.is_empty() {
            label.name("more-sources", &others.len().to_string());
        }
        label
    }

    /// The label of a catalog topic. A lean one is its name alone.
    pub(super) fn topic(topic: &Topic, note: bool, mark: Option<char>, lean: bool) -> Label {
        let mut label = Label::new("<t", mark, lean);
        label.words("name", if topic.title.is_empty() { &topic.id } else { &topic.title });
        if !lean {
            label.words("also", &topic.aliases.join(", "));
        }
        label.name("status", if topic.unresolved { "open" } else { "" });
        if !lean {
            label.name("in", &topic.providers.join(", "));
        }
        if note {
            label.name("note", "reads like an instruction");
        }
        label
    }

    /// Bytes of an element besides its text: the label, `>`, `</m>` and the line break.
    pub(super) fn overhead(&self) -> usize {
        self.head.len() + self.tail.len() + ">".len() + "</m>\n".len()
    }

    fn new(open: &str, mark: Option<char>, lean: bool) -> Label {
        Label { head: open.into(), longest: if lean { LEAN_VALUE } else { usize::MAX }, mark, ..Label::default() }
    }

    /// A value made of words: they are marked if words are.
    fn words(&mut self, name: &str, value: &str) {
        self.attribute(name, value, self.mark, self.longest);
    }

    /// A value made of names and fixed words: never marked.
    fn name(&mut self, name: &str, value: &str) {
        self.attribute(name, value, None, self.longest);
    }

    /// A value that is only worth its bytes where the text does not have it already.
    fn unless_said(&mut self, name: &str, value: &str, result: &Evidence) {
        let text = if result.text.is_empty() { &result.title } else { &result.text };
        if !text.contains(value) {
            self.words(name, value);
        }
    }

    fn attribute(&mut self, name: &str, value: &str, mark: Option<char>, longest: usize) {
        if value.is_empty() {
            return;
        }
        self.hidden += push_attribute(&mut self.head, name, value, mark, longest);
    }

    fn place(&mut self, source: &SourceRef) {
        self.name("session", &source.session);
        self.name("uri", &source.uri);
    }

    /// Another place that the same body was found in.
    fn also(&mut self, source: &SourceRef) {
        self.tail.push_str("<also");
        for (name, value, mark) in [
            ("from", &source.provider_id, None),
            ("id", &source.id, None),
            ("by", &source.speaker, self.mark),
            ("session", &source.session, None),
            ("uri", &source.uri, None),
        ] {
            if !value.is_empty() {
                self.hidden += push_attribute(&mut self.tail, name, value, mark, usize::MAX);
            }
        }
        self.tail.push_str("/>");
    }
}

fn push_attribute(out: &mut String, name: &str, value: &str, mark: Option<char>, longest: usize) -> usize {
    out.push(' ');
    out.push_str(name);
    out.push_str("=\"");
    let kept = truncate(value, longest);
    let hidden = escape(out, kept, Style::QUOTED.marked(mark));
    if kept.len() < value.len() {
        out.push('…');
    }
    out.push('"');
    hidden
}

/// The source that the kept body itself came from, and all others.
fn own_source(result: &Evidence) -> (Option<&SourceRef>, &[SourceRef]) {
    match result.sources.split_first() {
        Some((own, others)) if own.provider_id == result.provider_id && own.id == result.id => (Some(own), others),
        _ => (None, &result.sources),
    }
}

/// `2026-03-01, stale`, or as much of it as is known.
fn date(result: &Evidence) -> String {
    let freshness = match result.freshness {
        Freshness::Fresh => "fresh",
        Freshness::Aging => "aging",
        Freshness::Stale => "stale",
        Freshness::Undated | Freshness::Historical => "",
    };
    match result.changed {
        Some(changed) if freshness.is_empty() => changed.date(),
        Some(changed) => [&changed.date(), ", ", freshness].concat(),
        None if freshness.is_empty() => "unknown".into(),
        None => freshness.into(),
    }
}

/// The first few ids, and how many more there are.
fn named(conflicts: &[&str]) -> String {
    let (named, more) = conflicts.split_at(conflicts.len().min(NAMED_CONFLICTS));
    let mut out = named.join(", ");
    if !more.is_empty() {
        out.push_str(", +");
        out.push_str(&more.len().to_string());
    }
    out
}
