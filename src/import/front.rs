//! Front matter: a strict subset of YAML, with errors that name the line and what is expected.
//!
//! Read: `key: value` with plain, 'single' and "double" quoted values, `[inline, lists]`, `{inline: maps}`, block
//! lists, one nested map, `|` and `>` blocks, comments. Not read: anchors, tags, lists of lists, several documents.

/// What front matter says, key by key, and what could not be read.
#[derive(Debug, Default)]
pub(super) struct Front {
    pub fields: Vec<Field>,
    pub faults: Vec<Fault>,
    /// A line that could not be read speaks of a scope, so who may see the note is not known.
    pub scope_unreadable: bool,
}

/// One key with its value.
#[derive(Debug, PartialEq)]
pub(super) struct Field {
    pub key: String,
    /// Line of the key, counted from 1.
    pub line: usize,
    pub value: Value,
}

/// A value of the subset.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Text(String),
    List(Vec<String>),
    Map(Vec<(String, Option<String>)>),
    /// Reported; what was meant is not known.
    Unreadable,
}

/// What is wrong with a line.
#[derive(Debug, PartialEq)]
pub(super) struct Fault {
    pub line: usize,
    pub message: String,
}

fn fault<T>(line: usize, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { line, message: message.into() })
}

/// Reads the lines between the two `---`; `first` is the number of the first of them. A line that cannot be read costs
/// its own key and nothing else. Never panics.
pub(super) fn parse(lines: &[&str], first: usize) -> Front {
    let mut front = Front::default();
    let mut rest = lines;
    let mut number = first;
    while let Some((line, after)) = rest.split_first() {
        let taken = if is_blank_or_comment(line) {
            0
        } else {
            match key_of(line, number) {
                Err(fault) => {
                    front.refuse(fault, line, &[]);
                    0
                }
                Ok((key, value)) => {
                    let block = block_of(value, after);
                    let mut notes = Vec::new();
                    let read = value_of(value, block, number, &mut notes);
                    front.faults.append(&mut notes);
                    let value = read.unwrap_or_else(|fault| {
                        front.refuse(fault, line, block);
                        Value::Unreadable
                    });
                    front.fields.push(Field { key, line: number, value });
                    block.len()
                }
            }
        };
        number += 1 + taken;
        rest = after.get(taken..).unwrap_or_default();
    }
    front
}

impl Front {
    fn refuse(&mut self, fault: Fault, line: &str, block: &[&str]) {
        self.scope_unreadable |= std::iter::once(&line).chain(block).any(|line| line.to_lowercase().contains("scope"));
        self.faults.push(fault);
    }
}

fn is_blank_or_comment(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || text.starts_with('#')
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

fn is_item(text: &str) -> bool {
    text == "-" || text.starts_with("- ")
}

/// Splits `key: value`; the value is trimmed.
fn key_of(line: &str, number: usize) -> Result<(String, &str), Fault> {
    if is_indented(line) {
        return fault(number, "unexpected indentation: expected `key: value` at the start of the line");
    }
    if is_item(line) {
        return fault(number, "a list item without a key: expected `key:` on a line before it");
    }
    match split_pair(line.trim_end()) {
        Some((key, value)) => Ok((key, value)),
        None => fault(number, format!("expected `key: value`, found `{}`", brief(line))),
    }
}

/// `key: value` or `key:`, the key plain or quoted.
fn split_pair(text: &str) -> Option<(String, &str)> {
    for quote in ['"', '\''] {
        if let Some(rest) = text.strip_prefix(quote) {
            let (key, rest) = rest.split_once(quote)?;
            let value = rest.trim_start().strip_prefix(':')?;
            return Some((key.to_string(), value.trim()));
        }
    }
    let at = colon(text)?;
    let key = text.get(..at)?.trim_end();
    let value = text.get(at + 1..)?.trim();
    let plain = !key.is_empty() && key.chars().all(|next| next.is_alphanumeric() || " _-./".contains(next));
    plain.then(|| (key.to_string(), value))
}

/// Where a colon separates: before a space or at the end.
fn colon(text: &str) -> Option<usize> {
    text.match_indices(':')
        .map(|(at, _)| at)
        .find(|at| matches!(text.as_bytes().get(at + 1), None | Some(b' ' | b'\t')))
}

/// The lines that belong to a key's value: indented ones, list items under an empty value, the closing bracket of an inline list.
fn block_of<'a, 'b>(value: &str, after: &'a [&'b str]) -> &'a [&'b str] {
    let bare = strip_comment(value).is_empty();
    let inline = value.starts_with(['[', '{']);
    let mut end = 0;
    for (at, line) in after.iter().enumerate() {
        let belongs = is_indented(line) && !line.trim().is_empty()
            || bare && is_item(line.trim_end())
            || inline && line.starts_with([']', '}']);
        if belongs {
            end = at + 1;
        } else if !line.trim().is_empty() {
            break;
        }
    }
    after.get(..end).unwrap_or_default()
}

