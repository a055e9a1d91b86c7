use std::cmp::Ordering;
use std::ops::Range;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::U32s;
use super::term::{AFTER_WHO, WHO};
use crate::math;
use crate::text::{self, Answer, Kind, Role, Signature, Token, Weight};

/// The two constants of BM25.
///
/// Source: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bm25 {
    /// How soon repetition stops counting.
    pub k1: f32,
    /// How much length counts, 0 to 1.
    pub b: f32,
}

impl Bm25 {
    /// The saturated weight of a term, between 0 and 1: the `(k1 + 1)` of the formula scales all terms alike and is left out.
    pub fn impact(&self, frequency: f32, relative_length: f32) -> f32 {
        frequency / (frequency + self.k1 * (1.0 - self.b + self.b * relative_length))
    }
}

/// Inverse document frequency of a term that `frequency` of `count` documents hold; never negative.
/// Source: Lucene's BM25Similarity, ln(1 + (N − n + ½) / (n + ½)).
pub fn idf(count: usize, frequency: usize) -> f32 {
    let (count, frequency) = (count as f64, frequency.min(count) as f64);
    math::ln(1.0 + (count - frequency + 0.5) / (frequency + 0.5)) as f32
}

/// Terms by number, as they are met while building.
#[derive(Default)]
pub struct Vocabulary {
    terms: FxHashMap<Box<str>, u32>,
    /// Kind and folded surface → its number among `words`.
    surfaces: FxHashMap<Short, u32>,
    /// The few that are longer. One map a kind.
    long_surfaces: [FxHashMap<Box<str>, u32>; 4],
    /// What each surface became, so that it is looked at once.
    words: Vec<Word>,
}

/// A kind and a surface of up to fifteen bytes: hashed and compared as two numbers.
type Short = (u64, u64);

fn short(kind: usize, surface: &str) -> Option<Short> {
    let bytes = surface.as_bytes();
    let length = bytes.len();
    // Loads of a known width: a copy of so few bytes is a call in WebAssembly.
    let [low, high] = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        [
            u64::from_le_bytes(*first),
            u64::from_le_bytes(*last).checked_shr(8 * 16_u32.checked_sub(length as u32)?).unwrap_or(0),
        ]
    } else if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        [u64::from(u32::from_le_bytes(*first)) | u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4)), 0]
    } else {
        [bytes.iter().rev().fold(0, |low, byte| low << 8 | u64::from(*byte)), 0]
    };
    // The last byte is free for the length, without which a NUL would be lost, and the kind.
    (length < 16).then_some((low, high | ((kind << 4 | length) as u64) << 56))
}

/// What a surface became.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// A number for the surface and its kind, from 0 in the order in which they were met.
    pub number: u32,
    /// The number of its term; `None` for words of grammar, which are not indexed.
    pub term: Option<u32>,
    /// Its bit in a [`Signature`], if it carries meaning there.
    pub bit: Option<u8>,
    /// Whether it may stand for a topic.
    pub topical: bool,
    /// Whether it is an answer, in the order of [`Answer::ALL`].
    pub answers: [bool; Answer::ALL.len()],
}

impl Vocabulary {
    /// The number of a term, new or known.
    pub fn term(&mut self, term: &str) -> u32 {
        if let Some(&id) = self.terms.get(term) {
            return id;
        }
        let id = self.terms.len() as u32;
        self.terms.insert(term.into(), id);
        id
    }

