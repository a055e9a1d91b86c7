//! Inverted index and vectors as flat little-endian arrays that are read in place.

mod lexical;
mod links;
mod term;
mod vectors;
mod view;

pub(crate) use lexical::sorted_by_bytes;
pub use lexical::{
    Bm25, Entry, Lexical, LexicalBuilder, LexicalParts, MAX_DOCUMENTS, Merged, Posting, Postings, Vocabulary, Word, idf,
};
pub use links::{Links, LinksParts, NO_LINK, Span, SpanKind};
pub use term::{answer_term, who_key, who_term};
pub use vectors::{Nearly, Probe, Vectors, VectorsBuilder};
pub use view::U32s;
