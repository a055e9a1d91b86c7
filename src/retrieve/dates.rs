//! Dates that a prompt names.

use crate::index::DateTerm;
use crate::memory::Timestamp;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The parts of dates in a prompt's folded words, the most exact reading of each.
///
/// `now` anchors `today`, `yesterday`, `last month` and the like; without it they are passed over.
pub(super) fn dates_in(words: &[String], now: Option<Timestamp>) -> Vec<DateTerm> {
    let mut found = Vec::new();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let mut at = 0;
    while at < words.len() {
        if let Some(time) = iso(word(at)) {
            let (year, month, day) = time.civil();
            found.push(DateTerm::Day(year, month, day));
        } else if let Some(month) = month(word(at)) {
            // `8 may 2023`, `may 8 2023`, `may 2023`, `in may`; `may` alone is mostly a verb.
            let before = at.checked_sub(1).map_or("", word);
            let day = day(before).or_else(|| day(word(at + 1)));
            let after = if self::day(word(at + 1)).is_some() && day != self::day(before) { at + 2 } else { at + 1 };
            match (day, year(word(after))) {
                (Some(day), Some(year)) => found.push(DateTerm::Day(year, month, day)),
                (None, Some(year)) => found.push(DateTerm::YearMonth(year, month)),
                (Some(_), None) => found.push(DateTerm::Month(month)),
                (None, None) if word(at) != "may" || matches!(before, "in" | "last" | "since" | "of" | "until") => {
                    found.push(DateTerm::Month(month));
                }
                _ => {}
            }
        } else if let Some(year) = year(word(at)) {
            let dated =
                at.checked_sub(1).is_some_and(|before| month(word(before)).is_some() || day(word(before)).is_some());
            if !dated {
                found.push(DateTerm::Year(year));
            }
        } else if let Some(now) = now {
            relative(word(at), word(at + 1), now, &mut found);
        }
        at += 1;
    }
    found
}

fn relative(word: &str, next: &str, now: Timestamp, found: &mut Vec<DateTerm>) {
    let day_before = |days: i64| {
        let (year, month, day) = Timestamp(now.0.saturating_sub(days * 86_400_000)).civil();
        DateTerm::Day(year, month, day)
    };
    let (year, month, _) = now.civil();
    match (word, next) {
        ("today", _) => found.push(day_before(0)),
        ("yesterday", _) => found.push(day_before(1)),
        ("last", "week") => found.extend((1..=10).map(day_before)),
        ("last", "month") if month == 1 => found.push(DateTerm::YearMonth(year - 1, 12)),
        ("last", "month") => found.push(DateTerm::YearMonth(year, month - 1)),
        ("this", "month") => found.push(DateTerm::YearMonth(year, month)),
        ("last", "year") => found.push(DateTerm::Year(year - 1)),
        ("this", "year") => found.push(DateTerm::Year(year)),
        _ => {}
    }
}

fn iso(word: &str) -> Option<Timestamp> {
    if word.len() >= 8 && word.matches('-').count() == 2 { Timestamp::parse(word) } else { None }
}

fn month(word: &str) -> Option<i64> {
    let exact = MONTHS.iter().position(|month| *month == word);
    let short = || MONTHS.iter().position(|month| word.len() == 3 && month.starts_with(word));
    exact.or_else(short).or(if word == "sept" { Some(8) } else { None }).map(|at| at as i64 + 1)
}

fn day(word: &str) -> Option<i64> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let suffix = word.get(digits.len()..)?;
    let fits = digits.len() <= 2 && matches!(suffix, "" | "st" | "nd" | "rd" | "th");
    if fits { digits.parse().ok().filter(|day| (1..=31).contains(day)) } else { None }
}

fn year(word: &str) -> Option<i64> {
    let fits = word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    if fits { word.parse().ok().filter(|year| (1900..=2100).contains(year)) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_dates_people_write() {
        let now = Timestamp::parse("2026-01-15");
        let cases: &[(&str, &[DateTerm])] = &[
            ("what happened on 8 may 2023", &[DateTerm::Day(2023, 5, 8)]),
            ("what happened on may 8th 2023", &[DateTerm::Day(2023, 5, 8)]),
            ("in may 2023", &[DateTerm::YearMonth(2023, 5)]),
            ("in may", &[DateTerm::Month(5)]),
            ("you may go", &[]),
            ("on 2023-05-08", &[DateTerm::Day(2023, 5, 8)]),
            ("during 2022", &[DateTerm::Year(2022)]),
            ("jan 3", &[DateTerm::Month(1)]),
            ("yesterday", &[DateTerm::Day(2026, 1, 14)]),
            ("last month", &[DateTerm::YearMonth(2025, 12)]),
            ("room 2104 and 99 people", &[]),
        ];
        for (text, expected) in cases {
            let words: Vec<String> = text.split(' ').map(String::from).collect();
            assert_eq!(dates_in(&words, now), *expected, "{text}");
        }
    }
}
