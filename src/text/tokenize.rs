use std::borrow::Cow;

use super::fold::fold;
use super::stem::stem;

/// What sort of token was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A word, to be stemmed.
    Word,
    /// Digits only.
    Number,
    /// A compound kept whole: `inc-410`, `c++`, `config.toml`, `u.s`. Never stemmed.
    Identifier,
    /// Two neighbouring characters (or a lone one) of a script that is written without spaces, or of Hangul.
    Bigram,
}

/// A piece of text in its folded form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// Folded by [`fold`]; not yet stemmed.
    pub surface: &'a str,
    /// How it was cut.
    pub kind: Kind,
}

/// The longest token that is indexed, in bytes of its folded form; the rest of a longer one is dropped.
pub const MAX_TOKEN_BYTES: usize = 64;

/// Cuts `text` into tokens, in order. A compound comes before its parts.
pub fn tokenize(text: &str, emit: &mut dyn FnMut(Token<'_>)) {
    let (word, compound, folded) = (String::with_capacity(MAX_TOKEN_BYTES), String::new(), String::new());
    Cutter { word, compound, folded, digits: false, letters: false, run: None, emit }.cut(text);
}

/// A word of ASCII letters and digits alone, as [`tokenize`] cuts it, without the search for other tokens in it; `None` of any other text.
/// `buffer` keeps its spelling.
pub fn plain_token<'b>(word: &str, buffer: &'b mut String) -> Option<Token<'b>> {
    if word.is_empty() || word.len() > MAX_TOKEN_BYTES || !word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    buffer.clear();
    buffer.push_str(word);
    buffer.make_ascii_lowercase();
    Some(Token { surface: buffer, kind: word_kind(buffer) })
}

/// The form that is indexed and searched: words stemmed, everything else as it is.
pub fn normalize<'a>(token: &Token<'a>) -> Cow<'a, str> {
    match token.kind {
        Kind::Word => stem(token.surface),
        _ => Cow::Borrowed(token.surface),
    }
}

/// All normalized terms of `text`, in order. A convenience for short texts.
pub fn terms(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    tokenize(text, &mut |token| out.push(normalize(&token).into_owned()));
    out
}

struct Cutter<'e> {
    /// The simple word being read.
    word: String,
    /// The words and joiners read so far, `word` not included; empty while there was no joiner.
    compound: String,
    /// The character being read.
    folded: String,
    digits: bool,
    letters: bool,
    /// The last character of the run of a script without spaces, and whether the run has one only.
    run: Option<(char, bool)>,
    emit: &'e mut dyn FnMut(Token<'_>),
}