    /// What a token is.
    pub fn token(&mut self, token: &Token<'_>) -> Word {
        let kind = match token.kind {
            Kind::Word => 0,
            Kind::Number => 1,
            Kind::Identifier => 2,
            Kind::Bigram => 3,
        };
        let short = short(kind, token.surface);
        let known = match short {
            Some(short) => self.surfaces.get(&short),
            None => self.long_surfaces.get(kind).and_then(|surfaces| surfaces.get(token.surface)),
        };
        if let Some(&word) = known.and_then(|&number| self.words.get(number as usize)) {
            return word;
        }
        let normalized = text::normalize(token);
        let role = text::role(token.surface);
        let function = token.kind == Kind::Word && role == Role::Function;
        let long = token.surface.len() > 2;
        let word = Word {
            number: self.words.len() as u32,
            term: if function { None } else { Some(self.term(&normalized)) },
            bit: (Weight::of(token) == Weight::Word).then(|| Signature::bit(&normalized)),
            topical: long && (token.kind == Kind::Word && role == Role::Content || token.kind == Kind::Identifier),
            answers: Answer::ALL.map(|kind| kind.is_given_by(token)),
        };
        match short {
            Some(short) => self.surfaces.insert(short, word.number),
            None => self.long_surfaces.get_mut(kind).and_then(|long| long.insert(token.surface.into(), word.number)),
        };
        self.words.push(word);
        word
    }
}

/// One term of one document before it is weighed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// Number in the [`Vocabulary`].
    pub term: u32,
    /// Frequency in the document itself, weighted by field.
    pub own: f32,
    /// Frequency in its neighbours, weighted.
    pub context: f32,
}

/// The most documents that an index can hold: a posting keeps their number in 24 bits.
pub const MAX_DOCUMENTS: usize = 1 << IMPACT_SHIFT;

/// A posting is one word: the BM25 impact in 255ths above the number of the document.
const IMPACT_SHIFT: u32 = 24;
const DOCUMENT: u32 = (1 << IMPACT_SHIFT) - 1;

/// Collects documents in order and writes the flat arrays.
#[derive(Default)]
pub struct LexicalBuilder {
    /// By term: postings, and which of them are the document's own.
    postings: Vec<Vec<(u32, bool)>>,
    documents: u32,
}

impl LexicalBuilder {
    /// Adds the next document. Each term must occur once in `entries`; `relative_length` is its length over the mean.
    pub fn add(&mut self, entries: &[Entry], bm25: Bm25, relative_length: f32) {
        let document = self.documents & DOCUMENT;
        self.documents += 1;
        for entry in entries {
            let impact = bm25.impact(entry.own + entry.context, relative_length);
            let quantized = (impact * 255.0).round().clamp(1.0, 255.0) as u32;
            let term = entry.term as usize;
            if self.postings.len() <= term {
                self.postings.resize_with(term + 1, Vec::new);
            }
            if let Some(list) = self.postings.get_mut(term) {
                list.push((quantized << IMPACT_SHIFT | document, entry.own > 0.0));
            }
        }
    }

    /// The arrays, terms in byte order.
    pub fn finish(self, vocabulary: &Vocabulary) -> LexicalParts {
        let used = |id: u32| self.postings.get(id as usize).is_some_and(|list| !list.is_empty());
        let terms = vocabulary.terms.iter().filter(|(_, id)| used(**id)).map(|(term, id)| (&**term, *id));
        let terms = sorted_by_bytes(terms);
        let mut parts = LexicalParts::default();
        let mut written = 0usize;
        for (term, id) in terms {
            let Some(list) = self.postings.get(id as usize) else { continue };
            parts.term_bytes.extend_from_slice(term.as_bytes());
            push_u32(&mut parts.term_ends, parts.term_bytes.len() as u32);
            push_u32(&mut parts.own_counts, list.iter().filter(|(_, own)| *own).count() as u32);
            for &(posting, own) in list {
                push_u32(&mut parts.postings, posting);
                if written.is_multiple_of(8) {
                    parts.owns.push(0);
                }
                if let Some(bits) = parts.owns.last_mut() {
                    *bits |= u8::from(own) << (written % 8);
                }
                written += 1;
            }
            push_u32(&mut parts.posting_ends, written as u32);
        }
        parts
    }
}

/// Distinct texts in byte order, each with what comes with it.
pub(crate) fn sorted_by_bytes<'a>(texts: impl Iterator<Item = (&'a str, u32)>) -> Vec<(&'a str, u32)> {
    let mut sorted: Vec<(u64, &str, u32)> = texts.map(|(text, number)| (head(text.as_bytes()), text, number)).collect();
    sorted.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)));
    sorted.into_iter().map(|(_, text, number)| (text, number)).collect()
}

