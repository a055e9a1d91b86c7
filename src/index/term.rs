//! Terms that no text can spell: who a record is about or by, and when it was.

use crate::memory::Timestamp;
use crate::text;

const WHO: char = '\u{1}';
const DATE: char = '\u{2}';

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
    let mut term = String::from(WHO);
    term.push_str(key);
    term
}

/// A part of a date that a record or a prompt may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateTerm {
    /// A calendar year.
    Year(i64),
    /// A month of any year, 1 to 12.
    Month(i64),
    /// A month of one year.
    YearMonth(i64, i64),
    /// One day.
    Day(i64, i64, i64),
}

/// The index term of a part of a date.
pub fn date_term(part: DateTerm) -> String {
    let mut term = String::from(DATE);
    match part {
        DateTerm::Year(year) => term.push_str(&year.to_string()),
        DateTerm::Month(month) => {
            term.push('m');
            term.push_str(&month.to_string());
        }
        DateTerm::YearMonth(year, month) => term.push_str(&format!("{year}-{month}")),
        DateTerm::Day(year, month, day) => term.push_str(&format!("{year}-{month}-{day}")),
    }
    term
}

/// Every index term of the day that `time` falls on.
pub fn date_terms_of(time: Timestamp) -> [String; 4] {
    let (year, month, day) = time.civil();
    [DateTerm::Year(year), DateTerm::Month(month), DateTerm::YearMonth(year, month), DateTerm::Day(year, month, day)]
        .map(date_term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_folded() {
        assert_eq!(who_key("  Dr. José  Núñez "), "dr jose nunez");
        assert_eq!(who_key("C++"), "c++");
        assert_ne!(who_term("may"), date_term(DateTerm::Month(5)));
    }

    #[test]
    fn a_day_has_four_terms() {
        let time = Timestamp::parse("2023-05-08T13:56").unwrap();
        assert_eq!(date_terms_of(time), ["\u{2}2023", "\u{2}m5", "\u{2}2023-5", "\u{2}2023-5-8"]);
    }
}