fn value_of(value: &str, block: &[&str], line: usize, notes: &mut Vec<Fault>) -> Result<Value, Fault> {
    let first = value.chars().next().unwrap_or('#');
    match first {
        '#' => nested(block, line),
        '|' | '>' => block_text(value, block, line),
        '[' | '{' | '"' | '\'' => {
            let mut text = value.to_string();
            for part in block {
                text.push('\n');
                text.push_str(part);
            }
            Inline::new(&text, line).document()
        }
        _ => {
            let mut text = plain(value, line, notes)?.to_string();
            for (at, part) in block.iter().enumerate() {
                if is_blank_or_comment(part) {
                    continue;
                }
                if colon(part).is_some() || is_item(part.trim()) {
                    return fault(
                        line + 1 + at,
                        "unexpected indentation: expected more of the value above, or a key at the start of the line",
                    );
                }
                text.push(' ');
                text.push_str(strip_comment(part.trim()));
            }
            Ok(scalar(text.trim()))
        }
    }
}

fn scalar(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        _ => Value::Text(text.to_string()),
    }
}

/// A value without quotes, up to a comment.
fn plain<'a>(text: &'a str, line: usize, notes: &mut Vec<Fault>) -> Result<&'a str, Fault> {
    if text.starts_with(['&', '*', '!', '%', '@', '`', '|', '>', '[', ']', '{', '}', ',']) || is_item(text) {
        return fault(line, format!("`{}` cannot begin a value: put it in quotes", brief(text)));
    }
    let text = strip_comment(text);
    if colon(text).is_some() {
        notes.push(Fault {
            line,
            message: format!("the value `{}` holds a colon: put it in quotes (read as text)", brief(text)),
        });
    }
    Ok(text)
}

fn strip_comment(text: &str) -> &str {
    if text.starts_with('#') {
        return "";
    }
    let at = text
        .match_indices('#')
        .map(|(at, _)| at)
        .find(|at| matches!(text.as_bytes().get(at.wrapping_sub(1)), Some(b' ' | b'\t')));
    at.and_then(|at| text.get(..at)).unwrap_or(text).trim_end()
}

/// A quoted or plain value on a line of its own.
fn single(text: &str, line: usize) -> Result<Value, Fault> {
    let text = text.trim();
    if text.starts_with(['"', '\'']) {
        Inline::new(text, line).document()
    } else {
        Ok(scalar(plain(text, line, &mut Vec::new())?))
    }
}

