use super::glyphs;

/// How a text is escaped: where it will stand, and whether its words are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Inside double quotes: `"`, `>`, tabs and line breaks are escaped too.
    pub quoted: bool,
    /// Stands after every word (and every eighth character where a script puts no spaces), so that
    /// stored words can be told from the host's wherever they are read. The text's own are escaped.
    pub mark: Option<char>,
}

impl Style {
    /// Between tags.
    pub const TEXT: Style = Style { quoted: false, mark: None };
    /// Between double quotes.
    pub const QUOTED: Style = Style { quoted: true, mark: None };

    /// The same with every word marked.
    pub fn marked(self, mark: Option<char>) -> Style {
        Style { mark, ..self }
    }
}

/// Escapes the whole of `text` onto `out` and returns how many invisible controls were made visible.
///
/// `<` and `&` become `&lt;` and `&amp;`, so no tag can begin inside the result. Invisible controls
/// (see [`glyphs`](super::glyphs)) become numeric references such as `&#x202E;`. Nothing is lost:
/// [`unescape`] gives `text` back once the marks, if any, are deleted.
pub fn escape(out: &mut String, text: &str, style: Style) -> usize {
    escape_prefix(out, text, style, usize::MAX).1
}

/// Escapes as much of `text` onto `out` as fits into `max` bytes, whole characters only. Returns the
/// bytes of `text` that were read and the number of invisible controls among them.
pub fn escape_prefix(out: &mut String, text: &str, style: Style, max: usize) -> (usize, usize) {
    let end = out.len().saturating_add(max);
    let mark_len = style.mark.map_or(0, char::len_utf8);
    let mut hidden = 0;
    let mut unmarked = 0_usize;
    for glyph in glyphs(text) {
        let start = out.len();
        if let Some(mark) = style.mark {
            let ends_word = glyph.char.is_whitespace() && unmarked > 0;
            let unspaced = unmarked >= 8 && is_unspaced(glyph.char);
            if ends_word || unspaced {
                out.push(mark);
                unmarked = 0;
            }
            unmarked += usize::from(!glyph.char.is_whitespace());
        }
        match glyph.char {
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '>' if style.quoted => out.push_str("&gt;"),
            '"' if style.quoted => out.push_str("&quot;"),
            char if glyph.hidden || Some(char) == style.mark || style.quoted && matches!(char, '\n' | '\r' | '\t') => {
                push_reference(out, char);
            }
            char => out.push(char),
        }
        // The mark that will close the last word must fit too.
        let owed = if unmarked > 0 && !style.quoted { mark_len } else { 0 };
        if out.len() + owed > end {
            out.truncate(start);
            close(out, text.get(..glyph.at).unwrap_or_default(), style);
            return (glyph.at, hidden);
        }
        hidden += usize::from(glyph.hidden);
    }
    close(out, text, style);
    (text.len(), hidden)
}

/// Marks the last word of what was written; a quoted text ends visibly without it.
fn close(out: &mut String, written: &str, style: Style) {
    if let Some(mark) = style.mark
        && !style.quoted
        && written.ends_with(|char: char| !char.is_whitespace())
    {
        out.push(mark);
    }
}

/// Characters between which no word boundary shows: ideographs, kana, Hangul, Thai and its neighbours.
fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
        | '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn push_reference(out: &mut String, char: char) {
    out.push_str("&#x");
    let code = u32::from(char);
    let digits = (32 - (code | 1).leading_zeros()).div_ceil(4);
    for place in (0..digits).rev() {
        let digit = code >> (4 * place) & 0xf;
        out.push(char::from_digit(digit, 16).unwrap_or('0').to_ascii_uppercase());
    }
    out.push(';');
}

