use std::fmt;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment: milliseconds since 1970-01-01T00:00:00Z.
///
/// Readable formats write it as ISO 8601 in UTC and also accept a plain date, a date and time with
/// `Z` or an offset, and a number of milliseconds; the snapshot stores the number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

/// Milliseconds in one day.
pub const DAY_MS: i64 = 86_400_000;

/// The range that four-digit years can write: 0000-01-01 up to 9999-12-31, in milliseconds.
const WRITABLE: std::ops::RangeInclusive<i64> = -62_167_219_200_000..=253_402_300_799_999;

impl Timestamp {
    /// Reads `2026-03-01`, `2026-03`, `2026-03-01T08:30`, `2026-03-01 08:30:00.250+02:00` and the like.
    /// A time without an offset is read as UTC. `None` for anything else, impossible dates included.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let (date, time) = match text.find(['T', 't', ' ']) {
            Some(at) => (text.get(..at)?, text.get(at + 1..)?.trim()),
            None => (text, ""),
        };
        let mut parts = date.split('-');
        let year = digits(parts.next()?, 4)?;
        let month = digits(parts.next()?, 2)?;
        let day = match parts.next() {
            Some(day) => digits(day, 2)?,
            None if time.is_empty() => 1,
            None => return None,
        };
        if parts.next().is_some() || !(1..=12).contains(&month) || day < 1 || day > days_in_month(year, month) {
            return None;
        }
        let midnight = days_from_civil(year, month, day) * DAY_MS;
        let at = if time.is_empty() { 0 } else { parse_time(time)? };
        Some(Timestamp(midnight + at))
    }

    /// Year, month (1–12) and day (1–31) in UTC, for moments that four-digit years can write.
    pub fn civil(self) -> (i64, i64, i64) {
        civil_from_days(self.0.div_euclid(DAY_MS))
    }

    /// Midnight, in UTC, of a date in the proleptic Gregorian calendar; a day past the end of its month runs on into the next.
    pub fn from_civil(year: i64, month: i64, day: i64) -> Self {
        Timestamp(days_from_civil(year, month, day).saturating_mul(DAY_MS))
    }

    /// Whole days from `self` to `later`; negative if `later` is earlier.
    pub fn days_until(self, later: Timestamp) -> i64 {
        later.0.saturating_sub(self.0).div_euclid(DAY_MS)
    }

    /// The date alone, as `2026-03-01`.
    pub fn date(self) -> String {
        let (year, month, day) = self.civil();
        format!("{year:04}-{month:02}-{day:02}")
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        let ms = self.0.rem_euclid(DAY_MS);
        let (hour, minute, second, milli) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60, ms % 1000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if milli != 0 {
            write!(f, ".{milli:03}")?;
        }
        f.write_str("Z")
    }
}

fn digits(text: &str, most: usize) -> Option<i64> {
    let fits = (1..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if fits { text.parse().ok() } else { None }
}

/// Milliseconds after midnight, with the offset taken out.
fn parse_time(text: &str) -> Option<i64> {
    let (clock, offset_ms) = if let Some(clock) = text.strip_suffix(['Z', 'z']) {
        (clock, 0)
    } else if let Some(at) = text.find(['+', '-']) {
        let sign = if text.get(at..)?.starts_with('-') { -1 } else { 1 };
        let offset = text.get(at + 1..)?;
        let (hours, minutes) = match offset.split_once(':') {
            Some(parts) => parts,
            None => (offset.get(..2)?, offset.get(2..)?),
        };
        let minutes = if minutes.is_empty() { 0 } else { digits(minutes, 2)? };
        (text.get(..at)?, sign * (digits(hours, 2)? * 3_600_000 + minutes * 60_000))
    } else {
        (text, 0)
    };
    let mut parts = clock.trim_end().split(':');
    let hour = digits(parts.next()?, 2)?;
    let minute = digits(parts.next()?, 2)?;
    let (second, milli) = match parts.next() {
        None => (0, 0),
        Some(text) => match text.split_once('.') {
            None => (digits(text, 2)?, 0),
            Some((second, fraction)) => {
                digits(fraction, 9)?;
                let padded = format!("{fraction:0<3}");
                (digits(second, 2)?, digits(padded.get(..3)?, 3)?)
            }
        },
    };
    if parts.next().is_some() || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    Some(hour * 3_600_000 + minute * 60_000 + second * 1000 + milli - offset_ms)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Days since 1970-01-01 of a date in the proleptic Gregorian calendar.
/// Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", days_from_civil.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The reverse of [`days_from_civil`], from the same source.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() && WRITABLE.contains(&self.0) {
            serializer.collect_str(self)
        } else {
            serializer.serialize_i64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Readable;
        impl Visitor<'_> for Readable {
            type Value = Timestamp;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an ISO 8601 date or a number of milliseconds since 1970")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Timestamp, E> {
                Timestamp::parse(text).ok_or_else(|| E::invalid_value(de::Unexpected::Str(text), &self))
            }
            fn visit_i64<E: de::Error>(self, ms: i64) -> Result<Timestamp, E> {
                Ok(Timestamp(ms))
            }
            fn visit_u64<E: de::Error>(self, ms: u64) -> Result<Timestamp, E> {
                i64::try_from(ms).map(Timestamp).map_err(|_| E::invalid_value(de::Unexpected::Unsigned(ms), &self))
            }
            fn visit_f64<E: de::Error>(self, ms: f64) -> Result<Timestamp, E> {
                if ms.is_finite() && ms.abs() < 9e15 {
                    Ok(Timestamp(ms as i64))
                } else {
                    Err(E::invalid_value(de::Unexpected::Float(ms), &self))
                }
            }
        }
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Readable)
        } else {
            i64::deserialize(deserializer).map(Timestamp)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_forms_people_write_and_refuses_the_rest() {
        let cases = [
            ("1970-01-01", Some(0)),
            ("2026-03-01", Some(1_772_323_200_000)),
            ("2026-03", Some(1_772_323_200_000)),
            ("2023-05-08T13:56:00", Some(1_683_554_160_000)),
            ("2023-05-08 13:56", Some(1_683_554_160_000)),
            ("2023-05-08T13:56:00.250Z", Some(1_683_554_160_250)),
            ("2023-05-08T15:56:00+02:00", Some(1_683_554_160_000)),
            ("2023-05-08T13:56:00.2500001Z", Some(1_683_554_160_250)),
            ("1969-12-31T23:59:59Z", Some(-1000)),
            ("2024-02-29", Some(1_709_164_800_000)),
            ("2023-02-29", None),
            ("2023-13-01", None),
            ("2023-05-08T25:00", None),
            ("2023-05-08T13:56:00é", None),
            ("soon", None),
            ("", None),
            ("٢٠٢٣-٠٥-٠٨", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Timestamp::parse(text).map(|time| time.0), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_reads_back(ms in WRITABLE) {
            proptest::prop_assert_eq!(Timestamp::parse(&Timestamp(ms).to_string()), Some(Timestamp(ms)));
        }

        #[test]
        fn no_text_panics(text in ".*") {
            let _ = Timestamp::parse(&text);
        }
    }
}