/// The block under a key without a value: a list, a map, or nothing.
fn nested(block: &[&str], line: usize) -> Result<Value, Fault> {
    let lines: Vec<(usize, &str)> = block
        .iter()
        .enumerate()
        .map(|(at, text)| (line + 1 + at, *text))
        .filter(|(_, text)| !is_blank_or_comment(text))
        .collect();
    let Some((_, head)) = lines.first() else {
        return Ok(Value::Null);
    };
    let indent = |text: &str| text.len() - text.trim_start_matches(' ').len();
    let depth = indent(head);
    let is_list = is_item(head.trim());
    let (mut list, mut map) = (Vec::new(), Vec::new());
    for (number, text) in &lines {
        if indent(text) != depth || text.trim_start_matches(' ').starts_with('\t') {
            return fault(
                *number,
                format!("uneven indentation: expected {depth} spaces, as on the first line of the block"),
            );
        }
        let text = text.trim();
        if is_list {
            let Some(item) = text.strip_prefix('-').filter(|_| is_item(text)) else {
                return fault(*number, "expected a list item `- value`");
            };
            match single(item, *number)? {
                Value::Text(item) => list.push(item),
                Value::Null => {}
                _ => return fault(*number, "expected a plain or quoted value in the list"),
            }
        } else {
            let Some((key, value)) = split_pair(text) else {
                return fault(*number, format!("expected `key: value`, found `{}`", brief(text)));
            };
            let value = if value.is_empty() { Value::Null } else { single(value, *number)? };
            match value {
                Value::Text(value) => map.push((key, Some(value))),
                _ => map.push((key, None)),
            }
        }
    }
    Ok(if is_list { Value::List(list) } else { Value::Map(map) })
}

/// `|` keeps line ends, `>` folds them; the end is trimmed whatever the header says of it.
fn block_text(header: &str, block: &[&str], line: usize) -> Result<Value, Fault> {
    let folded = header.starts_with('>');
    let marks = strip_comment(header.get(1..).unwrap_or_default()).trim();
    let mut explicit = None;
    for mark in marks.chars() {
        match mark {
            '+' | '-' => {}
            '1'..='9' => explicit = mark.to_digit(10).map(|width| width as usize),
            _ => {
                return fault(line, format!("`{}`: expected the text on the lines below, indented", brief(header)));
            }
        }
    }
    let indent = |text: &str| text.len() - text.trim_start_matches(' ').len();
    let depth =
        explicit.unwrap_or_else(|| block.iter().find(|text| !text.trim().is_empty()).map_or(1, |text| indent(text)));
    let mut text = String::new();
    let mut blank = 0;
    for (at, part) in block.iter().enumerate() {
        if part.trim().is_empty() {
            blank += 1;
            continue;
        }
        if indent(part) < depth || depth == 0 {
            return fault(line + 1 + at, format!("expected at least {} spaces of indentation", depth.max(1)));
        }
        let part = part.get(depth..).unwrap_or_default().trim_end();
        if !text.is_empty() {
            match (folded, blank) {
                (true, 0) => text.push(' '),
                (true, _) => text.extend(std::iter::repeat_n('\n', blank)),
                (false, _) => text.extend(std::iter::repeat_n('\n', blank + 1)),
            }
        }
        blank = 0;
        text.push_str(part);
    }
    Ok(if text.is_empty() { Value::Null } else { Value::Text(text) })
}

