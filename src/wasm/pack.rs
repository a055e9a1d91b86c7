//! Results across the border in one string and one array of numbers: a result has some thirty fields, and each that crosses by itself costs as much as
//! a search of a thousand records.

use crate::rank::{Evidence, Flag, Freshness};

/// Results laid out for `unpackEvidence` of the facade, which reads the same fields in the same order.
#[derive(Default)]
pub(super) struct Packed {
    /// All texts, one after the other.
    pub text: String,
    /// For a text its length in UTF-16 units, for a list its length, for a choice its place, else the number itself.
    pub numbers: Vec<f64>,
}

impl Packed {
    pub(super) fn of(evidence: &[Evidence]) -> Packed {
        let mut packed = Packed::default();
        packed.list(evidence, |packed, entry| packed.entry(entry));
        packed
    }

    fn entry(&mut self, entry: &Evidence) {
        self.text(&entry.id);
        self.text(&entry.provider_id);
        self.flag(entry.topic.is_some());
        self.text(entry.topic.as_deref().unwrap_or(""));
        for text in [&entry.kind, &entry.title, &entry.subject, &entry.predicate, &entry.text] {
            self.text(text);
        }
        self.number(match entry.freshness {
            Freshness::Undated => 0.0,
            Freshness::Fresh => 1.0,
            Freshness::Aging => 2.0,
            Freshness::Stale => 3.0,
            Freshness::Historical => 4.0,
        });
        self.flag(entry.changed.is_some());
        self.text(&entry.changed.map(|changed| changed.to_string()).unwrap_or_default());
        self.number(entry.scope.dimensions().count() as f64);
        for (name, value) in entry.scope.dimensions() {
            self.text(name);
            self.text(value);
        }
        self.flag(entry.unresolved);
        self.number(entry.score);
        self.list(&entry.components, |packed, component| {
            packed.text(&component.name);
            packed.number(component.value);
            packed.number(component.contribution);
        });
        self.list(&entry.reasons, |packed, reason| packed.text(reason));
        self.list(&entry.sources, |packed, source| {
            for text in [&source.provider_id, &source.id, &source.uri, &source.session, &source.speaker] {
                packed.text(text);
            }
        });
        self.list(&entry.flags, |packed, flag| {
            packed.number(match flag {
                Flag::InstructionLike => 0.0,
                Flag::Conflicting => 1.0,
                Flag::Truncated => 2.0,
            });
        });
        self.list(&entry.conflicts_with, |packed, id| packed.text(id));
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Packed, &T)) {
        self.number(items.len() as f64);
        items.iter().for_each(|item| each(self, item));
    }

    fn text(&mut self, text: &str) {
        self.text.push_str(text);
        let units = if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() };
        self.number(units as f64);
    }

    fn flag(&mut self, set: bool) {
        self.number(if set { 1.0 } else { 0.0 });
    }

    fn number(&mut self, number: f64) {
        self.numbers.push(number);
    }
}
