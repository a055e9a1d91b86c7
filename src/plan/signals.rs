use serde::{Deserialize, Serialize};

use super::Shape;

/// What a decision rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Signals {
    /// Matched IDF of the best record over the query's IDF, 0 to 1; terms absent from the store are charged at the maximum.
    pub coverage: f64,
    /// The matched IDF itself.
    pub matched_idf: f64,
    /// Topical terms of the prompt that the best record holds.
    pub matched: Vec<String>,
    /// Topical terms of the prompt that it does not hold.
    pub missing: Vec<String>,
    /// Records that the view may retrieve.
    pub records: usize,
    /// Topical terms of the prompt.
    pub topical_terms: usize,
    /// Names in the prompt that records are about or by.
    pub names: Vec<String>,
    /// Whether a title, alias or identifier stands in the prompt to the letter.
    pub exact: bool,
    /// Strength of the best topic match, 0 to 1.
    pub topic: f64,
    /// Highest cosine of the prompt with a record.
    pub similarity: f64,
    /// How far that stands above the mean cosine of the store's records.
    pub nearness: f64,
    /// Coverage of the record that covers second most.
    pub runner_up: f64,
    /// The matched IDF over that of a word which no record holds: how many rare words the match is worth, in any size of store.
    pub rarity: f64,
    /// Share of the query's IDF that stands in no record at all.
    pub absent: f64,
    /// Words in the prompt that look like names and stand in no record.
    pub unknown_names: Vec<String>,
    /// Words of tasks rather than of memories: `poem`, `python`, `paragraph`.
    pub tasks: usize,
    /// How it asks.
    pub shape: Shape,
    /// Number of tokens in the prompt.
    pub length: usize,
    /// The phrase by which the prompt looks back.
    pub continuity: Option<String>,
    /// Whether it begins like an order to produce something.
    pub command: bool,
    /// Whether it speaks of the user's own affairs.
    pub personal: bool,
    /// Whether it names a date that records are of.
    pub dated: bool,
}
