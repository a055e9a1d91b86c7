//! Results across the border in one string and one array of numbers: a result of ten has some four hundred fields, and each that crosses by itself
//! costs as much as a search of a thousand records.

use crate::engine::{Degraded, Preparation, ProviderReport, ProviderStatus, RecallResult};
use crate::memory::Timestamp;
use crate::plan::{Plan, PlanRequest, Shape, Signals};
use crate::rank::{Component, Evidence, Flag, Freshness, SourceRef};
use crate::write::Block;

/// A result laid out for `unpackResult` of the facade, which reads the same fields in the same order. Every struct is taken apart whole: a field that
/// is added has to be added here and there.
#[derive(Default)]
pub(super) struct Packed {
    /// All texts, one after the other.
    pub text: String,
    /// For a text its length in UTF-16 units, for a list its length, for a choice its place, for what may be missing whether it is there, else the
    /// number itself.
    pub numbers: Vec<f64>,
}

impl Packed {
    pub(super) fn of(result: &RecallResult) -> Packed {
        let RecallResult { plan, evidence, block, providers, degraded, revision, overlay_revision, prepared } = result;
        let mut packed = Packed::default();
        packed.plan(plan);
        packed.list(evidence, Packed::evidence);
        packed.block(block);
        packed.list(providers, Packed::provider);
        packed.list(degraded, |packed, Degraded { part, message }| packed.texts([part, message]));
        packed.text(revision);
        packed.number(*overlay_revision as f64);
        packed.optional(prepared.as_ref(), Packed::preparation);
        packed
    }

    fn plan(&mut self, plan: &Plan) {
        let Plan { should_retrieve, confidence, topics, requests, reason, stage, signals } = plan;
        self.flag(*should_retrieve);
        self.number(*confidence);
        self.words(topics);
        self.list(requests, |packed, PlanRequest { provider_id, query, reason, limit }| {
            packed.texts([provider_id, query, reason]);
            packed.count(*limit);
        });
        self.text(reason);
        self.number(f64::from(*stage));
        self.signals(signals);
    }

    fn signals(&mut self, signals: &Signals) {
        let Signals {
            coverage,
            matched_idf,
            matched,
            missing,
            records,
            topical_terms,
            names,
            exact,
            topic,
            similarity,
            nearness,
            runner_up,
            rarity,
            absent,
            unknown_names,
            tasks,
            shape,
            length,
            continuity,
            command,
            personal,
            dated,
        } = signals;
        self.number(*coverage);
        self.number(*matched_idf);
        self.words(matched);
        self.words(missing);
        self.count(*records);
        self.count(*topical_terms);
        self.words(names);
        self.flag(*exact);
        for number in [topic, similarity, nearness, runner_up, rarity, absent] {
            self.number(*number);
        }
        self.words(unknown_names);
        self.count(*tasks);
        self.shape(shape);
        self.count(*length);
        self.optional(continuity.as_deref(), Packed::text);
        for flag in [command, personal, dated] {
            self.flag(*flag);
        }
    }

    fn shape(&mut self, shape: &Shape) {
        let Shape { question, advice, definition, whether, would, own, wish, addressed, articles } = shape;
        for flag in [question, advice, definition, whether, would, own, wish, addressed] {
            self.flag(*flag);
        }
        self.count(*articles);
    }

    fn evidence(&mut self, entry: &Evidence) {
        let Evidence {
            id,
            provider_id,
            topic,
            kind,
            title,
            subject,
            predicate,
            text,
            freshness,
            changed,
            scope,
            unresolved,
            score,
            components,
            reasons,
            sources,
            flags,
            conflicts_with,
        } = entry;
        self.texts([id, provider_id]);
        self.optional(topic.as_deref(), Packed::text);
        self.texts([kind, title, subject, predicate, text]);
        self.number(match freshness {
            Freshness::Undated => 0.0,
            Freshness::Fresh => 1.0,
            Freshness::Aging => 2.0,
            Freshness::Stale => 3.0,
            Freshness::Historical => 4.0,
        });
        self.optional(changed.as_ref(), Packed::time);
        self.count(scope.dimensions().count());
        for (name, value) in scope.dimensions() {
            self.text(name);
            self.text(value);
        }
        self.flag(*unresolved);
        self.number(*score);
        self.list(components, |packed, Component { name, value, contribution }| {
            packed.text(name);
            packed.number(*value);
            packed.number(*contribution);
        });
        self.words(reasons);
        self.list(sources, |packed, SourceRef { provider_id, id, uri, session, speaker }| {
            packed.texts([provider_id, id, uri, session, speaker]);
        });
        self.list(flags, |packed, flag| {
            packed.number(match flag {
                Flag::InstructionLike => 0.0,
                Flag::Conflicting => 1.0,
                Flag::Truncated => 2.0,
            });
        });
        self.words(conflicts_with);
    }

    fn block(&mut self, block: &Block) {
        let Block {
            text,
            catalog,
            recall,
            included,
            omitted,
            shortened,
            catalog_omitted,
            fingerprint,
            neutralized,
            catalog_tokens,
            recall_tokens,
        } = block;
        self.texts([text, catalog, recall]);
        self.words(included);
        for count in [omitted, shortened, catalog_omitted] {
            self.count(*count);
        }
        self.text(fingerprint);
        for count in [neutralized, catalog_tokens, recall_tokens] {
            self.count(*count);
        }
    }

    fn provider(&mut self, report: &ProviderReport) {
        let ProviderReport { id, status, elapsed_ms, results, rejected, truncated, message } = report;
        self.text(id);
        self.number(match status {
            ProviderStatus::Ok => 0.0,
            ProviderStatus::Timeout => 1.0,
            ProviderStatus::Error => 2.0,
            ProviderStatus::Aborted => 3.0,
        });
        self.number(*elapsed_ms);
        for count in [results, rejected, truncated] {
            self.count(*count);
        }
        self.optional(message.as_deref(), Packed::text);
    }

    fn preparation(&mut self, preparation: &Preparation) {
        let Preparation { source_turn, first_turn, expires, served } = preparation;
        self.number(*source_turn as f64);
        self.number(*first_turn as f64);
        self.optional(expires.as_ref(), Packed::time);
        self.flag(*served);
    }

    fn list<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Packed, &T)) {
        self.count(items.len());
        items.iter().for_each(|item| each(self, item));
    }

    fn words(&mut self, words: &[String]) {
        self.list(words, |packed, word| packed.text(word));
    }

    fn optional<T: ?Sized>(&mut self, value: Option<&T>, pack: impl FnOnce(&mut Packed, &T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            pack(self, value);
        }
    }

    fn texts<const N: usize>(&mut self, texts: [&String; N]) {
        texts.into_iter().for_each(|text| self.text(text));
    }

    #[inline(never)]
    fn text(&mut self, text: &str) {
        self.text.push_str(text);
        let units = if text.is_ascii() { text.len() } else { text.chars().map(char::len_utf16).sum() };
        self.count(units);
    }

    fn time(&mut self, time: &Timestamp) {
        self.text(&time.to_string());
    }

    fn flag(&mut self, set: bool) {
        self.number(if set { 1.0 } else { 0.0 });
    }

    fn count(&mut self, count: usize) {
        self.number(count as f64);
    }

    #[inline(never)]
    fn number(&mut self, number: f64) {
        self.numbers.push(number);
    }
}
