use rustc_hash::FxHashMap;

use super::{Known, push_part};
use crate::index::{LinksParts, idf};

/// The most neighbours that a record has.
const NEIGHBOURS: usize = 8;
/// The heaviest terms of a record that neighbours are looked for by.
const TERMS: usize = 16;
/// Postings that are read for one record, rarest terms first: the bound that keeps the whole from growing with the square.
const POSTINGS: usize = 1024;
/// Cosine from which a record is a neighbour.
const NEAR: f32 = 0.12;
/// Records that are counted besides those of a scope and hold none of its terms: in a store of five, a term that four hold still says something.
const IMAGINED: u32 = 10;
/// The most links that a record has in the graph, those of others to it included.
const EDGES: usize = 32;

/// Nearest neighbours by cosine over terms, weighted by rarity within the scope.
#[derive(Default)]
pub(super) struct Near {
    numbers: Numbers,
    lists: Vec<List>,
    /// Number of linked records of each scope.
    sizes: Vec<u32>,
    /// List and weight of each record, heaviest terms only; of unit length with all terms.
    vectors: Vec<Vec<(u32, f32)>>,
    /// Record and weight, list after list.
    postings: Vec<(u32, f32)>,
    near: Vec<Vec<(u32, f32)>>,
    edges: Vec<Vec<(u32, f32)>>,
    scores: Vec<f32>,
}

/// The records of a scope that hold a term.
struct List {
    scope: u32,
    /// How many they are.
    holders: u32,
    rarity: f32,
    /// How many of them have it among their heaviest; then where their postings end.
    end: u32,
}

/// The numbers of lists.
#[derive(Default)]
struct Numbers {
    /// By term: the scope that had it first, and its list. Most stores ask for no other.
    first: Vec<Option<(u32, u32)>>,
    /// Those of further scopes.
    others: FxHashMap<(u32, u32), u32>,
}

impl Numbers {
    fn get(&self, scope: u32, term: u32) -> Option<u32> {
        match self.first.get(term as usize).copied().flatten()? {
            (first, list) if first == scope => Some(list),
            _ => self.others.get(&(scope, term)).copied(),
        }
    }

    fn insert(&mut self, scope: u32, term: u32, list: u32) {
        let place = term as usize;
        if self.first.len() <= place {
            self.first.resize(place + 1, None);
        }
        match self.first.get_mut(place) {
            Some(first @ None) => *first = Some((scope, list)),
            _ => {
                self.others.insert((scope, term), list);
            }
        }
    }
}

impl Near {
    #[inline(never)]
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
            let list = self.numbers.get(facts.scope, *term);
            match list.and_then(|list| self.lists.get_mut(list as usize)) {
                Some(list) => list.holders += 1,
                None => {
                    self.numbers.insert(facts.scope, *term, self.lists.len() as u32);
                    self.lists.push(List { scope: facts.scope, holders: 1, rarity: 0.0, end: 0 });
                }
            }
        }
    }

    /// Ends the counting.
    #[inline(never)]
    pub(super) fn counted(&mut self) {
        for list in &mut self.lists {
            let size = self.sizes.get(list.scope as usize).copied().unwrap_or(0);
            list.rarity = idf((size + IMAGINED) as usize, list.holders as usize);
        }
    }

    /// Weighs the terms of the next record.
    #[inline(never)]
    pub(super) fn weigh(&mut self, known: &Known<'_>, record: usize) {
        let mut vector = Vec::new();
        if let (Some(facts), Some(terms)) = (known.linked(record), known.terms.get(record)) {
            let mut square = 0.0;
            for (term, frequency) in terms {
                let Some(number) = self.numbers.get(facts.scope, *term) else { continue };
                let Some(list) = self.lists.get(number as usize) else { continue };
                let weight = frequency / (frequency + 1.0) * list.rarity;
                square += weight * weight;
                if list.holders > 1 {
                    vector.push((number, weight));
                }
            }
            vector.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            vector.truncate(TERMS);
            let length = square.sqrt().max(f32::MIN_POSITIVE);
            for (number, weight) in &mut vector {
                *weight /= length;
                if let Some(list) = self.lists.get_mut(*number as usize) {
                    list.end += 1;
                }
            }
            // Rarest first, which is the order in which they are read.
            vector.sort_by_key(|(list, _)| (self.lists.get(*list as usize).map(|list| list.holders), *list));
        }
        self.vectors.push(vector);
    }

    /// Ends the weighing: the records of each list, side by side.
    #[inline(never)]
    pub(super) fn weighed(&mut self) {
        let mut all = 0;
        for list in &mut self.lists {
            // Where the postings begin, until they are there.
            all += std::mem::replace(&mut list.end, all);
        }
        self.postings.resize(all as usize, (0, 0.0));
        for (record, vector) in (0u32..).zip(&self.vectors) {
            for (list, weight) in vector {
                let Some(list) = self.lists.get_mut(*list as usize) else { continue };
                if let Some(posting) = self.postings.get_mut(list.end as usize) {
                    *posting = (record, *weight);
                }
                list.end += 1;
            }
        }
    }

    /// The postings of a list.
    fn postings(&self, list: u32) -> &[(u32, f32)] {
        let end = |list: u32| self.lists.get(list as usize).map_or(0, |list| list.end as usize);
        let start = list.checked_sub(1).map_or(0, end);
        self.postings.get(start..end(list)).unwrap_or_default()
    }

    /// Finds the neighbours of the next record.
    #[inline(never)]
    pub(super) fn find(&mut self, known: &Known<'_>, record: usize) {
        let mut scores = std::mem::take(&mut self.scores);
        scores.resize(known.records.len(), 0.0);
        self.edges.resize_with(known.records.len(), Vec::new);
        let mut touched = Vec::new();
        let mut read = 0;
        for (list, weight) in self.vectors.get(record).into_iter().flatten() {
            let postings = self.postings(*list);
            read += postings.len();
            if read > POSTINGS {
                break;
            }
            for (other, other_weight) in postings {
                if let Some(score) = scores.get_mut(*other as usize) {
                    if *score == 0.0 {
                        touched.push(*other);
                    }
                    *score += weight * other_weight;
                }
            }
        }
        let mut near: Vec<(u32, f32)> = Vec::new();
        for other in touched {
            let score = scores.get_mut(other as usize).map_or(0.0, std::mem::take);
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
        self.scores = scores;
    }

    /// The records that a record is a neighbour of, or that are a neighbour of it.
    pub(super) fn edges(&self, record: usize) -> &[(u32, f32)] {
        self.edges.get(record).map_or(&[], Vec::as_slice)
    }

    /// How rare a term is within a scope; 0 for a term that is not there.
    pub(super) fn rarity(&self, scope: u32, term: u32) -> f32 {
        let list = self.numbers.get(scope, term).and_then(|list| self.lists.get(list as usize));
        list.map_or(0.0, |list| list.rarity)
    }

    #[inline(never)]
    pub(super) fn write(self, parts: &mut LinksParts) {
        for near in self.near {
            push_part(&mut parts.near, &mut parts.near_ends, near.iter().map(|(other, _)| *other));
            parts.nearness.extend(near.iter().map(|(_, score)| (score * 255.0).round() as u8));
        }
    }
}
