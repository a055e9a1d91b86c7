//! Lines of bounded length from a reader.

use std::io::{self, BufRead};

/// The longest line that is read, in bytes; a longer one is passed over.
pub(super) const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;

/// What a call of [`next_line`] found.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    /// The buffer holds a line, without its end.
    Read,
    /// The line was longer than the limit; the buffer is empty.
    TooLong,
    /// There is no further line.
    End,
}

/// Reads the next line into `buffer` and adds the bytes consumed to `done`. Never holds more than `most` bytes.
///
/// # Errors
///
/// What the reader reports.
pub(super) fn next_line(
    reader: &mut impl BufRead,
    buffer: &mut Vec<u8>,
    most: usize,
    done: &mut u64,
) -> io::Result<Line> {
    buffer.clear();
    let mut any = false;
    let mut too_long = false;
    loop {
        let available = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if available.is_empty() {
            break;
        }
        any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        too_long |= buffer.len() + part.len() > most;
        if !too_long {
            buffer.extend_from_slice(part);
        }
        let used = part.len() + usize::from(end.is_some());
        reader.consume(used);
        *done += used as u64;
        if end.is_some() {
            break;
        }
    }
    if too_long {
        buffer.clear();
        return Ok(Line::TooLong);
    }
    Ok(if any { Line::Read } else { Line::End })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_passed_over_and_the_next_is_read() {
        let mut reader = io::BufReader::with_capacity(3, &b"abc\n\nabcdefgh\nxy"[..]);
        let (mut buffer, mut done) = (Vec::new(), 0);
        let mut found = Vec::new();
        loop {
            let line = next_line(&mut reader, &mut buffer, 5, &mut done).expect("reads");
            if line == Line::End {
                break;
            }
            found.push((line, String::from_utf8_lossy(&buffer).into_owned()));
        }
        let expected = [(Line::Read, "abc"), (Line::Read, ""), (Line::TooLong, ""), (Line::Read, "xy")];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_string())));
        assert_eq!(done, 16);
    }
}
