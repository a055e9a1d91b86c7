use std::ops::Range;

use super::concepts::concepts;
use super::{Batch, EmbeddingModel, normalize};
use crate::text::{self, Kind, Role, Token};

/// What each kind of feature counts for before the vector is scaled to unit length.
const WORD: f32 = 1.0;
const FUNCTION_WORD: f32 = 0.1;
const TRIGRAM: f32 = 0.3;
const PAIR: f32 = 0.4;
const CONCEPT: f32 = 1.0;

/// `remem-local-hash-v1`: signed feature hashing of words, character trigrams, adjacent word pairs and a
/// few hand-written concepts into 384 dimensions.
///
/// **Not a neural model.** It sees spelling, not meaning: it brings typos, word forms and compounds
/// together, and leaves synonyms apart except for the concepts listed in its source. It needs no file and
/// gives the same vector everywhere.
///
/// Source of the method: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning" (2009).
#[derive(Clone, Copy, Debug, Default)]
pub struct HashEmbedder;

impl HashEmbedder {
    /// The model's id.
    pub const ID: &str = "remem-local-hash-v1";
    /// The model's vector length.
    pub const DIMENSIONS: usize = 384;
}

impl EmbeddingModel for HashEmbedder {
    fn id(&self) -> &str {
        Self::ID
    }

    fn dimensions(&self) -> usize {
        Self::DIMENSIONS
    }

    /// A junior partner: what the evals justify.
    fn share(&self) -> f32 {
        0.15
    }

    fn embed(&self, text: &str, out: &mut [f32]) {
        out.fill(0.0);
        let (mut features, mut previous) = (Vec::new(), 0);
        text::tokenize(text, &mut |token| {
            features.clear();
            let word = Word::read(&token, &mut features);
            word.add(&features, out, &mut previous);
        });
        normalize(out);
    }

    fn batch(&self) -> Option<Box<dyn Batch>> {
        Some(Box::new(HashBatch::default()))
    }
}

/// Many texts: each distinct word is taken apart once.
#[derive(Default)]
struct HashBatch {
    /// By number: the word, and where its features are.
    words: Vec<Option<(Word, Range<usize>)>>,
    /// Of all words, one after the other.
    features: Vec<Feature>,
    /// Of the text so far.
    sums: Vec<f32>,
    previous: u64,
}

impl Batch for HashBatch {
    fn add(&mut self, number: u32, token: &Token<'_>) {
        let number = number as usize;
        if self.words.len() <= number {
            self.words.resize(number + 1, None);
        }
        self.sums.resize(HashEmbedder::DIMENSIONS, 0.0);
        let Some(known) = self.words.get_mut(number) else { return };
        let (word, range) = known.get_or_insert_with(|| {
            let start = self.features.len();
            let word = Word::read(token, &mut self.features);
            (word, start..self.features.len())
        });
        word.add(self.features.get(range.clone()).unwrap_or(&[]), &mut self.sums, &mut self.previous);
    }

    fn finish(&mut self, out: &mut [f32]) {
        self.sums.resize(HashEmbedder::DIMENSIONS, 0.0);
        out.iter_mut().zip(&mut self.sums).for_each(|(out, sum)| *out = std::mem::take(sum));
        self.previous = 0;
        normalize(out);
    }
}

/// A dimension, and what is added to it.
#[derive(Clone, Copy, Debug)]
struct Feature {
    at: u16,
    weight: f32,
}

impl Feature {
    fn new(hash: u64, weight: f32) -> Feature {
        let at = (hash % HashEmbedder::DIMENSIONS as u64) as u16;
        Feature { at, weight: if hash >> 63 == 0 { weight } else { -weight } }
    }

    fn add(self, out: &mut [f32]) {
        if let Some(value) = out.get_mut(usize::from(self.at)) {
            *value += self.weight;
        }
    }
}

/// What a word is hashed to.
#[derive(Clone, Copy, Debug)]
struct Word {
    hash: u64,
    function: bool,
}

impl Word {
    /// Takes a word apart: itself, then what it consists of, are appended to `features`.
    fn read(token: &Token<'_>, features: &mut Vec<Feature>) -> Word {
        let function = token.kind == Kind::Word && text::role(token.surface) == Role::Function;
        let stem = text::normalize(token);
        let word = Word { hash: hash(b'w', stem.as_bytes(), 0), function };
        features.push(Feature::new(word.hash, if function { FUNCTION_WORD } else { WORD }));
        if !function {
            if token.kind != Kind::Bigram {
                trigrams(token.surface, |trigram| features.push(Feature::new(hash(b't', trigram, 0), TRIGRAM)));
            }
            let concepts = concepts(&stem).map(|concept| Feature::new(hash(b'c', concept.as_bytes(), 0), CONCEPT));
            features.extend(concepts);
        }
        word
    }