/// The first eight bytes as a number that is ordered as they are: nearly every comparison of terms ends there.
fn head(term: &[u8]) -> u64 {
    let mut head = [0; 8];
    head.iter_mut().zip(term).for_each(|(head, byte)| *head = *byte);
    u64::from_be_bytes(head)
}

fn push_u32(bytes: &mut Vec<u8>, value: u32) {
    bytes.extend_from_slice(&value.to_le_bytes());
}

/// The flat arrays of an inverted index, little-endian.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LexicalParts {
    /// All terms in byte order, one after the other.
    pub term_bytes: Vec<u8>,
    /// `u32` a term: where it ends in `term_bytes`.
    pub term_ends: Vec<u8>,
    /// `u32` a term: where its postings end.
    pub posting_ends: Vec<u8>,
    /// `u32` a term: how many of its postings are the documents' own.
    pub own_counts: Vec<u8>,
    /// `u32` a posting, by term and then by document: impact in the upper byte, number of the document below.
    pub postings: Vec<u8>,
    /// A bit a posting, set where the document holds the term itself, rather than a neighbour of it.
    pub owns: Vec<u8>,
}

impl LexicalParts {
    /// The arrays in the order of the fields.
    pub fn into_arrays(self) -> [Vec<u8>; 6] {
        [self.term_bytes, self.term_ends, self.posting_ends, self.own_counts, self.postings, self.owns]
    }
}

/// An inverted index read in place. Every access is checked: damaged arrays give fewer results, never a panic.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lexical<'a> {
    term_bytes: &'a [u8],
    term_ends: U32s<'a>,
    posting_ends: U32s<'a>,
    own_counts: U32s<'a>,
    postings: U32s<'a>,
    owns: &'a [u8],
}

impl<'a> Lexical<'a> {
    /// The index over the arrays of [`LexicalParts`], in their order.
    pub fn new([term_bytes, term_ends, posting_ends, own_counts, postings, owns]: [&'a [u8]; 6]) -> Self {
        Lexical {
            term_bytes,
            term_ends: U32s::new(term_ends),
            posting_ends: U32s::new(posting_ends),
            own_counts: U32s::new(own_counts),
            postings: U32s::new(postings),
            owns,
        }
    }

    /// Whether the arrays fit together in length.
    #[inline(never)]
    pub fn is_consistent(self) -> bool {
        self.term_ends.len() == self.posting_ends.len()
            && self.term_ends.len() == self.own_counts.len()
            && self.postings.len().div_ceil(8) == self.owns.len()
            && self.term_ends.iter().is_sorted()
            && self.posting_ends.iter().is_sorted()
            && self.term_ends.iter().next_back().unwrap_or(0) as usize == self.term_bytes.len()
            && self.posting_ends.iter().next_back().unwrap_or(0) as usize == self.postings.len()
    }

    /// Number of terms.
    pub fn term_count(self) -> usize {
        self.term_ends.len()
    }

    /// The term of a number, as it was indexed.
    pub fn term(self, number: usize) -> Option<&'a [u8]> {
        self.term_bytes.get(self.term_ends.range(number)?)
    }

    /// The number of a term, found by binary search.
    pub fn find(self, term: &str) -> Option<usize> {
        self.place(0..self.term_count(), term.as_bytes()).ok()
    }