/// Undoes [`escape`]. An `&` that begins none of its references stands for itself. Never fails.
pub fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        match reference(after) {
            Some((char, behind)) => {
                out.push(char);
                rest = behind;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The character that a reference stands for, and what follows it; `after` begins behind the `&`.
fn reference(after: &str) -> Option<(char, &str)> {
    let longest = "#x10FFFF;".len();
    let end = after.bytes().take(longest).position(|byte| byte == b';')?;
    let (name, behind) = after.split_at_checked(end)?;
    Some((referenced(name)?, behind.strip_prefix(';')?))
}

fn referenced(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        _ => {
            let digits = name.strip_prefix("#x").filter(|digits| digits.len() <= 6)?;
            let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            if hex { u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) } else { None }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn escaped(text: &str, style: Style) -> String {
        let mut out = String::new();
        escape(&mut out, text, style);
        out
    }

    #[test]
    fn writes_what_a_reader_would_expect() {
        let marked = Style::TEXT.marked(Some('^'));
        let cases = [
            (Style::TEXT, "a < b && c > d \"e\"\n", "a &lt; b &amp;&amp; c > d \"e\"\n"),
            (Style::TEXT, "&lt;", "&amp;lt;"),
            (Style::TEXT, "\u{202e}x\u{e0041}\0", "&#x202E;x&#xE0041;&#x0;"),
            (Style::QUOTED, "a \"b\"\n>\t\r\n", "a &quot;b&quot;&#xA;&gt;&#x9;&#xD;&#xA;"),
            (marked, "two words\nmore ", "two^ words^\nmore^ "),
            (marked, "one", "one^"),
            (marked, "a^b", "a&#x5E;b^"),
            (marked, "今日は天気がいいから散歩", "今日は天気がいい^から散歩^"),
            (marked, "", ""),
            (Style::QUOTED.marked(Some('^')), "two words", "two^ words"),
        ];
        for (style, text, expected) in cases {
            assert_eq!(escaped(text, style), expected, "{text:?}");
        }
    }

    #[test]
    fn unescapes_only_its_own_references() {
        let cases = [
            ("a & b", "a & b"),
            ("&copy; &#65; &#xD800; &#xFFFFFFFF; &#x+41; &#x;", "&copy; &#65; &#xD800; &#xFFFFFFFF; &#x+41; &#x;"),
            ("&&lt;&amp;lt;", "&<&lt;"),
            ("&#x41;&quot;&gt", "A\"&gt"),
        ];
        for (text, expected) in cases {
            assert_eq!(unescape(text), expected, "{text:?}");
        }
    }

    /// Text that is rich in what escaping is about.
    pub(crate) fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            any::<char>().prop_map(String::from),
            "[ -~]{0,8}",
            proptest::sample::select(vec![
                "<",
                "&",
                "&lt;",
                "&#x",
                ";",
                "\"",
                ">",
                "\n",
                "\r",
                "\r\n",
                "\t",
                "^",
                "\u{200d}",
                "\u{200c}",
                "\u{fe0f}",
                "👩",
                "ی",
                "\u{e0041}",
                "\u{202e}",
                "今日は",
                " ",
                "…",
            ])
            .prop_map(String::from),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn unescape_undoes_escape(text in hostile(), quoted: bool) {
            let style = Style { quoted, mark: None };
            prop_assert_eq!(unescape(&escaped(&text, style)), text.clone());
            let marked = escaped(&text, style.marked(Some('^')));
            prop_assert_eq!(unescape(&marked.replace('^', "")), text);
        }

        #[test]
        fn nothing_dangerous_is_left(text in hostile(), quoted: bool) {
            let out = escaped(&text, Style { quoted, mark: None });
            prop_assert!(!out.contains('<'));
            prop_assert!(glyphs(&out).all(|glyph| !glyph.hidden), "{:?}", out);
            if quoted {
                prop_assert!(!out.contains(['"', '>', '\n', '\r', '\t']));
            }
        }

        #[test]
        fn a_prefix_fits_and_is_as_long_as_can_be(text in hostile(), max in 0_usize..80, quoted: bool, mark: bool) {
            let style = Style { quoted, mark: mark.then_some('^') };
            let mut out = String::from("kept");
            let (read, _) = escape_prefix(&mut out, &text, style, max);
            let written = out.strip_prefix("kept").unwrap();
            prop_assert!(written.len() <= max);
            prop_assert_eq!(unescape(&written.replace(if mark { "^" } else { "\0" }, "")), text.get(..read).unwrap());
            prop_assert_eq!(read == text.len(), escaped(&text, style).len() <= max);
        }

        #[test]
        fn unescape_never_fails(text in ".*") {
            let _ = unescape(&text);
        }
    }
}