/// Reads values that may run over several lines: quoted text, `[lists]`, `{maps}`.
struct Inline<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Inline<'a> {
    fn new(text: &'a str, line: usize) -> Self {
        Inline { text, at: 0, line }
    }

    fn document(&mut self) -> Result<Value, Fault> {
        let value = match self.peek() {
            Some('[') => self.list()?,
            Some('{') => self.map()?,
            Some('"') => Value::Text(self.double()?),
            Some('\'') => Value::Text(self.single()?),
            _ => return fault(self.line, "expected a quoted value, `[` or `{`"),
        };
        self.space();
        match self.peek() {
            None => Ok(value),
            Some(_) => fault(
                self.line,
                format!("expected the end of the line after the value, found `{}`", brief(self.rest())),
            ),
        }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        if next == '\n' {
            self.line += 1;
        }
        Some(next)
    }

    /// White space, line ends and comments.
    fn space(&mut self) {
        let mut after_space = self.at == 0;
        while let Some(next) = self.peek() {
            if next == '#' && after_space {
                while self.peek().is_some_and(|next| next != '\n') {
                    self.bump();
                }
            } else if next.is_whitespace() {
                after_space = true;
                self.bump();
            } else {
                break;
            }
        }
    }

    fn list(&mut self) -> Result<Value, Fault> {
        let opened = self.line;
        self.bump();
        let mut items = Vec::new();
        loop {
            self.space();
            match self.peek() {
                None => return fault(opened, "expected `]` to close the list"),
                Some(']') => {
                    self.bump();
                    return Ok(Value::List(items));
                }
                Some('[' | '{') => {
                    return fault(self.line, "expected a plain or quoted value in the list; put `[[links]]` in quotes");
                }
                Some(',') => return fault(self.line, "expected a value before `,`"),
                Some(_) => {
                    if let Value::Text(item) = self.item(&[',', ']', '[', '{', '}'])? {
                        items.push(item);
                    }
                }
            }
            self.separator(']', opened)?;
        }
    }

    fn map(&mut self) -> Result<Value, Fault> {
        let opened = self.line;
        self.bump();
        let mut pairs = Vec::new();
        loop {
            self.space();
            match self.peek() {
                None => return fault(opened, "expected `}` to close the map"),
                Some('}') => {
                    self.bump();
                    return Ok(Value::Map(pairs));
                }
                Some(_) => {}
            }
            let Value::Text(key) = self.item(&[':', ',', '}', '{', '[', ']'])? else {
                return fault(self.line, "expected `key: value` in the map");
            };
            self.space();
            if self.bump() != Some(':') {
                return fault(self.line, format!("expected `:` after `{}`", brief(&key)));
            }
            self.space();
            let value = match self.peek() {
                Some(',' | '}') => None,
                Some('[' | '{') => {
                    return fault(self.line, "expected a plain or quoted value in the map");
                }
                _ => match self.item(&[',', '}', '{', '[', ']'])? {
                    Value::Text(value) => Some(value),
                    _ => None,
                },
            };
            pairs.push((key, value));
            self.separator('}', opened)?;
        }
    }

    /// A comma, or the closing bracket (left to the caller).
    fn separator(&mut self, close: char, opened: usize) -> Result<(), Fault> {
        self.space();
        match self.peek() {
            Some(',') => {
                self.bump();
                Ok(())
            }
            Some(next) if next == close => Ok(()),
            None => fault(opened, format!("expected `{close}` to close what opens here")),
            Some(_) => fault(self.line, format!("expected `,` or `{close}`, found `{}`", brief(self.rest()))),
        }
    }

    /// A quoted value, or a plain one up to one of `ends`, a line end or a comment.
    fn item(&mut self, ends: &[char]) -> Result<Value, Fault> {
        match self.peek() {
            Some('"') => return Ok(Value::Text(self.double()?)),
            Some('\'') => return Ok(Value::Text(self.single()?)),
            _ => {}
        }
        let rest = self.rest();
        let end = rest.find(|next| next == '\n' || ends.contains(&next)).unwrap_or(rest.len());
        let raw = rest.get(..end).unwrap_or_default();
        let text = strip_comment(raw);
        let line = self.line;
        self.at += if text.len() < raw.trim_end().len() { text.len() } else { end };
        if text.is_empty() {
            return fault(line, format!("expected a value, found `{}`", brief(rest)));
        }
        let mut notes = Vec::new();
        let text = plain(text, line, &mut notes)?;
        match notes.pop() {
            Some(note) => Err(Fault { line, message: note.message.replace(" (read as text)", "") }),
            None => Ok(scalar(text.trim())),
        }
    }

    fn single(&mut self) -> Result<String, Fault> {
        let opened = self.line;
        self.bump();
        let mut text = String::new();
        while let Some(next) = self.bump() {
            match next {
                '\'' if self.peek() == Some('\'') => {
                    self.bump();
                    text.push('\'');
                }
                '\'' => return Ok(text),
                '\n' => self.fold(&mut text),
                _ => text.push(next),
            }
        }
        fault(opened, "expected `'` to close the text")
    }

    fn double(&mut self) -> Result<String, Fault> {
        let opened = self.line;
        self.bump();
        let mut text = String::new();
        while let Some(next) = self.bump() {
            match next {
                '"' => return Ok(text),
                '\n' => self.fold(&mut text),
                '\\' => match self.bump() {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('0') => text.push('\0'),
                    Some('e') => text.push('\u{1b}'),
                    Some('_') => text.push('\u{a0}'),
                    Some(same @ ('"' | '\\' | '/' | ' ')) => text.push(same),
                    Some('\n') => {
                        while self.peek().is_some_and(|next| next == ' ' || next == '\t') {
                            self.bump();
                        }
                    }
                    Some('x') => text.push(self.code(2)?),
                    Some('u') => text.push(self.code(4)?),
                    Some('U') => text.push(self.code(8)?),
                    Some(other) => {
                        return fault(self.line, format!("`\\{other}` is no escape: write `\\\\` for a backslash"));
                    }
                    None => break,
                },
                _ => text.push(next),
            }
        }
        fault(opened, "expected `\"` to close the text")
    }

    /// A character given by hexadecimal digits; a pair of surrogates makes one.
    fn code(&mut self, width: usize) -> Result<char, Fault> {
        let high = self.hex(width)?;
        let code = if (0xD800..0xDC00).contains(&high) && self.rest().starts_with("\\u") {
            self.bump();
            self.bump();
            let low = self.hex(4)?;
            if (0xDC00..0xE000).contains(&low) { 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00) } else { high }
        } else {
            high
        };
        match char::from_u32(code) {
            Some(found) => Ok(found),
            None => fault(self.line, format!("{code:#X} is no character")),
        }
    }

    fn hex(&mut self, width: usize) -> Result<u32, Fault> {
        let mut code = 0u32;
        for _ in 0..width {
            match self.peek().and_then(|next| next.to_digit(16)) {
                Some(digit) => code = (code << 4) | digit,
                None => return fault(self.line, format!("expected {width} hexadecimal digits")),
            }
            self.bump();
        }
        Ok(code)
    }

    /// A line end inside quotes: one space, or as many line ends as there are blank lines.
    fn fold(&mut self, text: &mut String) {
        text.truncate(text.trim_end_matches([' ', '\t']).len());
        let mut blank = 0;
        while let Some(next) = self.peek() {
            match next {
                '\n' => blank += 1,
                ' ' | '\t' => {}
                _ => break,
            }
            self.bump();
        }
        if blank == 0 {
            text.push(' ');
        } else {
            text.extend(std::iter::repeat_n('\n', blank));
        }
    }
}