    /// The posting lists of those of the names that records are about or by, each with its place among `names`. These are [`who_key`](super::who_key)s.
    #[inline(never)]
    pub fn names<'n>(self, names: impl Iterator<Item = &'n str>) -> Vec<(usize, Postings<'a>)> {
        let (Err(first) | Ok(first)) = self.place(0..self.term_count(), WHO.as_bytes());
        let (Err(end) | Ok(end)) = self.place(first..self.term_count(), AFTER_WHO.as_bytes());
        if first == end {
            return Vec::new();
        }
        let mut term = String::new();
        let list = |(at, name): (usize, &str)| {
            term.clear();
            term.push_str(WHO);
            term.push_str(name);
            self.place(first..end, term.as_bytes()).ok().map(|number| (at, self.postings(number)))
        };
        names.enumerate().filter_map(list).collect()
    }

    /// The number of a term in a range of them, or of the first that comes after it.
    fn place(self, range: Range<usize>, term: &[u8]) -> Result<usize, usize> {
        let wanted = head(term);
        let (mut low, mut high) = (range.start, range.end);
        while low < high {
            let middle = low + (high - low) / 2;
            let Some(place) = self.term_ends.range(middle) else { break };
            // Nearly every comparison ends within eight bytes, and those are one number.
            let order = self.head_at(&place).cmp(&wanted);
            match order.then_with(|| self.term_bytes.get(place).unwrap_or(&[]).cmp(term)) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// The [`head`] of the term at a place.
    fn head_at(self, place: &Range<usize>) -> u64 {
        let Some(bytes) = self.term_bytes.get(place.start..).and_then(|rest| rest.first_chunk()) else {
            return head(self.term_bytes.get(place.clone()).unwrap_or(&[]));
        };
        match u32::try_from(place.len()) {
            Ok(length @ 1..8) => u64::from_be_bytes(*bytes) & u64::MAX << (64 - 8 * length),
            Ok(0) => 0,
            _ => u64::from_be_bytes(*bytes),
        }
    }

    /// The postings of a term, by number.
    pub fn postings(self, term: usize) -> Postings<'a> {
        let range = self.posting_ends.range(term).unwrap_or(0..0);
        let words = self.postings.slice(range.start, range.end).unwrap_or_default();
        let own_count = self.own_counts.get(term).unwrap_or(0) as usize;
        Postings { words, owns: self.owns, first: range.start, own_count }
    }
}

/// The documents that hold a term, in order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Postings<'a> {
    words: U32s<'a>,
    /// Of all terms of the index.
    owns: &'a [u8],
    /// The place of the first posting among those of all terms.
    first: usize,
    own_count: usize,
}

/// The lists of several terms as one: the forms of a word.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    words: Vec<u8>,
    owns: Vec<u8>,
    own_count: usize,
}

impl Merged {
    /// A document that several lists hold counts once, by the highest of its impacts; each list's impacts are taken times its share, 0 to 1.
    pub fn new(lists: &[(Postings<'_>, f32)]) -> Merged {
        let mut all: Vec<(u32, u8, bool)> = Vec::new();
        for (list, share) in lists {
            let impact = |impact: u8| (f32::from(impact) * share).round().clamp(1.0, 255.0) as u8;
            all.extend(list.iter().map(|posting| (posting.document, impact(posting.impact), posting.own)));
        }
        all.sort_unstable();
        let mut merged = Merged::default();
        for (number, same) in all.chunk_by(|a, b| a.0 == b.0).enumerate() {
            let Some(&(document, impact, _)) = same.last() else { continue };
            let own = same.iter().any(|(_, _, own)| *own);
            push_u32(&mut merged.words, u32::from(impact) << IMPACT_SHIFT | document);
            if number.is_multiple_of(8) {
                merged.owns.push(0);
            }
            if let Some(bits) = merged.owns.last_mut() {
                *bits |= u8::from(own) << (number % 8);
            }
            merged.own_count += usize::from(own);
        }
        merged
    }

    /// As one list.
    pub fn postings(&self) -> Postings<'_> {
        Postings { words: U32s::new(&self.words), owns: &self.owns, first: 0, own_count: self.own_count }
    }
}

/// One document that holds a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Posting {
    /// Number of the document.
    pub document: u32,
    /// BM25 impact in 255ths.
    pub impact: u8,
    /// Whether the document itself holds the term, rather than a neighbour.
    pub own: bool,
}

impl<'a> Postings<'a> {
    /// How many there are.
    pub fn len(self) -> usize {
        self.words.len()
    }

    /// Whether there are none.
    pub fn is_empty(self) -> bool {
        self.words.is_empty()
    }

    /// How many of the documents hold the term themselves.
    pub fn own_count(self) -> usize {
        self.own_count
    }

    /// Adds `weight` times the impact of each posting to the score of its document.
    #[inline(never)]
    pub fn add_to(self, scores: &mut [u32], weight: u32) {
        for word in self.words.iter() {
            if let Some(score) = scores.get_mut((word & DOCUMENT) as usize) {
                *score += weight * (word >> IMPACT_SHIFT);
            }
        }
    }

