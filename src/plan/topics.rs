use std::collections::HashMap;

use crate::memory::{Catalog, Scope, Topic};
use crate::text::{self, Kind, Role};

/// Words by which work is routed rather than told apart; by themselves they never make a topic match.
#[rustfmt::skip]
const ROUTING: &[&str] = &[
    "app", "applic", "chang", "code", "data", "design", "document", "file", "issu", "meet", "migrat", "note", "plan", "problem", "project",
    "rewrit", "servic", "system", "task", "team", "test", "tool", "updat", "user", "work",
];

/// The catalog's topics, cut and stemmed once.
#[derive(Clone, Debug, Default)]
pub struct TopicIndex {
    entries: Vec<Entry>,
    /// Number of topics that hold a stem in title or aliases.
    frequencies: HashMap<String, usize>,
}

#[derive(Clone, Debug, Default)]
struct Entry {
    /// Title first, then aliases: stems, in order.
    phrases: Vec<Vec<String>>,
    names: Vec<String>,
    labels: Vec<String>,
}

/// How a prompt matches a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopicMatch {
    /// Index into the catalog's topics.
    pub topic: usize,
    /// 0 to 1.
    pub strength: f64,
    /// Whether title or alias stands in the prompt to the letter.
    pub exact: bool,
    /// Why, in words.
    pub reason: String,
}

impl TopicIndex {
    /// Reads the topics of a catalog.
    pub fn new(catalog: &Catalog) -> TopicIndex {
        let mut index = TopicIndex::default();
        for topic in &catalog.topics {
            let phrases: Vec<Vec<String>> =
                std::iter::once(&topic.title).chain(&topic.aliases).map(|name| stems(name, true)).collect();
            let mut names: Vec<String> =
                phrases.iter().flatten().filter(|stem| is_distinctive(stem)).cloned().collect();
            names.sort_unstable();
            names.dedup();
            let mut labels: Vec<String> =
                topic.tags.iter().chain([&topic.summary]).flat_map(|text| stems(text, false)).collect();
            labels.retain(|stem| is_distinctive(stem) && names.binary_search(stem).is_err());
            labels.sort_unstable();
            labels.dedup();
            for stem in &names {
                *index.frequencies.entry(stem.clone()).or_default() += 1;
            }
            index.entries.push(Entry { phrases, names, labels });
        }
        index
    }

    /// The topics that `scope` may see and the prompt names, strongest first.
    #[inline(never)]
    pub fn matches(&self, prompt: &str, topics: &[Topic], scope: &Scope) -> Vec<TopicMatch> {
        let spoken = stems(prompt, true);
        let mut found = Vec::new();
        for (number, (entry, topic)) in self.entries.iter().zip(topics).enumerate() {
            if scope.admits(&topic.scope)
                && let Some(hit) = self.match_one(number, entry, topic, &spoken)
            {
                found.push(hit);
            }
        }
        found.sort_by(|a, b| b.strength.total_cmp(&a.strength).then(a.topic.cmp(&b.topic)));
        found
    }

    #[inline(never)]
    fn match_one(&self, number: usize, entry: &Entry, topic: &Topic, spoken: &[String]) -> Option<TopicMatch> {
        let names = std::iter::once(&topic.title).chain(&topic.aliases);
        for (at, (phrase, name)) in entry.phrases.iter().zip(names).enumerate() {
            let telling = phrase.iter().any(|stem| is_distinctive(stem))
                || phrase.len() >= 2 && phrase.iter().any(|stem| is_content(stem));
            if telling && contains(spoken, phrase) {
                let kind = if at == 0 { "title" } else { "alias" };
                let reason = format!("{}: exact {kind} `{name}`", topic.title);
                return Some(TopicMatch {
                    topic: number,
                    strength: if at == 0 { 0.95 } else { 0.92 },
                    exact: true,
                    reason,
                });
            }
        }
        let shared: Vec<&String> = entry.names.iter().filter(|stem| spoken.contains(stem)).collect();
        let labels = entry.labels.iter().filter(|stem| spoken.contains(stem)).count();
        // A word that several topics share tells them apart less.
        let weight = |stem: &String| 1.0 / self.frequencies.get(stem).copied().unwrap_or(1).max(1) as f64;
        let of_best_phrase = entry
            .phrases
            .iter()
            .map(|phrase| {
                let telling = phrase.iter().filter(|stem| is_distinctive(stem));
                let (mut all, mut hit) = (0.0, 0.0);
                for stem in telling {
                    all += weight(stem);
                    if spoken.contains(stem) {
                        hit += weight(stem);
                    }
                }
                if all > 0.0 { hit / all } else { 0.0 }
            })
            .fold(0.0, f64::max);
        let strength = (0.55 * of_best_phrase
            + 0.1 * (shared.len().saturating_sub(1).min(2)) as f64
            + 0.08 * labels.min(4) as f64)
            .min(0.9);
        if strength <= 0.0 {
            return None;
        }
        let mut reason = format!("{}: ", topic.title);
        if shared.is_empty() {
            reason.push_str("tags or summary overlap");
        } else {
            reason.push_str("title or alias words ");
            reason.push_str(&shared.iter().map(|stem| stem.as_str()).collect::<Vec<_>>().join(", "));
        }
        Some(TopicMatch { topic: number, strength, exact: false, reason })
    }
}

/// Stems in order; with `all`, words of grammar too, for matching phrases.
fn stems(text: &str, all: bool) -> Vec<String> {
    let mut out = Vec::new();
    text::tokenize(text, &mut |token| {
        if all || token.kind != Kind::Word || text::role(token.surface) != Role::Function {
            out.push(text::normalize(&token).into_owned());
        }
    });
    out
}

fn is_content(stem: &str) -> bool {
    text::role(stem) == Role::Content
}

fn is_distinctive(stem: &str) -> bool {
    is_content(stem) && !ROUTING.contains(&stem)
}

fn contains(spoken: &[String], phrase: &[String]) -> bool {
    !phrase.is_empty() && spoken.windows(phrase.len()).any(|window| window == phrase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_aliases_match_and_routing_words_do_not() {
        let topic =
            |title: &str, alias: &str| Topic { title: title.into(), aliases: vec![alias.into()], ..Topic::default() };
        let catalog = Catalog {
            topics: vec![topic("Billing rewrite", "invoice engine"), topic("Kafka migration", "event bus")],
            ..Catalog::default()
        };
        let index = TopicIndex::new(&catalog);
        let best = |prompt: &str| {
            index
                .matches(prompt, &catalog.topics, &Scope::global())
                .first()
                .map(|hit| (hit.topic, hit.exact, hit.strength))
        };
        assert_eq!(best("How is the billing rewrite going?"), Some((0, true, 0.95)));
        assert_eq!(best("the invoice engines"), Some((0, true, 0.92)));
        assert!(matches!(best("billing questions"), Some((0, false, strength)) if strength >= 0.5));
        assert_eq!(best("plan a project migration"), None);
        assert_eq!(best("What is the capital of France?"), None);
    }
}
