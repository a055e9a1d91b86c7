use serde::{Deserialize, Serialize};

use crate::index::Bm25;
use crate::memory::Shape;

/// How records become index entries. Stored in the snapshot, so that what is learned later is indexed alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct IndexConfig {
    /// Turns of a conversation.
    pub turn: ShapeConfig,
    /// Statements that stand alone.
    pub fact: ShapeConfig,
    /// Passages of a document.
    pub section: ShapeConfig,
    /// BM25 over whole sessions and documents.
    pub group: Bm25,
}

/// Weights that a field's terms are counted with, for records of one shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct ShapeConfig {
    /// Saturation and length normalization.
    pub bm25: Bm25,
    /// The text itself.
    pub statement: f32,
    /// Its heading.
    pub title: f32,
    /// Whom it is about.
    pub subject: f32,
    /// Names in it.
    pub entities: f32,
    /// Other names of the known entities it is about.
    pub aliases: f32,
    /// The property it states.
    pub predicate: f32,
    /// Its labels.
    pub tags: f32,
    /// Phrases that should bring it back.
    pub cues: f32,
    /// The topic it belongs to.
    pub topic: f32,
    /// Its date, by year, month and day.
    pub date: f32,
    /// Text of the records just before and after it in the same session or document.
    pub neighbour: f32,
}

impl ShapeConfig {
    const BASE: ShapeConfig = ShapeConfig {
        bm25: Bm25 { k1: 0.9, b: 0.4 },
        statement: 1.0,
        title: 1.0,
        subject: 1.0,
        entities: 0.7,
        aliases: 0.7,
        predicate: 0.7,
        tags: 0.7,
        cues: 0.8,
        topic: 0.4,
        date: 1.0,
        neighbour: 0.3,
    };
}

impl Default for ShapeConfig {
    fn default() -> Self {
        Self::BASE
    }
}

impl Default for IndexConfig {
    fn default() -> Self {
        IndexConfig {
            turn: ShapeConfig::BASE,
            fact: ShapeConfig { neighbour: 0.1, ..ShapeConfig::BASE },
            section: ShapeConfig { bm25: Bm25 { k1: 1.2, b: 0.75 }, neighbour: 0.1, ..ShapeConfig::BASE },
            group: Bm25 { k1: 1.2, b: 0.75 },
        }
    }
}

impl IndexConfig {
    /// The weights for records of one shape.
    pub fn of(&self, shape: Shape) -> &ShapeConfig {
        match shape {
            Shape::Turn => &self.turn,
            Shape::Fact => &self.fact,
            Shape::Section => &self.section,
        }
    }
}
