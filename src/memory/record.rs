use serde::{Deserialize, Serialize};

use super::{Scope, Timestamp};

/// One memory.
///
/// In readable formats the names are camelCase; snake_case is accepted too. Only `id` and one of
/// `statement` or `title` need to be given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// Unique in its store; 1 to 256 bytes.
    pub id: String,
    /// What sort of memory: `fact`, `decision`, `preference`, `task`, `event`, `procedure`, `note`, `turn` ...
    pub kind: String,
    /// Title or id of the catalog topic it belongs to.
    pub topic: Option<String>,
    /// Whom or what it is about.
    pub subject: String,
    /// Which property of the subject it states.
    pub predicate: String,
    /// The memory itself, as text.
    #[serde(alias = "text", alias = "content")]
    pub statement: String,
    /// A short heading.
    pub title: String,
    /// Phrases and questions that should bring it back.
    pub cues: Vec<String>,
    /// Labels.
    pub tags: Vec<String>,
    /// Names of the people, places and things in it.
    pub entities: Vec<String>,
    /// Whether it may be retrieved at all.
    pub status: Status,
    /// Ids of the records that this one replaces.
    pub supersedes: Vec<String>,
    /// Id of the record that replaced this one.
    #[serde(alias = "superseded_by")]
    pub superseded_by: Option<String>,
    /// Work that is not finished.
    pub unresolved: bool,
    /// How sure its author is, 0 to 1.
    pub confidence: Option<f32>,
    /// How much it matters, 0 to 1.
    pub importance: Option<f32>,
    /// When it was written.
    #[serde(alias = "timestamp", alias = "created_at", alias = "createdAt")]
    pub created: Option<Timestamp>,
    /// When it was last changed.
    #[serde(alias = "updated_at", alias = "updatedAt")]
    pub updated: Option<Timestamp>,
    /// From when on it holds.
    #[serde(alias = "valid_from")]
    pub valid_from: Option<Timestamp>,
    /// Until when it holds (exclusive).
    #[serde(alias = "valid_until")]
    pub valid_until: Option<Timestamp>,
    /// When it stops being retrievable (exclusive).
    #[serde(alias = "expires_at", alias = "expiresAt")]
    pub expires: Option<Timestamp>,
    /// Who may see it.
    pub scope: Scope,
    /// Where it comes from.
    pub source: Source,
}

/// Where a record comes from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Source {
    /// Provider that delivered it; empty for the store's own.
    pub provider: String,
    /// Address of the original.
    pub uri: String,
    /// Conversation or document it is part of.
    pub session: String,
    /// Place in that session, counted from 0.
    pub position: Option<u32>,
    /// Who said it.
    pub speaker: String,
}

/// Whether a record is in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Status {
    /// Retrievable.
    #[default]
    Active,
    /// Kept, but retrieved only as history.
    Archived,
    /// Forgotten: never retrieved.
    Deleted,
}

/// What a record looks like to the ranking; defaults are chosen by shape, never by data set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Shape {
    /// Something somebody said in a conversation: short, and leaning on its neighbours.
    Turn,
    /// A statement that stands alone.
    Fact,
    /// A passage of a document.
    Section,
}

impl Record {
    /// The longest id that is accepted, in bytes.
    pub const MAX_ID_BYTES: usize = 256;

    /// A record of the given id and statement, everything else at its default.
    pub fn new(id: impl Into<String>, statement: impl Into<String>) -> Self {
        Record { id: id.into(), statement: statement.into(), ..Record::default() }
    }

    /// The shape of the record, read off its source and kind: a speaker and a place in a session make a
    /// turn (unless the kind says that it is a fact drawn from one); a place in a session without a speaker, or the kind `note`, makes a section.
    pub fn shape(&self) -> Shape {
        let placed = !self.source.session.is_empty() && self.source.position.is_some();
        match self.kind.as_str() {
            "turn" | "message" => Shape::Turn,
            "note" | "section" | "document" => Shape::Section,
            "fact" | "decision" | "preference" | "task" | "event" | "procedure" | "observation" => Shape::Fact,
            _ if placed && !self.source.speaker.is_empty() => Shape::Turn,
            _ if placed => Shape::Section,
            _ => Shape::Fact,
        }
    }

    /// The time that freshness is counted from: updated, else created.
    pub fn changed(&self) -> Option<Timestamp> {
        self.updated.or(self.created)
    }

    /// From when on it holds: valid from, else created.
    pub fn begins(&self) -> Option<Timestamp> {
        self.valid_from.or(self.created)
    }

    /// What a reader is shown: the statement, or the title where there is none.
    pub fn text(&self) -> &str {
        if self.statement.is_empty() { &self.title } else { &self.statement }
    }

    /// Why the record cannot be stored, in words that say what to do; `None` if it can.
    pub fn fault(&self) -> Option<String> {
        if self.id.is_empty() {
            return Some("has no id: give it a unique `id`".into());
        }
        if self.id.len() > Self::MAX_ID_BYTES {
            return Some(format!("has an id of {} bytes: at most {} are accepted", self.id.len(), Self::MAX_ID_BYTES));
        }
        if self.statement.trim().is_empty() && self.title.trim().is_empty() {
            return Some(format!("`{}` has neither `statement` nor `title`: give it a text", self.id));
        }
        for (name, value) in [("confidence", self.confidence), ("importance", self.importance)] {
            if value.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
                return Some(format!("`{}` has a `{name}` outside 0 to 1", self.id));
            }
        }
        None
    }
}
