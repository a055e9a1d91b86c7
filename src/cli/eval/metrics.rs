use std::collections::BTreeSet;

use serde::ser::{Serialize, SerializeMap, Serializer};

/// Figures of one ranking, or the mean of many, in the order of [`Figures::NAMES`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures([f64; 6]);

impl Figures {
    /// What is measured.
    ///
    /// - `recall@k`: share of the gold ids that the first k results cover.
    /// - `hit@5`: whether the first 5 cover any.
    /// - `mrr@10`: 1 / place of the first result that covers one; 0 beyond 10.
    /// - `ndcg@10`: gain 1 for each result that covers a gold id, discounted by log2(1 + place), against the best order that the
    ///   relevant records allow.
    pub const NAMES: [&str; 6] = ["recall@1", "recall@5", "recall@10", "hit@5", "mrr@10", "ndcg@10"];

    /// Judges a ranking. `ranked` holds, for each result, the gold ids that it covers; `gold` is how many there are to be found, `relevant` how
    /// many records cover at least one.
    pub fn of(ranked: &[Vec<&str>], gold: usize, relevant: usize) -> Figures {
        let recall = |k: usize| {
            let covered: BTreeSet<&str> = ranked.iter().take(k).flatten().copied().collect();
            covered.len() as f64 / gold.max(1) as f64
        };
        let places: Vec<usize> =
            ranked.iter().take(10).enumerate().filter(|(_, ids)| !ids.is_empty()).map(|(at, _)| at + 1).collect();
        let discount = |place: usize| 1.0 / (1.0 + place as f64).log2();
        let gain = places.iter().fold(0.0, |gain, place| gain + discount(*place));
        let best: f64 = (1..=relevant.clamp(1, 10)).map(discount).sum();
        Figures([
            recall(1),
            recall(5),
            recall(10),
            f64::from(places.first().is_some_and(|place| *place <= 5)),
            places.first().map_or(0.0, |place| 1.0 / *place as f64),
            // A result that stands for several folded records can beat an order of single records.
            (gain / best).min(1.0),
        ])
    }

    /// The mean; `None` of none.
    pub fn mean(all: &[Figures]) -> Option<Figures> {
        let mut sums = [0.0; 6];
        for Figures(values) in all {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        (!all.is_empty()).then(|| Figures(sums.map(|sum| sum / all.len() as f64)))
    }

    /// The figure of a name.
    pub fn get(&self, name: &str) -> f64 {
        self.named().find(|(known, _)| *known == name).map_or(f64::NAN, |(_, value)| value)
    }

    /// Every figure with its name.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> {
        Self::NAMES.into_iter().zip(self.0)
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(Self::NAMES.len()))?;
        for (name, value) in self.named() {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}

/// Confidences against what was true, in ten equal steps.
#[derive(Clone, Debug, Default)]
pub struct Reliability {
    steps: [Step; 10],
}

/// One step: how many prompts, the sum of their confidences, how many were true.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    count: usize,
    sum: f64,
    hits: usize,
}

impl Reliability {
    /// Counts one prompt.
    pub fn add(&mut self, confidence: f64, truth: bool) {
        let at = ((confidence * 10.0) as usize).min(9);
        if let Some(step) = self.steps.get_mut(at) {
            step.count += 1;
            step.sum += confidence;
            step.hits += usize::from(truth);
        }
    }

    /// For each step that is not empty: where it begins, prompts, mean confidence, share that was true.
    pub fn rows(&self) -> impl Iterator<Item = (f64, usize, f64, f64)> + '_ {
        self.steps.iter().enumerate().filter(|(_, step)| step.count > 0).map(|(at, step)| {
            let count = step.count as f64;
            (at as f64 / 10.0, step.count, step.sum / count, step.hits as f64 / count)
        })
    }

    /// Expected calibration error: the mean distance between confidence and truth, by prompts. `None` of none.
    pub fn error(&self) -> Option<f64> {
        let total: usize = self.steps.iter().map(|step| step.count).sum();
        let off: f64 = self.steps.iter().map(|step| (step.sum - step.hits as f64).abs()).sum();
        (total > 0).then(|| off / total as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_known_rankings() {
        let log3 = 3f64.log2();
        /// What each result covers, gold ids, relevant records, expected figures.
        type Case = (&'static [&'static [&'static str]], usize, usize, [f64; 6]);
        let cases: &[Case] = &[
            (&[], 1, 1, [0.0; 6]),
            (&[&["a"]], 1, 1, [1.0; 6]),
            (&[&[], &["a"]], 1, 1, [0.0, 1.0, 1.0, 1.0, 0.5, 1.0 / log3]),
            (&[&["a"], &[], &["b"]], 2, 2, [0.5, 1.0, 1.0, 1.0, 1.0, 1.5 / (1.0 + 1.0 / log3)]),
            // One record covers both, another covers one of them again.
            (&[&["a", "b"], &["a"]], 2, 2, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
            // Sixth place: too late for hit@5.
            (&[&[], &[], &[], &[], &[], &["a"]], 1, 1, [0.0, 0.0, 1.0, 0.0, 1.0 / 6.0, 1.0 / 7f64.log2()]),
            // Eleventh place: too late for everything.
            (&[&[], &[], &[], &[], &[], &[], &[], &[], &[], &[], &["a"]], 1, 1, [0.0; 6]),
            // One result stands for two folded records.
            (&[&["a"]], 1, 2, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0 / (1.0 + 1.0 / log3)]),
        ];
        for (covered, gold, relevant, expected) in cases {
            let ranked: Vec<Vec<&str>> = covered.iter().map(|ids| ids.to_vec()).collect();
            let Figures(found) = Figures::of(&ranked, *gold, *relevant);
            for ((name, found), expected) in Figures::NAMES.iter().zip(found).zip(expected) {
                assert!((found - expected).abs() < 1e-12, "{name} of {covered:?}: {found}, expected {expected}");
            }
        }
    }

    #[test]
    fn the_mean_is_over_questions_and_none_of_none() {
        assert_eq!(Figures::mean(&[]), None);
        let mean = Figures::mean(&[Figures([1.0; 6]), Figures([0.0; 6]), Figures([0.5; 6])]);
        assert_eq!(mean, Some(Figures([0.5; 6])));
    }

    #[test]
    fn reliability_by_steps() {
        let mut table = Reliability::default();
        assert_eq!(table.error(), None);
        for (confidence, truth) in [(0.05, false), (0.07, false), (0.55, true), (0.55, false), (1.0, true)] {
            table.add(confidence, truth);
        }
        let rows: Vec<_> = table.rows().map(|(from, count, _, share)| (from, count, share)).collect();
        assert_eq!(rows, [(0.0, 2, 0.0), (0.5, 2, 0.5), (0.9, 1, 1.0)]);
        // |0.12 − 0| + |1.1 − 1| + |1 − 1| over five.
        assert!((table.error().expect("not empty") - 0.22 / 5.0).abs() < 1e-12);
    }
}
