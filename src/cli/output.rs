use std::fmt;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::process::ExitCode;

use foreword::text::glyphs;
use serde::Serialize;
use serde_json::json;

use super::failure::Failure;

/// Standard output: text for a person, or exactly one JSON object.
pub struct Output {
    json: bool,
    out: BufWriter<StdoutLock<'static>>,
}

impl Output {
    pub fn new(json: bool) -> Self {
        Output { json, out: BufWriter::new(io::stdout().lock()) }
    }

    /// Whether one JSON object is wanted.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// Writes the object.
    pub fn json(&mut self, object: &impl Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(object).map_err(|error| Failure::Other(error.to_string()))?;
        self.line(text)
    }

    /// Writes a line.
    pub fn line(&mut self, line: impl fmt::Display) -> Result<(), Failure> {
        Ok(writeln!(self.out, "{line}")?)
    }

    /// Makes sure that everything has been written.
    pub fn finish(&mut self) -> Result<(), Failure> {
        Ok(self.out.flush()?)
    }

    /// Tells of a failure, and what to exit with.
    pub fn fail(mut self, failure: &Failure) -> ExitCode {
        if matches!(failure, Failure::Gone) {
            return ExitCode::SUCCESS;
        }
        eprintln!("foreword: {}: {}", failure.code(), plain(failure.message()));
        if self.json {
            let object = json!({ "error": { "code": failure.code(), "message": failure.message() } });
            // The exit code stands, whether or not somebody reads this.
            let _ = self.json(&object).and_then(|()| self.finish());
        }
        if matches!(failure, Failure::Usage(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
    }
}

/// Text that is safe to show in a terminal: invisible controls, escape sequences among them, become `\u{…}`.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for glyph in glyphs(text) {
        if glyph.hidden {
            out.extend(glyph.char.escape_unicode());
        } else {
            out.push(glyph.char);
        }
    }
    out
}

/// The same on one line, cut at `most` characters.
pub fn brief(text: &str, most: usize) -> String {
    let line = plain(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= most {
        return line;
    }
    line.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// A number of bytes for people.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.2} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_cannot_drive_the_terminal() {
        let cases = [
            ("plain é 日本", "plain é 日本"),
            ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("two\nlines", "two\nlines"),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn a_brief_text_is_one_line_and_no_longer_than_asked() {
        for (text, most, expected) in
            [("one\n two", 20, "one two"), ("abcdef", 4, "abc…"), ("日本語です", 3, "日本…"), ("", 3, "")]
        {
            assert_eq!(brief(text, most), expected);
        }
    }
}