/// The beginning of a text, for messages.
pub(super) fn brief(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or_default().trim();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Value {
        Value::Text(value.into())
    }

    fn list(values: &[&str]) -> Value {
        Value::List(values.iter().map(|value| value.to_string()).collect())
    }

    fn map(pairs: &[(&str, &str)]) -> Value {
        Value::Map(pairs.iter().map(|(key, value)| (key.to_string(), Some(value.to_string()))).collect())
    }

    #[test]
    fn reads_the_subset() {
        let cases = [
            ("k: plain words # comment", text("plain words")),
            ("k: C# and F#", text("C# and F#")),
            ("k: http://example.org/a:b", text("http://example.org/a:b")),
            ("k:", Value::Null),
            ("k: ~", Value::Null),
            ("k: # nothing", Value::Null),
            ("k: 'it''s # here'", text("it's # here")),
            (r#"k: "a \"b\" \u00e9 \x41 \ud83d\ude00\n""#, text("a \"b\" é A 😀\n")),
            ("k: \"over\n  two lines\"", text("over two lines")),
            ("k: over\n  two lines", text("over two lines")),
            ("k: []", list(&[])),
            ("k: [a, 'b, c', \"d]\", e f,]", list(&["a", "b, c", "d]", "e f"])),
            ("k: [a, # first\n  b\n]", list(&["a", "b"])),
            ("k:\n  - a\n  - 'b: c'\n\n  # comment\n  - d # e", list(&["a", "b: c", "d"])),
            ("k:\n- a\n- b", list(&["a", "b"])),
            ("k: {tenant: acme, user: 'ana'}", map(&[("tenant", "acme"), ("user", "ana")])),
            ("k:\n  tenant: acme\n  \"user\": ana", map(&[("tenant", "acme"), ("user", "ana")])),
            ("k: |\n  one\n    two\n\n  three\n", text("one\n  two\n\nthree")),
            ("k: >-\n  one\n  two\n\n  three", text("one two\nthree")),
            ("k: |2\n    one", text("  one")),
        ];
        for (source, expected) in cases {
            let lines: Vec<&str> = source.lines().collect();
            let front = parse(&lines, 2);
            assert_eq!(front.faults, [], "{source}");
            assert_eq!(front.fields.len(), 1, "{source}");
            assert_eq!(front.fields[0].value, expected, "{source}");
        }
    }

    #[test]
    fn a_fault_names_its_line_and_costs_only_its_key() {
        let cases = [
            // source (first line is 2), line, part of the message
            ("ok: 1\nno colon here", 3, "expected `key: value`"),
            ("  k: v", 2, "unexpected indentation"),
            ("- x", 2, "without a key"),
            ("k: [a, b", 2, "expected `]`"),
            ("k: [a, [b]]", 2, "in quotes"),
            ("k: [a,\n  , b]", 3, "before `,`"),
            ("k: {a b}", 2, "expected `:`"),
            ("k: \"open", 2, "expected `\"`"),
            ("k: 'open", 2, "expected `'`"),
            ("k: \"a\" b", 2, "expected the end of the line"),
            ("k: \"\\q\"", 2, "no escape"),
            ("k: \"\\ud800\"", 2, "no character"),
            ("k: *anchor", 2, "put it in quotes"),
            ("k: a: b", 2, "holds a colon"),
            ("k: a\n  b: c", 3, "unexpected indentation"),
            ("k:\n  - a\n   - b", 4, "uneven indentation"),
            ("k:\n  - a\n  b", 4, "expected a list item"),
            ("k:\n  a: 1\n  b", 4, "expected `key: value`"),
            ("k:\n\ta: 1", 3, "uneven indentation"),
            ("k: |x\n  a", 2, "on the lines below"),
        ];
        for (source, line, message) in cases {
            let source = format!("{source}\nlast: read");
            let lines: Vec<&str> = source.lines().collect();
            let front = parse(&lines, 2);
            assert_eq!(front.faults.len(), 1, "{source}: {:?}", front.faults);
            assert_eq!(front.faults[0].line, line, "{source}: {:?}", front.faults);
            assert!(front.faults[0].message.contains(message), "{source}: {:?}", front.faults);
            let last = front.fields.last().expect("the last key is read");
            assert_eq!((last.key.as_str(), &last.value), ("last", &text("read")), "{source}");
            assert!(!front.scope_unreadable, "{source}");
        }
    }

    #[test]
    fn an_unreadable_line_about_a_scope_is_remembered() {
        for source in [
            "scope {tenant: acme}",
            "  scope: acme",
            "scope: {tenant: acme",
            "scope:\n\ttenant: acme",
            "title: x\n  scope: {tenant: acme}",
        ] {
            let lines: Vec<&str> = source.lines().collect();
            assert!(parse(&lines, 2).scope_unreadable, "{source}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics(text in "([a-z]{0,3}: ?[\\[\\]{}'\"|>#&,:a \\\\\\-é]{0,12}\n?[ \t-]{0,3}){0,6}") {
            let lines: Vec<&str> = text.lines().collect();
            let _ = parse(&lines, 2);
        }
    }
}
