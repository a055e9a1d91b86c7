//! Words: how text is cut, folded and stemmed. The same road for records and for prompts.

mod fold;
mod stem;
mod stop;
mod tokenize;

pub use fold::fold;
pub use stem::stem;
pub use stop::{Role, role};
pub use tokenize::{Kind, Token, normalize, terms, tokenize};
