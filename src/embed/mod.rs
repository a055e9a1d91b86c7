//! Text to vectors, without inference.

mod concepts;
mod hash;
mod static_table;
mod vector;

pub use hash::HashEmbedder;
pub use static_table::{StaticTable, StaticTableError};
pub use vector::{Quantized, dot, dot_i8, normalize, quantize};
pub(crate) use vector::{largest, quantize_onto, round};

use crate::text::Token;

/// Something that turns a text into a vector of fixed length.
pub trait EmbeddingModel {
    /// Stable name; vectors of different ids are never compared.
    fn id(&self) -> &str;
    /// Length of every vector.
    fn dimensions(&self) -> usize;
    /// Writes the unit-length vector of `text` into `out`, which holds [`dimensions`](Self::dimensions)
    /// numbers; all zeros where the text has nothing that the model knows.
    fn embed(&self, text: &str, out: &mut [f32]);
    /// The same model for many texts, where it is quicker then.
    fn batch(&self) -> Option<Box<dyn Batch>> {
        None
    }
    /// Share of the semantic ranking in the merge, 0 to 1, unless the configuration sets one. An embedding model proper weighs
    /// 2:1 against the lexical ranking.
    fn share(&self) -> f32 {
        2.0 / 3.0
    }
    /// Cosine from which a record is a result although none of the prompt's words are in it.
    fn admission(&self) -> f32 {
        0.55
    }
}

/// A model at work on many texts, token by token.
pub trait Batch: Send {
    /// Adds the next token of a text. Its number stands for its spelling and kind in all texts.
    fn add(&mut self, number: u32, token: &Token<'_>);
    /// Ends a text, and writes what [`EmbeddingModel::embed`] says of it.
    fn finish(&mut self, out: &mut [f32]);
}

impl EmbeddingModel for StaticTable {
    fn id(&self) -> &str {
        StaticTable::id(self)
    }

    fn dimensions(&self) -> usize {
        StaticTable::dimensions(self)
    }

    fn embed(&self, text: &str, out: &mut [f32]) {
        StaticTable::embed(self, text, out);
    }

    /// Nearly an equal partner: what the evals justify. Level from 0.33 to 0.4.
    fn share(&self) -> f32 {
        0.35
    }

    /// Lower than the usual: a prompt's names are left out of its vector, and with them the nearness that every record of theirs has. From 0.15 on the
    /// evals lose what only meaning finds.
    fn admission(&self) -> f32 {
        0.1
    }
}
