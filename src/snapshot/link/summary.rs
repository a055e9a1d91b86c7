use rustc_hash::FxHashMap;

use super::near::Near;
use super::{Known, push};
use crate::index::{LinksParts, Span, SpanKind};
use crate::memory::Record;
use crate::text;

/// Members that title and summary are taken from, the most central.
const READ: usize = 24;
/// Bytes of each that are read.
const READ_BYTES: usize = 2048;
/// Words of a title.
const TITLE_WORDS: usize = 3;
/// Sentences of a summary.
const SENTENCES: usize = 3;
/// The least and the most that a sentence of a summary may have, in bytes.
const SENTENCE_BYTES: std::ops::RangeInclusive<usize> = 12..=280;

/// What to say of each community.
#[derive(Default)]
pub(super) struct Summaries {
    spans: Vec<u8>,
    ends: Vec<u8>,
}

/// Puts the most central members first: those with the strongest links to the others, and the important ones.
#[inline(never)]
pub(super) fn order(members: &mut [u32], known: &Known<'_>, near: &Near) {
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    members.sort_by_cached_key(|member| {
        let at = *member as usize;
        let inside = near.edges(at).iter().filter(|(other, _)| sorted.binary_search(other).is_ok());
        let importance = known.facts.get(at).and_then(|facts| facts.importance).unwrap_or(0.5);
        let centrality = inside.map(|(_, weight)| weight).sum::<f32>() * (0.5 + importance);
        // Positive floats are ordered as their bits are.
        (std::cmp::Reverse(centrality.max(0.0).to_bits()), *member)
    });
}

/// A term of the community: how many members hold it, and where it stands first.
struct Word {
    term: u32,
    holders: u32,
    last: u32,
    span: Span,
    weight: f32,
}

impl Summaries {
    /// Chooses the title and the sentences of the next community.
    #[inline(never)]
    pub(super) fn add(&mut self, members: &[u32], known: &mut Known<'_>, near: &Near) {
        let read: Vec<u32> = members.iter().copied().take(READ).collect();
        let scope = read.first().and_then(|first| known.facts.get(*first as usize)).map_or(0, |facts| facts.scope);
        let mut words: Vec<Word> = Vec::new();
        let mut buffer = String::new();
        let mut places: FxHashMap<u32, usize> = FxHashMap::default();
        let mut sentences: Vec<(Span, Vec<u32>)> = Vec::new();
        for member in &read {
            let Some(record) = known.records.get(*member as usize) else { continue };
            for (start, sentence) in sentences_of(text::truncate(record.text(), READ_BYTES)) {
                let mut terms = Vec::new();
                for (at, word) in words_of(sentence) {
                    let Some(term) = topical(word, known, &mut buffer) else { continue };
                    terms.push(term);
                    let place = *places.entry(term).or_insert(words.len());
                    if let Some(word) = words.get_mut(place) {
                        word.holders += u32::from(word.last != *member);
                        word.last = *member;
                        continue;
                    }
                    let (start, end) = ((start + at) as u32, (start + at + word.len()) as u32);
                    let span = Span { record: *member, kind: SpanKind::Word, start, end };
                    words.push(Word { term, holders: 1, last: *member, span, weight: near.rarity(scope, term) });
                }
                terms.sort_unstable();
                terms.dedup();
                if SENTENCE_BYTES.contains(&sentence.len()) {
                    let (start, end) = (start as u32, (start + sentence.len()) as u32);
                    sentences.push((Span { record: *member, kind: SpanKind::Sentence, start, end }, terms));
                }
            }
        }
        // Rarity twice: a title should set apart, not repeat what is said everywhere.
        words.iter_mut().for_each(|word| word.weight = word.weight * word.weight * (word.holders - 1) as f32);
        self.title(&read, &words, known.records);
        self.sentences(&words, &places, sentences, known.records);
        push(&mut self.ends, (self.spans.len() / 16) as u32);
    }

