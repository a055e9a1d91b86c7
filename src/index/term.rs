//! Terms that no text can spell: who a record is about or by, what kind of answer it holds.

use crate::text::{self, Answer};

pub(super) const WHO: &str = "\u{1}";
/// The first text after all that begin with [`WHO`].
pub(super) const AFTER_WHO: &str = "\u{2}";
const ANSWER: &str = "\u{2}";

/// The form in which names are compared: folded tokens with single spaces between them.
pub fn who_key(name: &str) -> String {
    let mut key = String::new();
    text::tokenize(name, &mut |token| {
        // The parts of a compound follow it and would name it twice.
        if token.kind != text::Kind::Identifier || name.contains(['+', '#']) {
            if !key.is_empty() {
                key.push(' ');
            }
            key.push_str(token.surface);
        }
    });
    key
}

/// The index term of a name in its [`who_key`] form.
pub fn who_term(key: &str) -> String {
    format!("{WHO}{key}")
}

/// The index term of records that hold an answer of this kind.
pub fn answer_term(kind: Answer) -> String {
    let name = match kind {
        Answer::Time => "time",
        Answer::Quantity => "quantity",
    };
    format!("{ANSWER}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_folded() {
        assert_eq!(who_key("  Dr. José  Núñez "), "dr jose nunez");
        assert_eq!(who_key("C++"), "c++");
        assert_ne!(who_term("may"), "may");
    }
}