impl Cutter<'_> {
    fn cut(&mut self, text: &str) {
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            // Nearly all of nearly every text: words and spaces of ASCII, a run at a time.
            let run = rest.as_bytes().iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
            if run > 0 {
                self.end_run();
                self.ascii(rest.get(..run).unwrap_or_default());
                at += run;
                continue;
            }
            let Some(raw) = rest.chars().next() else { break };
            let after = at + raw.len_utf8();
            if raw.is_ascii() {
                self.end_run();
                self.sign(raw, text, at);
            } else {
                self.other(raw, text, at);
            }
            at = after;
        }
        self.end_run();
        self.end_compound();
    }

    /// Letters and digits of ASCII that belong to one word.
    fn ascii(&mut self, run: &str) {
        let start = self.word.len();
        self.word.push_str(run.get(..run.len().min(MAX_TOKEN_BYTES.saturating_sub(start))).unwrap_or(run));
        if let Some(added) = self.word.get_mut(start..) {
            added.make_ascii_lowercase();
        }
        let digits = run.bytes().filter(u8::is_ascii_digit).count();
        self.digits |= digits > 0;
        self.letters |= digits < run.len();
    }

    /// A character outside ASCII.
    fn other(&mut self, raw: char, text: &str, at: usize) {
        // The voicing marks look back at the letter they follow.
        if is_voicing(raw) {
            return;
        }
        self.folded.clear();
        fold(raw, &mut self.folded);
        let next = text.get(at + raw.len_utf8()..).and_then(|rest| rest.chars().next());
        if let Some(mark) = next.filter(|next| is_voicing(*next)) {
            fold(mark, &mut self.folded);
        }
        let Some(c) = self.folded.chars().next() else {
            return;
        };
        if is_unspaced(c) {
            self.end_compound();
            self.unspaced(c);
            return;
        }
        self.end_run();
        if c.is_alphanumeric() {
            if self.word.len() + self.folded.len() <= MAX_TOKEN_BYTES {
                self.word.push_str(&self.folded);
            }
            if c.is_numeric() {
                self.digits = true;
            } else {
                self.letters = true;
            }
        } else {
            self.sign(c, text, at);
        }
    }

    /// What is neither letter nor digit, as `c` once folded, at a place of the text.
    fn sign(&mut self, c: char, text: &str, at: usize) {
        let after = at + text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        match c {
            '\'' if next_folds_to_word(text, after) => self.apostrophe(text, after),
            '-' | '_' | '.' | '@' if !self.word.is_empty() && next_folds_to_word(text, after) => self.join(c),
            '+' | '#' if !self.word.is_empty() => self.suffix(c, text, at),
            _ => self.end_compound(),
        }
    }

    /// `it's` loses its ending, `don't` its apostrophe, `l'été` its article.
    fn apostrophe(&mut self, text: &str, after: usize) {
        let mut rest = text.get(after..).unwrap_or("").chars();
        let ends_in_s = matches!(rest.next(), Some('s' | 'S')) && !rest.next().is_some_and(char::is_alphanumeric);
        if ends_in_s && !self.word.is_empty() {
            // The `s` is read as a word of its own and dropped in `end_word`.
            self.end_compound();
            self.word.push('\'');
        } else if matches!(self.word.as_str(), "l" | "d" | "j" | "m" | "t" | "s" | "n" | "c" | "qu")
            && self.compound.is_empty()
        {
            self.word.clear();
        }
    }

    fn join(&mut self, joiner: char) {
        if self.compound.len() + self.word.len() < MAX_TOKEN_BYTES {
            self.compound.push_str(&self.word);
            self.compound.push(joiner);
        }
        self.word.clear();
    }

    /// `C++`, `C#`, `F#`: a short word keeps its signs.
    fn suffix(&mut self, sign: char, text: &str, at: usize) {
        let rest = text.get(at..).unwrap_or("");
        let signs = if sign == '+' { "++" } else { "#" };
        let closes =
            rest.strip_prefix(signs).is_some_and(|rest| !rest.chars().next().is_some_and(char::is_alphanumeric));
        if self.compound.is_empty() && self.word.len() <= 3 && self.letters && closes {
            self.word.push_str(signs);
            (self.emit)(Token { surface: &self.word, kind: Kind::Identifier });
            self.word.clear();
        }
        self.end_compound();
    }

    fn end_compound(&mut self) {
        if self.compound.is_empty() {
            self.end_word();
            return;
        }
        self.compound.push_str(&self.word);
        let compound = std::mem::take(&mut self.compound);
        self.word.clear();
        let initials =
            self.letters && compound.contains('.') && compound.split('.').all(|part| part.chars().count() == 1);
        // Hyphenated words are just words; digits, dots, underscores and at signs make a name.
        if self.digits || compound.contains(['.', '_', '@']) {
            (self.emit)(Token { surface: &compound, kind: Kind::Identifier });
        }
        let decimal = !self.letters && compound.contains('.');
        if !initials && !decimal {
            for part in compound.split(['-', '_', '.', '@']).filter(|part| !part.is_empty()) {
                (self.emit)(Token { surface: part, kind: word_kind(part) });
            }
        }
        self.compound = compound;
        self.compound.clear();
        self.reset();
    }

    fn end_word(&mut self) {
        if !self.word.is_empty() && !self.word.starts_with('\'') {
            (self.emit)(Token { surface: &self.word, kind: word_kind(&self.word) });
        }
        self.word.clear();
        self.reset();
    }

    fn reset(&mut self) {
        self.digits = false;
        self.letters = false;
    }

    fn unspaced(&mut self, c: char) {
        if let Some((previous, _)) = self.run {
            let mut pair = [0u8; 8];
            let first = previous.encode_utf8(&mut pair).len();
            let both = first + c.encode_utf8(pair.get_mut(first..).unwrap_or(&mut [])).len();
            if let Some(surface) = pair.get(..both).and_then(|bytes| std::str::from_utf8(bytes).ok()) {
                (self.emit)(Token { surface, kind: Kind::Bigram });
            }
        }
        self.run = Some((c, self.run.is_none()));
    }

    fn end_run(&mut self) {
        if let Some((c, true)) = self.run.take() {
            (self.emit)(Token { surface: c.encode_utf8(&mut [0; 4]), kind: Kind::Bigram });
        }
    }
}