    /// The topic or the heading that most members share; else the words that set them apart from the rest.
    fn title(&mut self, read: &[u32], words: &[Word], records: &[Record]) {
        type Field = fn(&Record) -> &str;
        let fields: [(SpanKind, Field); 2] = [
            (SpanKind::Topic, |record| record.topic.as_deref().unwrap_or("")),
            (SpanKind::Title, |record| &record.title),
        ];
        for (kind, field) in fields {
            let named = |member: u32| records.get(member as usize).map_or("", field);
            let shared = read.iter().copied().find(|member| {
                let name = named(*member);
                !name.is_empty() && read.iter().filter(|other| named(**other) == name).count() * 2 > read.len()
            });
            if let Some(record) = shared {
                Span { record, kind, start: 0, end: named(record).len() as u32 }.write(&mut self.spans);
                return;
            }
        }
        let mut best: Vec<&Word> = words.iter().filter(|word| word.weight > 0.0).collect();
        best.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.term.cmp(&b.term)));
        best.iter().take(TITLE_WORDS).for_each(|word| word.span.write(&mut self.spans));
    }

    /// Sentences that hold most of what the members share, each one something new, in order of record.
    fn sentences(
        &mut self,
        words: &[Word],
        places: &FxHashMap<u32, usize>,
        sentences: Vec<(Span, Vec<u32>)>,
        records: &[Record],
    ) {
        let place = |term: u32| places.get(&term).copied();
        let mut sentences: Vec<(Span, Vec<usize>)> =
            sentences.into_iter().map(|(span, terms)| (span, terms.into_iter().filter_map(place).collect())).collect();
        let mut weights: Vec<f32> = words.iter().map(|word| word.weight).collect();
        let mut chosen: Vec<Span> = Vec::new();
        while chosen.len() < SENTENCES {
            let worth = |places: &[usize]| {
                let sum: f32 = places.iter().filter_map(|place| weights.get(*place)).sum();
                // Long sentences hold more by chance.
                sum / (4.0 + places.len() as f32)
            };
            let best = sentences
                .iter()
                .enumerate()
                .map(|(at, (_, places))| (at, worth(places)))
                .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
            let Some((at, _)) = best.filter(|(_, worth)| *worth > 0.0 || chosen.is_empty()) else { break };
            let (span, said) = sentences.swap_remove(at);
            for place in said {
                if let Some(weight) = weights.get_mut(place) {
                    *weight = 0.0;
                }
            }
            sentences.retain(|(other, _)| other.record != span.record);
            chosen.push(span);
        }
        chosen.sort_by_key(|span| (records.get(span.record as usize).and_then(Record::begins), span.record));
        chosen.into_iter().for_each(|span| span.write(&mut self.spans));
    }

    pub(super) fn write(self, parts: &mut LinksParts) {
        parts.spans = self.spans;
        parts.span_ends = self.ends;
    }
}

/// The term of a word that may stand in a title.
fn topical(word: &str, known: &mut Known<'_>, buffer: &mut String) -> Option<u32> {
    if let Some(token) = text::plain_token(word, buffer) {
        let word = known.vocabulary.token(&token);
        return word.term.filter(|_| word.topical);
    }
    let mut term = None;
    let mut tokens = 0;
    text::tokenize(word, &mut |token| {
        tokens += 1;
        let word = known.vocabulary.token(&token);
        term = word.term.filter(|_| word.topical);
    });
    term.filter(|_| tokens == 1)
}

/// The words of a text with their places.
fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive(|c: char| c.is_whitespace() || matches!(c, '/' | '—' | '–')).filter_map(move |piece| {
        let lead = piece.len() - piece.trim_start_matches(|c: char| !c.is_alphanumeric()).len();
        let at = start + lead;
        start += piece.len();
        let word = piece.trim_matches(|c: char| !c.is_alphanumeric());
        (!word.is_empty()).then_some((at, word))
    })
}

/// The sentences of a text with their places.
fn sentences_of(text: &str) -> Vec<(usize, &str)> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let breaks = match char {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' | '…' | '।' => next.is_some_and(char::is_whitespace),
            _ => false,
        };
        if breaks || next.is_none() {
            let end = at + char.len_utf8();
            let sentence = text.get(start..end).unwrap_or("");
            let from = start + sentence.len() - sentence.trim_start().len();
            if !sentence.trim().is_empty() {
                sentences.push((from, sentence.trim()));
            }
            start = end;
        }
    }
    sentences
}
