//! Dates that a prompt names.

use crate::memory::{DAY_MS, Timestamp};

/// A stretch of time that a prompt names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// From one moment up to another, which is outside.
    Span(Timestamp, Timestamp),
    /// A month, 1 to 12, of whatever year.
    Month(i64),
    /// A month and a day of whatever year.
    MonthDay(i64, i64),
}

impl Asked {
    fn year(year: i64) -> Asked {
        Asked::Span(start_of(year, 1, 1), start_of(year + 1, 1, 1))
    }

    fn month_of(year: i64, month: i64) -> Asked {
        Asked::Span(start_of(year, month, 1), after_month(year, month))
    }

    fn day(year: i64, month: i64, day: i64) -> Asked {
        let start = start_of(year, month, day);
        Asked::Span(start, Timestamp(start.0.saturating_add(DAY_MS)))
    }

    /// How well a record of this time answers: 1 within the stretch, falling in a straight line to 0 over the `days` after it, because people tell
    /// afterwards what happened (`last night`, `last week`); 0 before it.
    pub fn closeness(self, time: Timestamp, days: f32) -> f32 {
        let (from, until) = match self {
            Asked::Span(from, until) => (from, until),
            Asked::Month(month) => {
                let year = latest_year(time, month, 1);
                (start_of(year, month, 1), after_month(year, month))
            }
            Asked::MonthDay(month, day) => {
                let start = start_of(latest_year(time, month, day), month, day);
                (start, Timestamp(start.0.saturating_add(DAY_MS)))
            }
        };
        if time < from {
            0.0
        } else if time < until {
            1.0
        } else if days > 0.0 {
            let late = time.0.saturating_sub(until.0) as f64 / DAY_MS as f64;
            (1.0 - late as f32 / days).max(0.0)
        } else {
            0.0
        }
    }
}

/// The last year in which this day was not after `time`.
fn latest_year(time: Timestamp, month: i64, day: i64) -> i64 {
    let (year, month_now, day_now) = time.civil();
    if (month, day) <= (month_now, day_now) { year } else { year - 1 }
}

fn start_of(year: i64, month: i64, day: i64) -> Timestamp {
    Timestamp::from_civil(year, month, day)
}

fn after_month(year: i64, month: i64) -> Timestamp {
    if month == 12 { start_of(year + 1, 1, 1) } else { start_of(year, month + 1, 1) }
}

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

/// What a prompt's folded words say of time.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Dates {
    /// The most exact reading of each date.
    pub asked: Vec<Asked>,
    /// Which words it took, by number.
    pub words: Vec<usize>,
}

/// Reads the dates in a prompt's folded words.
///
/// `now` anchors `today`, `yesterday`, `last month` and the like; without it they are passed over.
#[inline(never)]
pub(super) fn dates_in(words: &[String], now: Option<Timestamp>) -> Dates {
    let mut found = Dates::default();
    let word = |at: usize| words.get(at).map_or("", String::as_str);
    let mut at = 0;
    while at < words.len() {
        let mut next = at + 1;
        if let Some(time) = iso(word(at)) {
            let (year, month, day) = time.civil();
            found.asked.push(Asked::day(year, month, day));
            // The parts of a compound follow it.
            let parts = word(at).split('-').enumerate().take_while(|(nth, part)| word(at + 1 + nth) == *part).count();
            next += parts;
            found.words.extend(at..next);
        } else if let Some(month) = month(word(at)) {
            // `8 may 2023`, `may 8 2023`, `may 2023`, `in may`; `may` alone is mostly a verb.
            let before = at.checked_sub(1).map_or("", word);
            let day_before = day(before);
            let day_after = if day_before.is_none() { day(word(at + 1)) } else { None };
            let after = if day_after.is_some() { at + 2 } else { at + 1 };
            let certain = word(at) != "may"
                || matches!(before, "in" | "last" | "since" | "of" | "until" | "during" | "early" | "late");
            let read = match (day_before.or(day_after), year(word(after))) {
                (Some(day), Some(year)) => Some(Asked::day(year, month, day)),
                (None, Some(year)) => Some(Asked::month_of(year, month)),
                (Some(day), None) => Some(Asked::MonthDay(month, day)),
                (None, None) if certain => Some(Asked::Month(month)),
                (None, None) => None,
            };
            if let Some(read) = read {
                let first = if day_before.is_some() { at - 1 } else { at };
                next = if year(word(after)).is_some() { after + 1 } else { after };
                found.asked.push(read);
                found.words.extend(first..next);
            }
        } else if let Some(year) = year(word(at)) {
            found.asked.push(Asked::year(year));
            found.words.push(at);
        } else if let Some(now) = now
            && let Some((read, words)) = relative(word(at), word(at + 1), now)
        {
            next = at + words;
            found.asked.push(read);
            found.words.extend(at..next);
        }
        at = next;
    }
    found
}