fn word_kind(word: &str) -> Kind {
    if word.bytes().all(|byte| byte.is_ascii_digit()) { Kind::Number } else { Kind::Word }
}

fn next_folds_to_word(text: &str, at: usize) -> bool {
    text.get(at..).and_then(|rest| rest.chars().next()).is_some_and(|c| c.is_alphanumeric() && !is_unspaced(c))
}

/// The voicing marks of kana, combining and half-width.
fn is_voicing(c: char) -> bool {
    matches!(c, '\u{3099}' | '\u{309a}' | '\u{ff9e}' | '\u{ff9f}')
}

/// Scripts that are cut into bigrams: Han, kana, Hangul, Thai, Lao, Khmer, Myanmar.
fn is_unspaced(c: char) -> bool {
    matches!(c as u32,
        0x0e00..=0x0eff | 0x1000..=0x109f | 0x1100..=0x11ff | 0x1780..=0x17ff | 0x3005..=0x3007 | 0x3041..=0x30fa
        | 0x30fc..=0x30ff | 0x3130..=0x318f | 0x31f0..=0x31ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af
        | 0xf900..=0xfaff | 0x20000..=0x3ffff)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        let mut out = Vec::new();
        tokenize(text, &mut |token| out.push(token.surface.to_string()));
        out.join(" ")
    }

    #[test]
    fn cuts_words_identifiers_and_unspaced_scripts() {
        let cases = [
            ("The quick, brown fox!", "the quick brown fox"),
            ("Caroline's dog doesn't bark", "caroline dog doesnt bark"),
            ("the dogs' bowl", "the dogs bowl"),
            ("INC-410 is not INC-4102", "inc-410 inc 410 is not inc-4102 inc 4102"),
            ("a follow-up call", "a follow up call"),
            ("C, C++ and C# (or F#)", "c c++ and c# or f#"),
            ("issue #12 and 3+4", "issue 12 and 3 4"),
            ("edit config.toml, please.", "edit config.toml config toml please"),
            ("in the U.S. since v1.2.3", "in the u.s since v1.2.3 v1 2 3"),
            ("3.14 or 2023-05-08", "3.14 or 2023-05-08 2023 05 08"),
            ("max_retries", "max_retries max retries"),
            ("l'été à Zürich", "ete a zurich"),
            ("東京都に行く", "東京 京都 都に に行 行く"),
            ("猫", "猫"),
            ("한국어 검색", "한국 국어 검색"),
            ("ﾊﾟｿｺﾝ", "パソ ソコ コン"),
            ("Ｗｉ－Ｆｉ", "wi fi"),
            ("iPhone15を買う", "iphone15 を買 買う"),
            ("", ""),
            ("---...'''", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(cut(text), expected, "{text}");
        }
    }

    #[test]
    fn a_plain_word_is_its_only_token() {
        for word in ["Kiln", "2023", "iPhone15", "A", "it's", "C++", "é", "", "a b"] {
            let mut buffer = String::new();
            let plain = plain_token(word, &mut buffer).map(|token| (token.surface.to_string(), token.kind));
            let mut cut = Vec::new();
            tokenize(word, &mut |token| cut.push((token.surface.to_string(), token.kind)));
            assert!(plain.is_none() || cut == [plain.clone().unwrap()], "{word}: {plain:?}, {cut:?}");
            assert_eq!(plain.is_some(), !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric()), "{word}");
        }
    }

    #[test]
    fn a_very_long_word_is_cut_to_the_limit() {
        tokenize(&"x".repeat(10_000), &mut |token| assert_eq!(token.surface.len(), MAX_TOKEN_BYTES));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_cut_without_panic_and_within_the_limit(text in "[\\PC\u{300}\u{ff9e}\u{3099}.\\-_@+#'a-z0-9あ漢]{0,200}") {
            tokenize(&text, &mut |token| {
                assert!(!token.surface.is_empty());
                assert!(token.surface.len() <= 2 * MAX_TOKEN_BYTES + 8, "{}", token.surface.len());
            });
        }
    }
}
