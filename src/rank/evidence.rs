use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::memory::{Scope, Timestamp};

/// A ranked result: text, scores, reasons, sources. Never a vector.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Evidence {
    /// Id within its provider.
    pub id: String,
    /// Provider that delivered the kept body.
    pub provider_id: String,
    /// Topic it belongs to, if it names one.
    pub topic: Option<String>,
    /// Sort of memory, as in [`Record::kind`](crate::memory::Record::kind).
    pub kind: String,
    /// A short heading; may be empty.
    pub title: String,
    /// Whom or what it is about; may be empty.
    pub subject: String,
    /// Which property of the subject it states; may be empty.
    pub predicate: String,
    /// The memory itself, as it is stored.
    pub text: String,
    /// How it stands in time.
    pub freshness: Freshness,
    /// When it was last changed, else created.
    pub changed: Option<Timestamp>,
    /// Who may see it.
    pub scope: Scope,
    /// Work that is not finished.
    pub unresolved: bool,
    /// The sum that results are ordered by. A selection score, not a confidence in truth.
    pub score: f64,
    /// What the score is made of; the contributions add up to it.
    pub components: Vec<Component>,
    /// Why it is here, in words.
    pub reasons: Vec<String>,
    /// Every place it was found in; the first is the kept body's own.
    pub sources: Vec<SourceRef>,
    /// What a reader should know before trusting it.
    pub flags: Vec<Flag>,
    /// Ids of results that say something else about the same subject and predicate.
    pub conflicts_with: Vec<String>,
}

/// One part of a score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Component {
    /// What it measures, such as `bm25` or `freshness`.
    pub name: Cow<'static, str>,
    /// The measure itself, in its own unit.
    pub value: f64,
    /// What it adds to the score.
    pub contribution: f64,
}

impl Component {
    /// A component of a name that is known beforehand.
    pub const fn new(name: &'static str, value: f64, contribution: f64) -> Component {
        Component { name: Cow::Borrowed(name), value, contribution }
    }
}

/// A place that a result was found in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SourceRef {
    /// Provider id.
    pub provider_id: String,
    /// Id within that provider.
    pub id: String,
    /// Address of the original; may be empty.
    pub uri: String,
    /// Conversation or document; may be empty.
    pub session: String,
    /// Who said it; may be empty.
    pub speaker: String,
}

/// How a result stands in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Freshness {
    /// Nothing is known of its age.
    #[default]
    Undated,
    /// Changed recently.
    Fresh,
    /// Changed a while ago.
    Aging,
    /// Old enough that it should be checked.
    Stale,
    /// No longer in force: superseded, archived, or outside its validity. Only when history is asked for.
    Historical,
}

/// What a reader should know before trusting a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Flag {
    /// The text is shaped like an instruction to a model.
    InstructionLike,
    /// Another result says something else about the same thing.
    Conflicting,
    /// The text was cut to its provider's budget.
    Truncated,
}
