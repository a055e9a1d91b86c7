use std::collections::BTreeSet;

use super::{Evidence, Flag};
use crate::text::{self, NEAR, Signature, Weight};

/// Folds repeats together, best first: by provider and id, by normalized content, then near-duplicates of what is already kept. One body is kept, and
/// every source. Each result comes with the signature of its text.
///
/// Texts that differ in a number, a negation or an identifier are never near-duplicates.
pub fn deduplicate(evidence: Vec<(Evidence, Signature)>) -> Vec<Evidence> {
    let mut kept: Vec<Kept> = Vec::new();
    for (next, signature) in evidence {
        let mut content = None;
        let twin = kept.iter_mut().find_map(|known| {
            let same = known.evidence.provider_id == next.provider_id && known.evidence.id == next.id;
            let mut repeats = || {
                known.evidence.freshness == next.freshness
                    && known.signature.may_repeat(signature)
                    && known
                        .content
                        .get_or_insert_with(|| Content::of(&known.evidence.text))
                        .repeats(content.get_or_insert_with(|| Content::of(&next.text)))
            };
            (known.evidence.scope == next.scope && (same || repeats())).then_some(known)
        });
        match twin {
            Some(known) => {
                for source in next.sources {
                    if !known.evidence.sources.contains(&source) {
                        known.evidence.sources.push(source);
                    }
                }
            }
            None => kept.push(Kept { evidence: next, signature, content }),
        }
    }
    kept.into_iter().map(|kept| kept.evidence).collect()
}

/// A result that stays, and what its text says, once somebody had to know.
struct Kept {
    evidence: Evidence,
    signature: Signature,
    content: Option<Content>,
}

/// Marks results from different documents that state different things about one subject and predicate.
pub fn mark_conflicts(evidence: &mut [Evidence]) {
    let claiming = evidence.iter().filter(|entry| !entry.subject.is_empty() && !entry.predicate.is_empty()).count();
    if claiming < 2 {
        return;
    }
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
            match Weight::of(&token) {
                Weight::Negation => content.exact.insert("not".to_string()),
                Weight::Exact => content.exact.insert(term),
                Weight::Word => content.terms.insert(term),
                Weight::None => false,
            };
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
        let evidence = texts.iter().enumerate().map(|(at, text)| {
            let sources = vec![SourceRef { id: at.to_string(), ..SourceRef::default() }];
            let entry = Evidence { id: at.to_string(), text: text.to_string(), sources, ..Evidence::default() };
            (entry, Signature::of(text))
        });
        deduplicate(evidence.collect()).into_iter().map(|entry| (entry.id, entry.sources.len())).collect()
    }

    proptest::proptest! {
        #[test]
        fn a_signature_rules_no_repeat_out(
            words in proptest::collection::vec("[a-e]{2,4}", 0..30),
            changes in proptest::collection::vec((0usize..30, "[a-e]{2,4}"), 0..4),
        ) {
            let mut others = words.clone();
            for (at, word) in changes {
                if let Some(other) = others.get_mut(at) {
                    *other = word;
                }
            }
            let [a, b] = [words, others].map(|words| words.join(" "));
            if Content::of(&a).repeats(&Content::of(&b)) {
                proptest::prop_assert!(Signature::of(&a).may_repeat(Signature::of(&b)), "{} / {}", a, b);
            }
        }
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
