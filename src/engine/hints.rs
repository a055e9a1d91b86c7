//! Hints: whom a request is probably about, and which property is probably meant. They promote and never remove.

use super::Request;
use crate::index::who_key;
use crate::memory::KnownEntity;
use crate::rank::{Component, Evidence};
use crate::retrieve::{OVERLAY, Store};
use crate::text;

/// One hint, read.
pub(super) struct Hint {
    field: Field,
    /// As it was given, for the reason.
    given: String,
    /// The forms that match.
    keys: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Subject,
    Predicate,
}

/// The components that are relevance rather than standing: those of which a hint adds a second copy.
const RELEVANCE: [&str; 6] = ["lexical", "semantic", "backend", "links", "providerRank", "coverage"];

/// Reads the hints of a request; an `about` that is another name of a known entity also means the entity.
pub(super) fn hints(request: &Request, entities: &[KnownEntity]) -> Vec<Hint> {
    let mut hints = Vec::new();
    if let Some(about) = &request.about {
        let mut keys = vec![who_key(about)];
        for entity in entities.iter().filter(|entity| request.scope.admits(&entity.scope)) {
            let names: Vec<String> =
                std::iter::once(&entity.name).chain(&entity.aliases).map(|name| who_key(name)).collect();
            if keys.first().is_some_and(|key| names.contains(key)) {
                keys.extend(names);
            }
        }
        hints.push(Hint { field: Field::Subject, given: about.clone(), keys });
    }
    if let Some(attribute) = &request.attribute {
        hints.push(Hint { field: Field::Predicate, given: attribute.clone(), keys: vec![predicate_key(attribute)] });
    }
    for hint in &mut hints {
        hint.keys.retain(|key| !key.is_empty());
    }
    hints.retain(|hint| !hint.keys.is_empty());
    hints
}

/// `worksAt`, `works_at` and "worked at" are one predicate.
fn predicate_key(predicate: &str) -> String {
    let mut words = String::with_capacity(predicate.len() + 8);
    let mut lower = false;
    for char in predicate.chars() {
        if lower && char.is_uppercase() {
            words.push(' ');
        }
        words.push(if matches!(char, '_' | '-' | '.' | '/') { ' ' } else { char });
        lower = char.is_lowercase();
    }
    text::terms(&words).join(" ")
}

impl Hint {
    /// Whether a record of this subject and predicate matches.
    pub(super) fn matches(&self, subject: &str, speaker: &str, predicate: &str) -> bool {
        let known = |key: String| !key.is_empty() && self.keys.contains(&key);
        match self.field {
            // What somebody said of nobody in particular is taken to be about the speaker.
            Field::Subject if subject.is_empty() => known(who_key(speaker)),
            Field::Subject => known(who_key(subject)),
            Field::Predicate => known(predicate_key(predicate)),
        }
    }

    fn says_nothing(&self, evidence: &Evidence) -> bool {
        match self.field {
            Field::Subject => evidence.subject.is_empty() && speaker(evidence).is_empty(),
            Field::Predicate => evidence.predicate.is_empty(),
        }
    }

    /// Adds to each ranking a second copy that holds only what matches, weighted: the best match of each provider receives `weight`.
    ///
    /// Where nothing matches, nothing changes. A record of the overlay that does not say what the hint asks for counts as a match
    /// where another does.
    pub(super) fn promote(&self, evidence: &mut [&mut Evidence], store: &Store, weight: f64) {
        let resolved: Vec<bool> =
            evidence.iter().map(|entry| self.matches(&entry.subject, speaker(entry), &entry.predicate)).collect();
        if !resolved.contains(&true) {
            return;
        }
        let in_copy: Vec<bool> = evidence
            .iter()
            .zip(&resolved)
            .map(|(entry, matches)| {
                let fresh = || store.locate(&entry.id).is_some_and(|(part, _)| part == OVERLAY);
                *matches || (entry.provider_id == super::STORE_ID && self.says_nothing(entry) && fresh())
            })
            .collect();
        let mut best: Vec<(String, f64)> = Vec::new();
        for (entry, _) in evidence.iter().zip(&in_copy).filter(|(_, chosen)| **chosen) {
            let score = relevance(entry);
            match best.iter_mut().find(|(provider, _)| *provider == entry.provider_id) {
                Some((_, most)) => *most = most.max(score),
                None => best.push((entry.provider_id.clone(), score)),
            }
        }
        for (entry, _) in evidence.iter_mut().zip(&in_copy).filter(|(_, chosen)| **chosen) {
            let most = best.iter().find(|(provider, _)| *provider == entry.provider_id).map_or(0.0, |(_, most)| *most);
            let share = if most > 0.0 { relevance(entry) / most } else { 1.0 };
            let (name, what) = match self.field {
                Field::Subject => ("about", "about"),
                Field::Predicate => ("attribute", "the attribute"),
            };
            entry.components.push(Component::new(name, share, weight * share));
            entry.score += weight * share;
            entry.reasons.push(format!("promoted by the hint: {what} `{}`", self.given));
        }
    }
}

fn speaker(evidence: &Evidence) -> &str {
    evidence.sources.first().map_or("", |source| source.speaker.as_str())
}

fn relevance(evidence: &Evidence) -> f64 {
    let counts = |component: &&Component| RELEVANCE.contains(&component.name.as_ref());
    evidence.components.iter().filter(counts).map(|component| component.contribution).sum()
}
