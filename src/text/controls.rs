use std::iter::Peekable;
use std::str::CharIndices;

/// Goes through `text` and tells, of each character, whether it is an invisible control.
///
/// Invisible are: C0 and C1 controls other than `\n`, `\t` and the `\r` of a `\r\n`; bidirectional controls;
/// Unicode tags; zero-width spaces, fillers and joiners; variation selectors; line and paragraph
/// separators; noncharacters; and the other default-ignorable code points.
///
/// What scripts need is left alone, judged by its neighbours: one joiner between letters of a script
/// that uses joiners (Persian, Hindi ...) or between emoji, one variation selector after an emoji, a
/// keycap base, an ideograph or a Mongolian letter, one zero-width space between Thai, Lao, Khmer or
/// Myanmar letters. A run of them is never needed, and only its first can be.
pub fn glyphs(text: &str) -> Glyphs<'_> {
    Glyphs { rest: text.char_indices().peekable(), before: None }
}

/// One character, where it starts, and whether it is an invisible control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph {
    /// Byte offset of its start.
    pub at: usize,
    /// The character itself.
    pub char: char,
    /// True for invisible controls that the script does not need.
    pub hidden: bool,
}

/// See [`glyphs`].
pub struct Glyphs<'t> {
    rest: Peekable<CharIndices<'t>>,
    /// The character before, if it was a visible one or a joiner that is needed.
    before: Option<char>,
}

impl Iterator for Glyphs<'_> {
    type Item = Glyph;

    fn next(&mut self) -> Option<Glyph> {
        let (at, char) = self.rest.next()?;
        let hidden = if (' '..='~').contains(&char) {
            false
        } else {
            let after = self.rest.peek().map(|&(_, char)| char);
            is_hidden(char, self.before, after)
        };
        self.before = if hidden { None } else { Some(char) };
        Some(Glyph { at, char, hidden })
    }
}

fn is_hidden(char: char, before: Option<char>, after: Option<char>) -> bool {
    let follows = |base: fn(char) -> bool| before.is_some_and(base);
    let between = |side: fn(char) -> bool| before.is_some_and(side) && after.is_some_and(side);
    match char {
        '\n' | '\t' => false,
        '\r' => after != Some('\n'),
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => true,
        '\u{200c}' => !between(uses_joiners),
        '\u{200d}' => {
            let in_emoji = follows(|c| is_emoji(c) || c == '\u{fe0f}')
                && after.is_some_and(is_emoji);
            !in_emoji && !between(uses_joiners)
        }
        '\u{200b}' => !between(is_unspaced),
        '\u{fe0e}' | '\u{fe0f}' => !follows(|c| is_emoji(c) || matches!(c, '0'..='9' | '#' | '*')),
        '\u{fe00}'..='\u{fe0d}' => !follows(|c| is_ideograph(c) || matches!(c, '\u{2200}'..='\u{22ff}' | '\u{1000}'..='\u{109f}')),
        '\u{e0100}'..='\u{e01ef}' => !follows(is_ideograph),
        '\u{180b}'..='\u{180f}' => !follows(|c| matches!(c, '\u{1820}'..='\u{18aa}')),
        // Soft hyphen, grapheme joiner, Arabic letter mark, fillers, Khmer inherent vowels.
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
        // Direction marks, separators, embeddings, invisible operators, isolates, deprecated controls.
        | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        // Byte order mark, unassigned ignorables, annotation anchors, noncharacters.
        | '\u{feff}' | '\u{fff0}'..='\u{fffb}' | '\u{fdd0}'..='\u{fdef}'
        // Shorthand and musical controls; the whole plane of tags.
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        other => u32::from(other) & 0xfffe == 0xfffe,
    }
}

/// Letters and marks of scripts in which a joiner or non-joiner changes how a word is written.
fn uses_joiners(char: char) -> bool {
    matches!(char,
        '\u{620}'..='\u{6ff}' | '\u{700}'..='\u{77f}' | '\u{8a0}'..='\u{8ff}' // Arabic, Syriac
        | '\u{900}'..='\u{dff}' // Indic
        | '\u{f00}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' // Tibetan, Myanmar, Khmer
        | '\u{1820}'..='\u{18aa}' | '\u{fb50}'..='\u{fdcf}' | '\u{fe70}'..='\u{fefc}')
}

/// Scripts that put no spaces between words and may mark the joint.
fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

fn is_ideograph(char: char) -> bool {
    matches!(char, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_emoji(char: char) -> bool {
    matches!(char,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}'
        | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}'
        | '\u{2934}' | '\u{2935}' | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f000}'..='\u{1faff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_what_smuggles_and_keeps_what_scripts_need() {
        let cases: &[(&str, &str, usize)] = &[
            ("plain text", "plain\ttext\nwith lines\r\nand é", 0),
            ("Persian non-joiner", "می\u{200c}خواهم", 0),
            ("Hindi joiner", "क्\u{200d}ष", 0),
            ("family", "👨\u{200d}👩\u{200d}👧", 0),
            ("heart on fire", "❤\u{fe0f}\u{200d}🔥", 0),
            ("skin tone", "👩🏽\u{200d}💻", 0),
            ("keycap", "1\u{fe0f}\u{20e3}", 0),
            ("ideographic variation", "葛\u{e0100}城", 0),
            ("Khmer word joint", "ខ្ញុំ\u{200b}ស្រឡាញ់", 0),
            ("Mongolian variant", "ᠠ\u{180b}", 0),
            ("Hebrew", "שלום", 0),
            ("lone carriage return", "a\rb", 1),
            ("escape and bell", "\u{1b}[31m\u{7}", 2),
            ("C1", "a\u{9b}31m\u{85}", 2),
            ("tags", "ok\u{e0001}\u{e0041}\u{e007f}", 3),
            ("override", "\u{202e}txt.exe\u{202c}", 2),
            ("isolates and marks", "\u{2066}a\u{2069}\u{200e}\u{200f}\u{61c}", 5),
            ("zero width in Latin", "pass\u{200b}wo\u{200c}r\u{200d}d\u{2060}\u{feff}", 5),
            ("joiner after emoji, nothing to join", "👩\u{200d} x", 1),
            ("run of joiners in Persian", "می\u{200c}\u{200c}\u{200d}خ", 3),
            ("selectors as data", "😀\u{fe0f}\u{fe01}\u{fe0f}\u{e0110}\u{e0111}", 4),
            ("selector after a letter", "a\u{fe0f}", 1),
            ("selector first", "\u{fe0f}", 1),
            ("separators", "a\u{2028}b\u{2029}", 2),
            ("fillers and soft hyphen", "\u{3164}\u{ffa0}\u{115f}co\u{ad}op\u{34f}", 5),
            ("noncharacters", "\u{ffff}\u{fdd0}\u{1fffe}", 3),
        ];
        for (name, text, expected) in cases {
            let hidden = glyphs(text).filter(|glyph| glyph.hidden).count();
            assert_eq!(hidden, *expected, "{name}: {text:?}");
        }
    }
}
