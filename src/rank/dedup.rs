use std::collections::BTreeSet;

use super::{Evidence, Flag};
use crate::text::{self, Kind, Role};

/// Folds repeats together, best first: by provider and id, by normalized content, then near-duplicates of what is already kept. One body is kept, and
/// every source.
///
/// Texts that differ in a number, a negation or an identifier are never near-duplicates.
pub fn deduplicate(evidence: Vec<Evidence>) -> Vec<Evidence> {
    let mut kept: Vec<(Evidence, Content)> = Vec::new();
    for next in evidence {
        let content = Content::of(&next.text);
        let twin = kept.iter_mut().find(|(known, known_content)| {
            known.scope == next.scope
                && ((known.provider_id == next.provider_id && known.id == next.id)
                    || (known.freshness == next.freshness && known_content.repeats(&content)))
        });
        match twin {
            Some((known, _)) => {
                for source in next.sources {
                    if !known.sources.contains(&source) {
                        known.sources.push(source);
                    }
                }
            }
            None => kept.push((next, content)),
        }
    }
    kept.into_iter().map(|(evidence, _)| evidence).collect()
}

/// Marks results from different documents that state different things about one subject and predicate.
pub fn mark_conflicts(evidence: &mut [Evidence]) {
    let claims: Vec<(String, String, String)> = evidence
        .iter()
        .map(|entry| {
            let fold = |text: &str| text::terms(text).join(" ");
            (fold(&entry.subject), fold(&entry.predicate), fold(&entry.text))
        })
        .collect();
    let documents: Vec<BTreeSet<(String, String)>> = evidence
        .iter()
        .map(|entry| {
            let places = entry.sources.iter().flat_map(|source| {
                [&source.session, &source.uri].map(|place| (source.provider_id.clone(), place.clone()))
            });
            places.filter(|(_, place)| !place.is_empty()).collect()
        })
        .collect();
    let ids: Vec<String> = evidence.iter().map(|entry| entry.id.clone()).collect();
    for (at, entry) in evidence.iter_mut().enumerate() {
        let Some((subject, predicate, text)) = claims.get(at) else { continue };
        if subject.is_empty() || predicate.is_empty() {
            continue;
        }
        let document = documents.get(at);
        for (((other_subject, other_predicate, other_text), id), other_document) in
            claims.iter().zip(&ids).zip(&documents)
        {
            // Passages of one document go on with it; they do not contradict it.
            if document.is_some_and(|document| !document.is_disjoint(other_document)) {
                continue;
            }
            if subject == other_subject && predicate == other_predicate && text != other_text {
                entry.conflicts_with.push(id.clone());
            }
        }
        if !entry.conflicts_with.is_empty() {
            entry.flags.push(Flag::Conflicting);
        }
    }
}

/// Share of words in common from which two texts say the same.
const NEAR: f64 = 0.9;

/// What a text says, for comparison.
struct Content {
    terms: BTreeSet<String>,
    /// Numbers, identifiers, negations: what must not differ.
    exact: BTreeSet<String>,
    sequence: Vec<String>,
}

impl Content {
    fn of(text: &str) -> Content {
        let mut content = Content { terms: BTreeSet::new(), exact: BTreeSet::new(), sequence: Vec::new() };
        text::tokenize(text, &mut |token| {
            let term = text::normalize(&token).into_owned();
            content.sequence.push(token.surface.to_string());
            let negation = matches!(
                token.surface,
                "not"
                    | "no"
                    | "never"
                    | "none"
                    | "without"
                    | "nor"
                    | "nicht"
                    | "kein"
                    | "keine"
                    | "pas"
                    | "jamais"
                    | "sin"
                    | "nunca"
                    | "ない"
            ) || token.surface.ends_with("nt") && text::role(token.surface) == Role::Function;
            if negation {
                content.exact.insert("not".to_string());
            } else if matches!(token.kind, Kind::Number | Kind::Identifier) || token.surface.len() == 1 {
                content.exact.insert(term);
            } else if text::role(token.surface) != Role::Function {
                content.terms.insert(term);
            }
        });
        content
    }

    fn repeats(&self, other: &Content) -> bool {
        if self.sequence == other.sequence {
            return !self.sequence.is_empty();
        }
        if self.exact != other.exact || self.terms.len().min(other.terms.len()) < 4 {
            return false;
        }
        let shared = self.terms.intersection(&other.terms).count() as f64;
        let all = self.terms.union(&other.terms).count() as f64;
        shared / all >= NEAR
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rank::SourceRef;

    fn fold(texts: &[&str]) -> Vec<(String, usize)> {
        let evidence = texts
            .iter()
            .enumerate()
            .map(|(at, text)| Evidence {
                id: at.to_string(),
                text: text.to_string(),
                sources: vec![SourceRef { id: at.to_string(), ..SourceRef::default() }],
                ..Evidence::default()
            })
            .collect();
        deduplicate(evidence).into_iter().map(|entry| (entry.id, entry.sources.len())).collect()
    }

    #[test]
    fn repeats_are_folded_and_sources_kept() {
        assert_eq!(
            fold(&["Refunds are rounded.", "refunds are  rounded", "Something else"]),
            [("0".into(), 2), ("2".into(), 1)]
        );
    }

    #[test]
    fn a_number_a_negation_or_an_identifier_keeps_texts_apart() {
        for (a, b) in [
            (
                "The nightly export job for the finance team runs at 3",
                "The nightly export job for the finance team runs at 4",
            ),
            (
                "We ship the mobile client with offline sync enabled",
                "We do not ship the mobile client with offline sync enabled",
            ),
            ("Use C for the embedded driver layer project", "Use C++ for the embedded driver layer project"),
            ("INC-410 broke the nightly export job badly", "INC-4102 broke the nightly export job badly"),
        ] {
            assert_eq!(fold(&[a, b]).len(), 2, "{a} / {b}");
        }
    }

    #[test]
    fn conflicting_claims_are_marked_on_both_sides() {
        let claim = |id: &str, text: &str| Evidence {
            id: id.into(),
            subject: "Rhea".into(),
            predicate: "diet".into(),
            text: text.into(),
            ..Evidence::default()
        };
        let mut evidence = vec![claim("a", "Rhea is vegan"), claim("b", "Rhea eats fish"), Evidence::default()];
        mark_conflicts(&mut evidence);
        assert_eq!(evidence[0].conflicts_with, ["b"]);
        assert_eq!(evidence[1].conflicts_with, ["a"]);
        assert!(evidence[2].flags.is_empty());
    }
}
