//! The elements of a JSON array, one at a time, so that a file need not fit into memory and a bad element costs only itself.

use std::io::{self, BufRead};

/// What a call of [`Elements::next`] found. Lines are counted from 1.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// The buffer holds an element that starts on this line.
    Element { line: usize },
    /// An element was longer than the limit and has been passed over.
    TooLong { line: usize },
    /// Not an array, or it ends too early; nothing further is read.
    Broken { line: usize, message: &'static str },
    /// The array has ended.
    End,
}

/// Cuts an array into its elements by its brackets and quotes; what is between them is left to a parser. An object alone is
/// taken for an array of one.
pub(super) struct Elements<R> {
    reader: R,
    most: usize,
    state: State,
    /// Line reached, counted from 1.
    pub line: usize,
    /// Bytes consumed.
    pub done: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Before the first bracket; so many bytes of a byte order mark seen.
    Start(usize),
    Between,
    Inside {
        depth: usize,
        text: Text,
        alone: bool,
    },
    /// A number, word or string of its own.
    Scalar(Text),
    End,
}

/// Whether a quoted text is open.
#[derive(Clone, Copy, PartialEq)]
enum Text {
    No,
    Yes,
    Escape,
}

impl Text {
    fn after(self, byte: u8) -> Text {
        match (self, byte) {
            (Text::No, b'"') | (Text::Escape, _) => Text::Yes,
            (Text::Yes, b'"') => Text::No,
            (Text::Yes, b'\\') => Text::Escape,
            (same, _) => same,
        }
    }
}

impl<R: BufRead> Elements<R> {
    /// Elements of at most `most` bytes.
    pub fn new(reader: R, most: usize) -> Self {
        Elements { reader, most, state: State::Start(0), line: 1, done: 0 }
    }

    /// Reads the next element into `buffer`. Never holds more than `most` bytes.
    ///
    /// # Errors
    ///
    /// What the reader reports.
    pub fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Found> {
        buffer.clear();
        let mut started = self.line;
        let mut too_long = false;
        loop {
            if self.state == State::End {
                return Ok(Found::End);
            }
            let chunk = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            if chunk.is_empty() {
                let broken = |message| Ok(Found::Broken { line: self.line, message });
                return match std::mem::replace(&mut self.state, State::End) {
                    State::Start(_) => broken("the file is empty"),
                    State::Between => broken("the file ends before the `]` that closes the list"),
                    _ => broken("the file ends in the middle of a conversation"),
                };
            }
            let mut used = 0;
            let mut found = None;
            for byte in chunk.iter().copied() {
                let mut keep = false;
                let mut take = true;
                match self.state {
                    State::Start(seen) => match byte {
                        b'[' => self.state = State::Between,
                        b'{' => {
                            keep = true;
                            started = self.line;
                            self.state = State::Inside { depth: 1, text: Text::No, alone: true };
                        }
                        byte if byte.is_ascii_whitespace() => {}
                        byte if "\u{feff}".as_bytes().get(seen) == Some(&byte) => self.state = State::Start(seen + 1),
                        _ => {
                            self.state = State::End;
                            let message = "expected a list of conversations";
                            found = Some(Found::Broken { line: self.line, message });
                        }
                    },
                    State::Between => match byte {
                        b']' => self.state = State::End,
                        b',' => {}
                        byte if byte.is_ascii_whitespace() => {}
                        _ => {
                            keep = true;
                            started = self.line;
                            self.state = match byte {
                                b'{' | b'[' => State::Inside { depth: 1, text: Text::No, alone: false },
                                _ => State::Scalar(Text::No.after(byte)),
                            };
                        }
                    },
                    State::Inside { depth, text, alone } => {
                        keep = true;
                        let depth = match byte {
                            b'{' | b'[' if text == Text::No => depth + 1,
                            b'}' | b']' if text == Text::No => depth - 1,
                            _ => depth,
                        };
                        if depth > 0 {
                            self.state = State::Inside { depth, text: text.after(byte), alone };
                        } else {
                            self.state = if alone { State::End } else { State::Between };
                            found = Some(Found::Element { line: started });
                        }
                    }
                    State::Scalar(text) => {
                        if text == Text::No && matches!(byte, b',' | b']') {
                            take = false;
                            self.state = State::Between;
                            found = Some(Found::Element { line: started });
                        } else {
                            keep = true;
                            self.state = State::Scalar(text.after(byte));
                        }
                    }
                    State::End => break,
                }
                if keep {
                    if buffer.len() < self.most {
                        buffer.push(byte);
                    } else {
                        too_long = true;
                    }
                }
                if take {
                    used += 1;
                    self.line += usize::from(byte == b'\n');
                }
                if found.is_some() {
                    break;
                }
            }
            self.reader.consume(used);
            self.done += used as u64;
            match found {
                Some(Found::Element { line }) if too_long => {
                    buffer.clear();
                    return Ok(Found::TooLong { line });
                }
                Some(found) => return Ok(found),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &[u8], most: usize) -> Vec<(Found, String)> {
        let mut elements = Elements::new(io::BufReader::with_capacity(2, text), most);
        let mut buffer = Vec::new();
        let mut all = Vec::new();
        loop {
            let found = elements.next(&mut buffer).expect("reads");
            let last = matches!(found, Found::End | Found::Broken { .. });
            all.push((found, String::from_utf8_lossy(&buffer).into_owned()));
            if last {
                return all;
            }
        }
    }

    #[test]
    fn elements_are_cut_by_brackets_and_quotes() {
        let element = |line, text: &str| (Found::Element { line }, text.to_string());
        let end = || (Found::End, String::new());
        let broken = |line, message, text: &str| (Found::Broken { line, message }, text.to_string());
        let cases: Vec<(&str, Vec<(Found, String)>)> = vec![
            ("[]", vec![end()]),
            ("\u{feff}[{},\n [1]]", vec![element(1, "{}"), element(2, "[1]"), end()]),
            (
                r#"[{"a":"}]\"{"},"x,]",5 ]"#,
                vec![element(1, r#"{"a":"}]\"{"}"#), element(1, r#""x,]""#), element(1, "5 "), end()],
            ),
            ("{\"a\":\n1} rest", vec![element(1, "{\"a\":\n1}"), end()]),
            ("[{]]", vec![element(1, "{]"), end()]),
            ("[1", vec![broken(1, "the file ends in the middle of a conversation", "1")]),
            ("[{},\n", vec![element(1, "{}"), broken(2, "the file ends before the `]` that closes the list", "")]),
            ("", vec![broken(1, "the file is empty", "")]),
            ("hello", vec![broken(1, "expected a list of conversations", "")]),
            ("[[1,2,3,4,5,6,7,8,9],{}]", vec![(Found::TooLong { line: 1 }, String::new()), element(1, "{}"), end()]),
        ];
        for (text, expected) in cases {
            assert_eq!(all(text.as_bytes(), 16), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_list_is_cut_into_its_elements(
            values in proptest::collection::vec("[0-9]{1,4}|\"([ab,{}\\[\\]]|\\\\\\\\|\\\\\")*\"|\\[\"a\",\\{\"b\":\\[\\]\\}\\]", 0..8)
        ) {
            let text = format!("[{}]", values.join(" ,\n"));
            let found: Vec<String> = all(text.as_bytes(), 1000)
                .into_iter()
                .filter(|(found, _)| matches!(found, Found::Element { .. }))
                .map(|(_, text)| text.trim().to_string())
                .collect();
            proptest::prop_assert_eq!(found, values);
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..100)) {
            all(&bytes, 20);
        }
    }
}