    /// All postings in order of document.
    pub fn iter(self) -> impl Iterator<Item = Posting> + 'a {
        self.words.iter().enumerate().map(move |(at, word)| self.posting(at, word))
    }

    /// The posting of one document.
    pub fn of(self, document: u32) -> Option<Posting> {
        let at = self.words.partition_point(|word| word & DOCUMENT < document);
        let word = self.words.get(at).filter(|word| word & DOCUMENT == document)?;
        Some(self.posting(at, word))
    }

    fn posting(self, at: usize, word: u32) -> Posting {
        let place = self.first + at;
        let own = self.owns.get(place / 8).is_some_and(|bits| bits >> (place % 8) & 1 == 1);
        Posting { document: word & DOCUMENT, impact: (word >> IMPACT_SHIFT) as u8, own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarer_terms_weigh_more() {
        assert!(idf(100, 1) > idf(100, 10) && idf(100, 10) > idf(100, 100) && idf(100, 100) > 0.0);
        assert!(idf(1000, 0) > idf(1000, 1));
    }

    #[test]
    fn postings_are_found_by_term_and_document() {
        let mut vocabulary = Vocabulary::default();
        let (kafka, lag) = (vocabulary.term("kafka"), vocabulary.term("lag"));
        let mut builder = LexicalBuilder::default();
        let bm25 = Bm25 { k1: 1.2, b: 0.75 };
        builder.add(&[Entry { term: kafka, own: 1.0, context: 0.0 }], bm25, 1.0);
        builder.add(&[], bm25, 1.0);
        builder.add(
            &[Entry { term: lag, own: 0.0, context: 0.3 }, Entry { term: kafka, own: 2.0, context: 0.0 }],
            bm25,
            1.0,
        );
        let parts = builder.finish(&vocabulary);
        let arrays = parts.into_arrays();
        let index = Lexical::new(arrays.each_ref().map(Vec::as_slice));
        assert!(index.is_consistent());
        let postings = index.postings(index.find("kafka").unwrap());
        assert_eq!(postings.iter().map(|posting| posting.document).collect::<Vec<_>>(), [0, 2]);
        assert!(postings.of(2).unwrap().impact > postings.of(0).unwrap().impact);
        assert!(postings.of(1).is_none());
        let lag = index.postings(index.find("lag").unwrap()).of(2).unwrap();
        assert!(!lag.own);
        assert!(index.find("absent").is_none());
    }

    proptest::proptest! {
        #[test]
        fn a_term_is_found_among_others_and_nothing_else_is(
            terms in proptest::collection::btree_set("\u{1}?[ab\u{0}é]{0,10}", 0..30),
            others in proptest::collection::vec("\u{1}?[ab\u{0}é]{0,10}", 0..30),
        ) {
            let mut vocabulary = Vocabulary::default();
            let mut builder = LexicalBuilder::default();
            for term in &terms {
                let term = vocabulary.term(term);
                builder.add(&[Entry { term, own: 1.0, context: 0.0 }], Bm25 { k1: 1.2, b: 0.75 }, 1.0);
            }
            let arrays = builder.finish(&vocabulary).into_arrays();
            let index = Lexical::new(arrays.each_ref().map(Vec::as_slice));
            for wanted in terms.iter().chain(&others) {
                let place = terms.iter().position(|term| term == wanted);
                proptest::prop_assert_eq!(index.find(wanted), place, "{:?} among {:?}", wanted, &terms);
            }
            let names: Vec<&str> = terms.iter().chain(&others).map(|term| term.trim_start_matches('\u{1}')).collect();
            let found: Vec<usize> = index.names(names.iter().copied()).iter().map(|(at, _)| *at).collect();
            let known = |name: &str| terms.contains(&crate::index::who_term(name));
            let expected: Vec<usize> = (0..names.len()).filter(|at| known(names[*at])).collect();
            proptest::prop_assert_eq!(found, expected);
        }
    }
}