    fn add(self, features: &[Feature], out: &mut [f32], previous: &mut u64) {
        let Some((itself, parts)) = features.split_first() else { return };
        itself.add(out);
        if self.function {
            return;
        }
        if *previous != 0 {
            Feature::new(hash(b'p', &self.hash.to_le_bytes(), *previous), PAIR).add(out);
        }
        *previous = self.hash;
        parts.iter().for_each(|part| part.add(out));
    }
}

/// Calls `each` with every run of three characters of `^word$`.
fn trigrams(word: &str, mut each: impl FnMut(&[u8])) {
    let mut bounded = smallvec::SmallVec::<[u8; 96]>::new();
    bounded.push(b'^');
    bounded.extend_from_slice(word.as_bytes());
    bounded.push(b'$');
    let starts: smallvec::SmallVec<[usize; 96]> =
        (0..bounded.len()).filter(|&at| bounded.get(at).is_some_and(|byte| byte & 0xc0 != 0x80)).collect();
    for (nth, &start) in starts.iter().enumerate() {
        let end = match starts.get(nth + 3) {
            Some(&end) => end,
            None if nth + 3 == starts.len() => bounded.len(),
            None => break,
        };
        if let Some(trigram) = bounded.get(start..end) {
            each(trigram);
        }
    }
}

/// FNV-1a (Fowler, Noll, Vo) over a kind byte and the data, with a final mix (Murmur3's `fmix64`) because the sign is read off the top bit.
fn hash(kind: u8, data: &[u8], seed: u64) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325 ^ seed;
    for &byte in std::iter::once(&kind).chain(data) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    state = (state ^ (state >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    state = (state ^ (state >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    state ^ (state >> 33)
}

#[cfg(test)]
mod tests {
    use super::super::dot;
    use super::*;

    fn similarity(a: &str, b: &str) -> f32 {
        let mut vectors = [[0f32; HashEmbedder::DIMENSIONS]; 2];
        HashEmbedder.embed(a, &mut vectors[0]);
        HashEmbedder.embed(b, &mut vectors[1]);
        dot(&vectors[0], &vectors[1])
    }

    #[test]
    fn spelling_and_form_bring_texts_together_and_meaning_alone_does_not() {
        assert!(similarity("billing rewrite", "the rewrite of billing") > 0.6);
        assert!(similarity("kubernetes migration", "kuberentes migrations") > 0.4);
        assert!(similarity("login is broken", "authentication failure") > 0.15);
        assert!(similarity("automobile", "car").abs() < 0.2);
        assert!(similarity("the capital of France", "postgres vacuum settings").abs() < 0.2);
    }

    #[test]
    fn a_batch_gives_the_same_vectors() {
        let (mut batch, mut vocabulary) = (HashEmbedder.batch().unwrap(), crate::index::Vocabulary::default());
        for text in [
            "Refunds are rounded, refunds",
            "C++ and the kuberentes queue",
            "東京タワー",
            "",
            "Refunds are rounded, refunds",
        ] {
            let mut vectors = [[0f32; HashEmbedder::DIMENSIONS]; 2];
            HashEmbedder.embed(text, &mut vectors[0]);
            text::tokenize(text, &mut |token| batch.add(vocabulary.token(&token).number, &token));
            batch.finish(&mut vectors[1]);
            assert_eq!(vectors[0], vectors[1], "{text}");
        }
    }

    #[test]
    fn vectors_are_pinned() {
        let mut vector = [0f32; HashEmbedder::DIMENSIONS];
        HashEmbedder.embed("Refunds are rounded to the cent", &mut vector);
        assert!((dot(&vector, &vector) - 1.0).abs() < 1e-5);
        let largest = vector.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs())).map(|(at, _)| at);
        assert_eq!(largest, Some(PINNED_LARGEST));
        HashEmbedder.embed("", &mut vector);
        assert!(vector.iter().all(|value| *value == 0.0));
    }

    /// Where the vector of the sentence above is largest; another value means that stored vectors no longer match.
    const PINNED_LARGEST: usize = 190;
}
