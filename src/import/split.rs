//! Cutting long text into passages, at the places where a reader would pause.

/// A section longer than this is cut at paragraph boundaries, in bytes.
pub(super) const PASSAGE_BYTES: usize = 1_500;

/// A fenced code block is kept whole up to this size, in bytes.
pub(super) const CODE_BYTES: usize = 64 * 1024;

/// The fence that opens or closes a code block: its character and length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Fence(u8, usize);

impl Fence {
    /// The fence that a line opens, if it does.
    pub fn opened_by(line: &str) -> Option<Fence> {
        let text = line.trim_start_matches(' ');
        if line.len() - text.len() > 3 {
            return None;
        }
        let mark = *text.as_bytes().first()?;
        let length = text.bytes().take_while(|byte| *byte == mark).count();
        let info = text.get(length..).unwrap_or_default();
        let fits = match mark {
            b'`' => !info.contains('`'),
            b'~' => true,
            _ => false,
        };
        (fits && length >= 3).then_some(Fence(mark, length))
    }

    /// Whether a line closes this fence.
    pub fn closed_by(self, line: &str) -> bool {
        let text = line.trim_start_matches(' ');
        let length = text.bytes().take_while(|byte| *byte == self.0).count();
        line.len() - text.len() <= 3
            && length >= self.1
            && text.get(length..).is_some_and(|rest| rest.trim().is_empty())
    }
}

/// Cuts text into passages of about [`PASSAGE_BYTES`]: whole paragraphs are packed together, headings stay with what
/// follows them, code blocks stay whole. A paragraph that is longer by itself is cut at line ends, sentence ends or spaces.
/// Nothing but white space at the cuts is lost; no passage is empty.
pub(super) fn passages(text: &str) -> Vec<String> {
    let mut passages: Vec<String> = Vec::new();
    let mut open = String::new();
    let mut held = String::new();
    for block in blocks(text) {
        if block.heading {
            append(&mut held, block.text);
            continue;
        }
        if !open.is_empty() && open.len() + held.len() + block.text.len() + 4 > PASSAGE_BYTES {
            passages.push(std::mem::take(&mut open));
        }
        if !held.is_empty() {
            append(&mut open, &std::mem::take(&mut held));
        }
        let most = if block.code { CODE_BYTES } else { PASSAGE_BYTES };
        for (number, piece) in pieces(block.text, most).into_iter().enumerate() {
            if number > 0 {
                passages.push(std::mem::take(&mut open));
            }
            append(&mut open, piece);
        }
    }
    if !held.is_empty() {
        append(&mut open, &held);
    }
    if !open.is_empty() {
        passages.push(open);
    }
    passages
}

/// Adds a paragraph.
fn append(text: &mut String, paragraph: &str) {
    if !text.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str(paragraph);
}

struct Block<'a> {
    text: &'a str,
    code: bool,
    heading: bool,
}

/// Paragraphs and code blocks, trimmed, none empty.
fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut start = 0;
    let mut fence: Option<Fence> = None;
    let mut at = 0;
    let mut found: Vec<(usize, usize, bool)> = Vec::new();
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let bare = line.trim_end();
        match fence {
            Some(open) => {
                if open.closed_by(bare) {
                    fence = None;
                    found.push((start, end, true));
                    start = end;
                }
            }
            None => {
                if let Some(opened) = Fence::opened_by(bare) {
                    found.push((start, at, false));
                    start = at;
                    fence = Some(opened);
                } else if bare.is_empty() {
                    found.push((start, end, false));
                    start = end;
                }
            }
        }
        at = end;
    }
    found.push((start, text.len(), fence.is_some()));
    found
        .into_iter()
        .filter_map(|(from, to, code)| {
            let found = text.get(from..to)?.trim_end().trim_start_matches('\n');
            let heading = !code && found.starts_with('#') && !found.contains('\n');
            (!found.trim().is_empty()).then_some(Block { text: found, code, heading })
        })
        .collect()
}

/// Pieces of at most `most` bytes, cut where it hurts least.
pub(super) fn pieces(text: &str, most: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > most {
        let mut end = most.max(4);
        while !rest.is_char_boundary(end) {
            end -= 1;
        }
        let window = rest.get(..end).unwrap_or_default();
        let late = |at: &usize| *at >= most / 3;
        let cut = window
            .rfind('\n')
            .filter(late)
            .or_else(|| sentence_end(window).filter(late))
            .or_else(|| window.rfind(char::is_whitespace).filter(|at| *at > 0))
            .unwrap_or(end);
        let (piece, after) = rest.split_at(cut);
        if !piece.trim().is_empty() {
            pieces.push(piece.trim_end());
        }
        rest = after.trim_start();
    }
    if !rest.trim().is_empty() {
        pieces.push(rest);
    }
    pieces
}

/// Just after the last sentence of a text that is followed by more.
fn sentence_end(text: &str) -> Option<usize> {
    let ascii = [". ", "! ", "? "].iter().filter_map(|mark| text.rfind(mark).map(|at| at + 1));
    let wide = ["。", "！", "？"].iter().filter_map(|mark| text.rfind(mark).map(|at| at + mark.len()));
    ascii.chain(wide).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_packed_and_code_is_kept_whole() {
        let paragraph = "word ".repeat(120);
        let code = format!("```\n{}\n\n```", "let x = 1;\n".repeat(300));
        let text = format!("{paragraph}\n\n{paragraph}\n\n### Heading\n\n{code}\n\n{paragraph}");
        let found = passages(&text);
        assert_eq!(found.len(), 3, "{found:#?}");
        assert_eq!(found[1], format!("### Heading\n\n{code}"));
    }

    #[test]
    fn a_long_line_is_cut_at_sentences_words_and_characters() {
        let cases = [
            "A sentence of some words. ".repeat(500),
            "word ".repeat(2000),
            "x".repeat(10_000),
            "記".repeat(5_000),
            "- item\n".repeat(1_000),
        ];
        for text in cases {
            let found = passages(&text);
            assert!(found.len() > 1);
            assert!(found.iter().all(|passage| passage.len() <= PASSAGE_BYTES));
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_but_white_space_is_lost(text in "([a-z#`~. é\n]{0,60}\n\n?){0,60}") {
            let kept = |text: &str| text.split_whitespace().collect::<String>();
            let found = passages(&text);
            proptest::prop_assert_eq!(found.iter().map(|passage| kept(passage)).collect::<String>(), kept(&text));
            proptest::prop_assert!(found.iter().all(|passage| !passage.trim().is_empty()));
        }
    }
}