/// A stretch counted from `now`, and how many words name it.
fn relative(word: &str, next: &str, now: Timestamp) -> Option<(Asked, usize)> {
    let day = |days: i64| Timestamp((now.0.div_euclid(DAY_MS).saturating_add(days)).saturating_mul(DAY_MS));
    let (year, month, _) = now.civil();
    Some(match (word, next) {
        ("today", _) => (Asked::Span(day(0), day(1)), 1),
        ("yesterday", _) => (Asked::Span(day(-1), day(0)), 1),
        ("last", "week") => (Asked::Span(day(-10), day(0)), 2),
        ("last", "month") if month == 1 => (Asked::month_of(year - 1, 12), 2),
        ("last", "month") => (Asked::month_of(year, month - 1), 2),
        ("this", "month") => (Asked::month_of(year, month), 2),
        ("last", "year") => (Asked::year(year - 1), 2),
        ("this", "year") => (Asked::year(year), 2),
        _ => return None,
    })
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

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(String::from).collect()
    }

    #[test]
    fn reads_the_dates_people_write() {
        let now = Timestamp::parse("2026-01-15");
        let cases: &[(&str, &[Asked], &str)] = &[
            ("what happened on 8 may 2023", &[Asked::day(2023, 5, 8)], "8 may 2023"),
            ("what happened on may 8th 2023 then", &[Asked::day(2023, 5, 8)], "may 8th 2023"),
            ("in may 2023", &[Asked::month_of(2023, 5)], "may 2023"),
            ("in may", &[Asked::Month(5)], "may"),
            ("you may go", &[], ""),
            ("on 2023-05-08 2023 05 08", &[Asked::day(2023, 5, 8)], "2023-05-08 2023 05 08"),
            ("during 2022", &[Asked::year(2022)], "2022"),
            ("jan 3", &[Asked::MonthDay(1, 3)], "jan 3"),
            ("yesterday", &[Asked::day(2026, 1, 14)], "yesterday"),
            ("last month", &[Asked::month_of(2025, 12)], "last month"),
            ("in june and july 2022", &[Asked::Month(6), Asked::month_of(2022, 7)], "june july 2022"),
            ("room 2104 and 99 people", &[], ""),
        ];
        for (text, asked, taken) in cases {
            let words = words(text);
            let dates = dates_in(&words, now);
            assert_eq!(dates.asked, *asked, "{text}");
            let read: Vec<&str> = dates.words.iter().map(|at| words[*at].as_str()).collect();
            assert_eq!(read.join(" "), *taken, "{text}");
        }
    }

    #[test]
    fn what_is_told_soon_after_counts_less_and_less() {
        let time = |text| Timestamp::parse(text).unwrap();
        let may = Asked::month_of(2022, 5);
        assert_eq!(may.closeness(time("2022-04-30T23:00"), 10.0), 0.0);
        assert_eq!(may.closeness(time("2022-05-31T23:00"), 10.0), 1.0);
        assert!((may.closeness(time("2022-06-03"), 10.0) - 0.8).abs() < 1e-5);
        assert_eq!(may.closeness(time("2022-06-20"), 10.0), 0.0);
        assert_eq!(may.closeness(time("2022-06-03"), 0.0), 0.0);
        assert!((Asked::Month(12).closeness(time("2022-01-06"), 10.0) - 0.5).abs() < 1e-5);
        assert_eq!(Asked::MonthDay(2, 29).closeness(time("2023-03-01"), 0.0), 1.0);
        assert_eq!(Asked::year(2022).closeness(time("2022-07-01"), 10.0), 1.0);
    }
}
