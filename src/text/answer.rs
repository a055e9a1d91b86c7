//! What kind of thing a question asks for, and which words answer it.

use super::{Kind, Token};

/// A kind of answer that can be told by single words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// `when`: a time, such as `yesterday` or `2019`.
    Time,
    /// `how many`: a quantity, such as `three`.
    Quantity,
}

impl Answer {
    /// Every kind.
    pub const ALL: [Answer; 2] = [Answer::Time, Answer::Quantity];

    /// What a prompt of these folded words asks for. English.
    #[inline(never)]
    pub fn asked(words: &[String]) -> Option<Answer> {
        let word = |at: usize| words.get(at).map_or("", String::as_str);
        for at in 0..words.len() {
            match (word(at), word(at + 1)) {
                // Later in a sentence it is a conjunction: `what did she say when it broke`.
                ("when", _) if at < 2 => return Some(Answer::Time),
                ("what" | "which", "year" | "month" | "day" | "date" | "week" | "weekday" | "season") => {
                    return Some(Answer::Time);
                }
                ("how", "many" | "much" | "often" | "long" | "old" | "far" | "tall" | "big" | "large") => {
                    return Some(Answer::Quantity);
                }
                _ => {}
            }
        }
        None
    }

    /// Whether a token is an answer of this kind. English.
    pub fn is_given_by(self, token: &Token<'_>) -> bool {
        match self {
            Answer::Time => TIMES.binary_search(&token.surface).is_ok() || is_year(token),
            Answer::Quantity => token.kind == Kind::Number || QUANTITIES.binary_search(&token.surface).is_ok(),
        }
    }
}

fn is_year(token: &Token<'_>) -> bool {
    token.kind == Kind::Number && token.surface.len() == 4 && matches!(token.surface.get(..2), Some("19" | "20"))
}

/// Sorted.
#[rustfmt::skip]
const TIMES: &[&str] = &[
    "ago", "april", "august", "autumn", "date", "day", "days", "december", "earlier", "evening", "february", "friday",
    "january", "july", "june", "last", "lately", "march", "monday", "month", "months", "morning", "next", "night",
    "november", "october", "recently", "saturday", "september", "since", "spring", "summer", "sunday", "thursday",
    "today", "tomorrow", "tonight", "tuesday", "wednesday", "week", "weekend", "weeks", "winter", "year", "years",
    "yesterday",
];

/// Sorted.
#[rustfmt::skip]
const QUANTITIES: &[&str] = &[
    "couple", "dozen", "eight", "eleven", "few", "fifty", "five", "forty", "four", "hundred", "many", "million",
    "nine", "once", "one", "seven", "several", "six", "ten", "thirty", "thousand", "three", "twelve", "twenty",
    "twice", "two",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenize;

    fn asked(prompt: &str) -> Option<Answer> {
        let mut words = Vec::new();
        tokenize(prompt, &mut |token| words.push(token.surface.to_string()));
        Answer::asked(&words)
    }

    fn given(text: &str) -> Vec<Answer> {
        let mut found = Vec::new();
        tokenize(text, &mut |token| found.extend(Answer::ALL.into_iter().filter(|kind| kind.is_given_by(&token))));
        found.dedup();
        found
    }

    #[test]
    fn lists_are_sorted_for_the_search() {
        assert!(TIMES.is_sorted() && QUANTITIES.is_sorted());
    }

    #[test]
    fn questions_ask_for_times_and_quantities() {
        assert_eq!(asked("When did the boiler fail?"), Some(Answer::Time));
        assert_eq!(asked("In which year was the bridge closed?"), Some(Answer::Time));
        assert_eq!(asked("How many hens are left?"), Some(Answer::Quantity));
        assert_eq!(asked("What did she say when it failed?"), None);
        assert_eq!(asked(""), None);
    }

    #[test]
    fn words_give_times_and_quantities() {
        assert_eq!(given("It failed yesterday"), [Answer::Time]);
        assert_eq!(given("closed in 2019"), [Answer::Time, Answer::Quantity]);
        assert_eq!(given("three hens"), [Answer::Quantity]);
        assert_eq!(given("the boiler failed"), []);
    }
}
