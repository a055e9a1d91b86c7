use serde::{Deserialize, Serialize};

use super::View;
use crate::memory::{Scope, Timestamp};
use crate::rank::{Evidence, Flag, Freshness, SourceRef};

/// What a provider answers with, one result. Only `id` and a text are needed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ProviderResult {
    /// Id within the provider.
    pub id: String,
    /// The memory itself.
    #[serde(alias = "statement", alias = "content", alias = "body")]
    pub text: String,
    /// A short heading.
    pub title: String,
    /// The provider's own score, higher is better; only the order is used.
    pub score: Option<f64>,
    /// Sort of memory.
    pub kind: String,
    /// Topic it belongs to.
    pub topic: Option<String>,
    /// Whom or what it is about.
    pub subject: String,
    /// Which property of the subject it states.
    pub predicate: String,
    /// Address of the original.
    #[serde(alias = "url")]
    pub uri: String,
    /// Conversation or document.
    pub session: String,
    /// Who said it.
    pub speaker: String,
    /// When it was last changed.
    #[serde(alias = "updatedAt", alias = "updated_at", alias = "created", alias = "createdAt", alias = "timestamp")]
    pub updated: Option<Timestamp>,
    /// When it stops being usable.
    #[serde(alias = "expiresAt", alias = "expires_at")]
    pub expires: Option<Timestamp>,
    /// Whether something replaced it.
    pub superseded: bool,
    /// Whether it is unfinished work.
    pub unresolved: bool,
    /// Declared importance, 0 to 1.
    pub importance: Option<f32>,
    /// Who may see it. None: whoever may ask the provider.
    pub scope: Scope,
}

/// Why a result was not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// No id, no text, or a number that is none.
    Malformed,
    /// Private to another scope, or of a kind that was not asked for.
    OutOfScope,
    /// Expired, or replaced where history was not asked for.
    NotInForce,
}

impl ProviderResult {
    /// The result as evidence, its text cut to `budget` bytes.
    pub fn normalize(self, provider: &str, view: &View, budget: usize) -> Result<(Evidence, Option<f32>), Rejection> {
        let text = if self.text.trim().is_empty() { &self.title } else { &self.text };
        let malformed = self.id.is_empty()
            || self.id.len() > crate::memory::Record::MAX_ID_BYTES
            || text.trim().is_empty()
            || self.score.is_some_and(|score| !score.is_finite())
            || self.importance.is_some_and(|share| !(0.0..=1.0).contains(&share));
        if malformed {
            return Err(Rejection::Malformed);
        }
        let of_kind = view.kinds.is_empty() || view.kinds.contains(&self.kind);
        if !view.scope.admits(&self.scope) || !of_kind {
            return Err(Rejection::OutOfScope);
        }
        let lapsed = matches!((self.expires, view.now), (Some(end), Some(now)) if end <= now);
        if lapsed || (self.superseded && !view.history) {
            return Err(Rejection::NotInForce);
        }
        let mut end = budget.min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let cut = end < text.len();
        let body = text.get(..end).unwrap_or("").to_string();
        let source = SourceRef {
            provider_id: provider.to_string(),
            id: self.id.clone(),
            uri: self.uri,
            session: self.session,
            speaker: self.speaker,
        };
        let evidence = Evidence {
            id: self.id,
            provider_id: provider.to_string(),
            topic: self.topic,
            kind: if self.kind.is_empty() { "note".to_string() } else { self.kind },
            title: self.title,
            subject: self.subject,
            predicate: self.predicate,
            text: body,
            changed: self.updated,
            scope: self.scope,
            unresolved: self.unresolved,
            freshness: if self.superseded { Freshness::Historical } else { Freshness::Undated },
            sources: vec![source],
            flags: if cut { vec![Flag::Truncated] } else { Vec::new() },
            ..Evidence::default()
        };
        Ok((evidence, self.importance))
    }
}
