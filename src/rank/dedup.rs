use std::collections::BTreeSet;

use super::{Evidence, Flag};
use crate::text::{self, NEAR, Signature, Weight};

/// A result that can be told from others before it is read.
pub trait Repeatable {
    /// The result as far as it is known: id, provider, scope and freshness stand.
    fn evidence(&self) -> &Evidence;
    /// The signature of its text.
    fn signature(&self) -> Signature;
    /// The result with its text and sources.
    fn whole(&mut self) -> &mut Evidence;
}

/// Folds repeats together, best first: by provider and id, by normalized content, then near-duplicates of what is already kept. One body is kept, and
/// every source.
///
/// Texts that differ in a number, a negation or an identifier are never near-duplicates.
#[inline(never)]
pub fn deduplicate<T: Repeatable>(results: Vec<T>) -> Vec<T> {
    let mut kept: Vec<(T, Option<Content>)> = Vec::new();
    'results: for mut next in results {
        let mut content = None;
        for (known, known_content) in &mut kept {
            if !is_same(known.evidence(), next.evidence()) {
                let repeats = may_repeat(known, &next)
                    && known_content
                        .get_or_insert_with(|| Content::of(&known.whole().text))
                        .repeats(content.get_or_insert_with(|| Content::of(&next.whole().text)));
                if !repeats {
                    continue;
                }
            }
            let known = known.whole();
            for source in std::mem::take(&mut next.whole().sources) {
                if !known.sources.contains(&source) {
                    known.sources.push(source);
                }
            }
            continue 'results;
        }
        kept.push((next, content));
    }
    kept.into_iter().map(|(result, _)| result).collect()
}

fn may_repeat<T: Repeatable>(a: &T, b: &T) -> bool {
    let (one, other) = (a.evidence(), b.evidence());
    a.signature().may_repeat(b.signature()) && one.freshness == other.freshness && one.scope == other.scope
}

/// Whether both are one record of one provider in one scope.
#[inline(never)]
fn is_same(a: &Evidence, b: &Evidence) -> bool {
    a.id == b.id && a.provider_id == b.provider_id && a.scope == b.scope
}

/// Marks results from different documents that state different things about one subject and predicate.
#[inline(never)]
pub fn mark_conflicts(evidence: &mut [Evidence]) {
    let claiming = evidence.iter().filter(|entry| !entry.subject.is_empty() && !entry.predicate.is_empty()).count();
    if claiming > 1 {
        mark_claims(evidence);
    }
}

#[inline(never)]
fn mark_claims(evidence: &mut [Evidence]) {
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
    use crate::memory::Scope;
    use crate::rank::{Freshness, SourceRef};

    struct Whole(Evidence);

    impl Repeatable for Whole {
        fn evidence(&self) -> &Evidence {
            &self.0
        }

        fn signature(&self) -> Signature {
            Signature::of(&self.0.text)
        }

        fn whole(&mut self) -> &mut Evidence {
            &mut self.0
        }
    }

    fn fold(texts: &[&str]) -> Vec<(String, usize)> {
        let results = texts.iter().enumerate().map(|(at, text)| {
            let sources = vec![SourceRef { id: at.to_string(), ..SourceRef::default() }];
            Whole(Evidence { id: at.to_string(), text: text.to_string(), sources, ..Evidence::default() })
        });
        deduplicate(results.collect()).into_iter().map(|Whole(entry)| (entry.id, entry.sources.len())).collect()
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
    fn what_is_anothers_or_stands_otherwise_is_not_the_same() {
        let entry = |text: &str| Evidence {
            id: "a".into(),
            provider_id: "notes".into(),
            text: text.into(),
            freshness: Freshness::Fresh,
            ..Evidence::default()
        };
        let hers = Scope::global().with("user", "ana");
        let other = |text: &str| Evidence { id: "b".into(), ..entry(text) };
        let gate = "The harbour gate opens at noon.";
        let crane = "The crane was painted red.";
        for (second, kept, why) in [
            (entry(crane), 1, "one id of one provider"),
            (Evidence { provider_id: "wiki".into(), ..entry(crane) }, 2, "an id of another provider"),
            (Evidence { scope: hers.clone(), ..entry(crane) }, 2, "an id of another scope"),
            (other(gate), 1, "the same text"),
            (Evidence { provider_id: "wiki".into(), ..other(gate) }, 1, "the same text of another provider"),
            (Evidence { scope: hers, ..other(gate) }, 2, "the same text of another scope"),
            (Evidence { freshness: Freshness::Historical, ..other(gate) }, 2, "the same text, no longer in force"),
        ] {
            assert_eq!(deduplicate(vec![Whole(entry(gate)), Whole(second)]).len(), kept, "{why}");
        }
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
        // Passages of one document go on with it.
        let of = |session: &str| vec![SourceRef { session: session.into(), ..SourceRef::default() }];
        for (sessions, conflicts) in [(["s1", "s1"], 0), (["s1", "s2"], 2), (["", ""], 2)] {
            let mut evidence = vec![
                Evidence { sources: of(sessions[0]), ..claim("a", "Rhea is vegan") },
                Evidence { sources: of(sessions[1]), ..claim("b", "Rhea eats fish") },
            ];
            mark_conflicts(&mut evidence);
            assert_eq!(
                evidence.iter().filter(|entry| entry.flags == [Flag::Conflicting]).count(),
                conflicts,
                "{sessions:?}"
            );
        }
    }
}
