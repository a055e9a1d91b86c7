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
    /// BM25 over whole sessions and documents. Default: in full proportion to their length (b 1), for a long one holds more words of any prompt.
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
    /// Words of its sentences that ask, against 1 for those that tell. Default 0.3 for turns, else 1; level from 0.2 to 0.6.
    pub asked: f32,
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
    /// Text of the record just before it in the same session or document: of a turn, often the question that it answers. Default 0.4 for turns,
    /// 0.2 for facts, else 0.1; level from 0.3 to 0.5.
    pub before: f32,
    /// Text of the record just after it. Default 0.3 for turns, 0.2 for facts, else 0.1; level from 0.2 to 0.4.
    pub after: f32,
    /// Text of the records two places before and after it. Default 0.15 for turns, else 0; level from 0.1 to 0.2.
    pub further: f32,
    /// Share of each neighbour's vector that is added to its own, where this store embeds. Default 0.2 for turns, else 0.1; level from 0.1 to 0.3.
    pub context: f32,
}

impl ShapeConfig {
    const BASE: ShapeConfig = ShapeConfig {
        bm25: Bm25 { k1: 0.9, b: 0.4 },
        statement: 1.0,
        asked: 1.0,
        title: 1.0,
        subject: 1.0,
        entities: 0.7,
        aliases: 0.7,
        predicate: 0.7,
        tags: 0.7,
        cues: 0.8,
        topic: 0.4,
        before: 0.1,
        after: 0.1,
        further: 0.0,
        context: 0.1,
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
            turn: ShapeConfig { asked: 0.3, before: 0.4, after: 0.3, further: 0.15, context: 0.2, ..ShapeConfig::BASE },
            fact: ShapeConfig { bm25: Bm25 { k1: 1.5, b: 0.4 }, before: 0.2, after: 0.2, ..ShapeConfig::BASE },
            section: ShapeConfig { bm25: Bm25 { k1: 1.2, b: 0.75 }, ..ShapeConfig::BASE },
            group: Bm25 { k1: 1.2, b: 1.0 },
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
