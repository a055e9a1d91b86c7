/// The sentences of a text, each with whether it asks. They end with `.`, `!` or `?` before a space, with their full-width forms, or with the line.
pub fn sentences(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = end_of_first(rest)?;
        let (sentence, after) = rest.split_at_checked(end)?;
        rest = after;
        let bare =
            sentence.trim_end_matches(|char: char| char.is_whitespace() || matches!(char, '"' | ')' | '”' | '!'));
        Some((sentence, bare.ends_with(['?', '？', '؟'])))
    })
}

/// The share of a text that stands in sentences that ask, 0 to 1, by bytes.
pub fn asked_share(text: &str) -> f64 {
    let (mut asked, mut whole) = (0, 0);
    for (sentence, asks) in sentences(text) {
        let length = sentence.trim().len();
        whole += length;
        asked += if asks { length } else { 0 };
    }
    asked as f64 / whole.max(1) as f64
}

/// Where the first sentence ends; `None` of an empty text.
fn end_of_first(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let after = at + char.len_utf8();
        let ends = match char {
            '\n' | '。' | '！' | '？' | '؟' => true,
            '.' | '!' | '?' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if ends {
            return Some(after);
        }
    }
    (!text.is_empty()).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_ask_are_told() {
        let found: Vec<_> = sentences("Fine, thanks. Is v1.2 out?! It is\nready?").collect();
        assert_eq!(found, [("Fine, thanks.", false), (" Is v1.2 out?!", true), (" It is\n", false), ("ready?", true)]);
        assert_eq!(sentences("元気？はい。").map(|(_, asks)| asks).collect::<Vec<_>>(), [true, false]);
        assert_eq!(sentences("").count(), 0);
    }

    #[test]
    fn the_share_that_asks_is_of_the_bytes() {
        for (text, share) in
            [("", 0.0), ("  ", 0.0), ("Fine.", 0.0), ("Why?", 1.0), ("Yes. How?", 0.5), ("はい。元気？", 0.5)]
        {
            assert_eq!(asked_share(text), share, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost(text in "\\PC{0,80}") {
            proptest::prop_assert_eq!(sentences(&text).map(|(sentence, _)| sentence).collect::<String>(), text);
        }
    }
}
