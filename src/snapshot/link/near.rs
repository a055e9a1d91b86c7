use rustc_hash::FxHashMap;

use super::{Known, push_part};
use crate::index::{LinksParts, idf};

/// The most neighbours that a record has.
const NEIGHBOURS: usize = 8;
/// The heaviest terms of a record that neighbours are looked for by.
const TERMS: usize = 16;
/// Postings that are read for one record, rarest terms first: the bound that keeps the whole from growing with the square.
const POSTINGS: usize = 2048;
/// Cosine from which a record is a neighbour.
const NEAR: f32 = 0.12;
/// Records that are counted besides those of a scope and hold none of its terms: in a store of five, a term that four hold still says something.
const IMAGINED: u32 = 10;
/// The most links that a record has in the graph, those of others to it included.
const EDGES: usize = 32;

/// Nearest neighbours by cosine over terms, weighted by rarity within the scope.
#[derive(Default)]
pub(super) struct Near {
    /// Scope and term to the number of their list.
    numbers: FxHashMap<(u32, u32), u32>,
    /// Number of linked records of each scope.
    sizes: Vec<u32>,
    /// Records that hold the term, by list.
    frequencies: Vec<u32>,
    /// Record and weight, by list.
    postings: Vec<Vec<(u32, f32)>>,
    /// List and weight, heaviest terms only; of unit length with all terms.
    vectors: Vec<Vec<(u32, f32)>>,
    near: Vec<Vec<(u32, f32)>>,
    edges: Vec<Vec<(u32, f32)>>,
    scores: Vec<f32>,
}

impl Near {
    pub(super) fn count(&mut self, known: &Known<'_>, record: usize) {
        let (Some(facts), Some(terms)) = (known.linked(record), known.terms.get(record)) else { return };
        let scope = facts.scope as usize;
        if self.sizes.len() <= scope {
            self.sizes.resize(scope + 1, 0);
        }
        if let Some(size) = self.sizes.get_mut(scope) {
            *size += 1;
        }
        for (term, _) in terms {
            let next = self.frequencies.len() as u32;
            let list = *self.numbers.entry((facts.scope, *term)).or_insert(next);
            match self.frequencies.get_mut(list as usize) {
                Some(frequency) => *frequency += 1,
                None => self.frequencies.push(1),
            }
        }
    }

    /// Weighs the terms of the next record.
    pub(super) fn weigh(&mut self, known: &Known<'_>, record: usize) {
        let mut vector = Vec::new();
        if let (Some(facts), Some(terms)) = (known.linked(record), known.terms.get(record)) {
            let mut square = 0.0;
            for (term, frequency) in terms {
                if let Some(list) = self.numbers.get(&(facts.scope, *term)) {
                    let holders = self.frequencies.get(*list as usize).copied().unwrap_or(0);
                    let weight = frequency / (frequency + 1.0) * self.idf(facts.scope, holders);
                    square += weight * weight;
                    if holders > 1 {
                        vector.push((*list, weight));
                    }
                }
            }
            vector.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            vector.truncate(TERMS);
            let length = square.sqrt().max(f32::MIN_POSITIVE);
            self.postings.resize_with(self.frequencies.len(), Vec::new);
            for (list, weight) in &mut vector {
                *weight /= length;
                if let Some(postings) = self.postings.get_mut(*list as usize) {
                    postings.push((record as u32, *weight));
                }
            }
            // Rarest first, which is the order in which they are read.
            vector.sort_by_key(|(list, _)| (self.frequencies.get(*list as usize).copied(), *list));
        }
        self.vectors.push(vector);
    }

    /// Finds the neighbours of the next record.
    pub(super) fn find(&mut self, known: &Known<'_>, record: usize) {
        self.scores.resize(known.records.len(), 0.0);
        self.edges.resize_with(known.records.len(), Vec::new);
        let mut touched = Vec::new();
        let mut read = 0;
        for (list, weight) in self.vectors.get(record).into_iter().flatten() {
            let postings = self.postings.get(*list as usize).map_or(&[][..], Vec::as_slice);
            read += postings.len();
            if read > POSTINGS {
                break;
            }
            for (other, other_weight) in postings {
                if let Some(score) = self.scores.get_mut(*other as usize) {
                    if *score == 0.0 {
                        touched.push(*other);
                    }
                    *score += weight * other_weight;
                }
            }
        }
        let mut near: Vec<(u32, f32)> = Vec::new();
        for other in touched {
            let score = self.scores.get_mut(other as usize).map_or(0.0, std::mem::take);
            if score >= NEAR && other as usize != record {
                let at = near.partition_point(|(known, best)| *best > score || (*best == score && *known < other));
                if at < NEIGHBOURS {
                    near.insert(at, (other, score.min(1.0)));
                    near.truncate(NEIGHBOURS);
                }
            }
        }
        for (other, score) in &near {
            for (from, to) in [(record as u32, *other), (*other, record as u32)] {
                if let Some(edges) = self.edges.get_mut(from as usize)
                    && edges.len() < EDGES
                    && edges.iter().all(|(known, _)| *known != to)
                {
                    edges.push((to, *score));
                }
            }
        }
        self.near.push(near);
    }

    /// The records that a record is a neighbour of, or that are a neighbour of it.
    pub(super) fn edges(&self, record: usize) -> &[(u32, f32)] {
        self.edges.get(record).map_or(&[], Vec::as_slice)
    }

    /// How rare a term is within a scope; 0 for a term that is not there.
    pub(super) fn rarity(&self, scope: u32, term: u32) -> f32 {
        let holders = self.numbers.get(&(scope, term)).and_then(|list| self.frequencies.get(*list as usize));
        holders.map_or(0.0, |holders| self.idf(scope, *holders))
    }

    fn idf(&self, scope: u32, holders: u32) -> f32 {
        let size = self.sizes.get(scope as usize).copied().unwrap_or(0);
        idf((size + IMAGINED) as usize, holders as usize)
    }

    pub(super) fn write(self, parts: &mut LinksParts) {
        for near in self.near {
            push_part(&mut parts.near, &mut parts.near_ends, near.iter().map(|(other, _)| *other));
            parts.nearness.extend(near.iter().map(|(_, score)| (score * 255.0).round() as u8));
        }
    }
}
