//! Words and bytes: how text is cut, folded and stemmed, the same road for records and for prompts; how it is
//! made safe to show, and shortened.

mod answer;
mod fold;
mod forms;
mod language;
mod list;
mod stem;
mod stop;
mod tokenize;
mod sentences;
mod signature;

mod controls;
mod escape;
mod truncate;

pub use answer::Answer;
pub use controls::{Glyph, glyphs};
pub use escape::{Style, escape, escape_prefix, unescape};
pub use fold::fold;
pub use forms::{key, umlauts};
pub use language::{Language, is_grammar_pair, is_hiragana, is_ideograph, is_korean_ending, language};
pub(crate) use list::Beginnings;
pub use sentences::{asked_share, sentences};
pub use signature::{NEAR, Signature, Weight};
pub use stem::stem;
pub use stop::{Role, role};
pub use tokenize::{Kind, Token, normalize, plain_token, terms, tokenize};
pub use truncate::truncate;
