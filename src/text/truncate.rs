/// The longest sensible beginning of `text` within `max` bytes: all of it if it fits, else up to a
/// sentence end, else up to a word end, if one lies in the last quarter, else up to a whole
/// character, and not inside an emoji sequence or before an accent if that can be helped. Trailing
/// white space is dropped. Never longer than `max`; never panics.
pub fn truncate(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let hard = text.floor_char_boundary(max);
    let end = cluster_boundary(text, hard);
    let (head, rest) = text.split_at_checked(end).unwrap_or((text, ""));
    let least = end - end / 4;
    let mut word_end = None;
    let mut after = rest.chars().next();
    for (at, char) in head.char_indices().rev() {
        let next = at + char.len_utf8();
        if next <= least {
            break;
        }
        let breaks = after.is_some_and(char::is_whitespace);
        let ends_sentence = match char {
            '。' | '！' | '？' | '\n' => true,
            '.' | '!' | '?' | '…' | '।' => breaks,
            _ => false,
        };
        if ends_sentence {
            return head.get(..next).unwrap_or_default().trim_end();
        }
        if breaks && word_end.is_none() {
            word_end = Some(next);
        }
        after = Some(char);
    }
    head.get(..word_end.unwrap_or(end)).unwrap_or_default().trim_end()
}

/// `hard`, or the start of the cluster that it would split; clusters of more than 16 characters are split.
fn cluster_boundary(text: &str, hard: usize) -> usize {
    let mut end = hard;
    for _ in 0..16 {
        let Some((head, rest)) = text.split_at_checked(end) else {
            break;
        };
        let splits = head.ends_with(is_joiner) || rest.starts_with(continues);
        match head.chars().next_back() {
            Some(last) if splits => end -= last.len_utf8(),
            Some(_) => return end,
            None => break,
        }
    }
    hard
}

fn is_joiner(char: char) -> bool {
    matches!(char, '\u{200b}'..='\u{200d}' | '\r')
}

/// Characters that belong to the one before: accents, signs, selectors, skin tones, joiners.
fn continues(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{5b0}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{93a}'..='\u{94f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}'
        | '\u{20d0}'..='\u{20ff}' | '\u{200c}' | '\u{200d}' | '\u{3099}' | '\u{309a}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cuts_where_a_reader_would() {
        let cases = [
            ("short", 10, "short"),
            ("exact", 5, "exact"),
            ("One is done. Two is not.", 14, "One is done."),
            ("One is done. Two is not.", 12, "One is done."),
            ("seven eight nine", 13, "seven eight"),
            ("seven eight nine", 11, "seven eight"),
            ("A.B version 2.0 of", 15, "A.B version 2.0"),
            ("unbroken", 4, "unbr"),
            ("first line\nsecond", 12, "first line"),
            ("これは文。次の文です。", 18, "これは文。"),
            ("日本語テキスト", 10, "日本語"),
            ("cafe\u{301}s", 5, "caf"),
            ("ab👩\u{200d}💻", 9, "ab"),
            ("ab👩🏽", 7, "ab"),
            ("é", 1, ""),
            ("anything", 0, ""),
        ];
        for (text, max, expected) in cases {
            assert_eq!(truncate(text, max), expected, "{text:?} in {max}");
        }
    }

    proptest! {
        #[test]
        fn is_a_prefix_within_bounds(text in "(.|\n|[ .!?]|\u{200d}|\u{301}){0,60}", max in 0_usize..120) {
            let cut = truncate(&text, max);
            prop_assert!(cut.len() <= max);
            prop_assert!(text.starts_with(cut));
            if text.len() <= max {
                prop_assert_eq!(cut, &text);
            }
        }

        #[test]
        fn keeps_most_of_what_fits(text in "[a-z .]{0,200}", max in 8_usize..120) {
            let cut = truncate(&text, max);
            // At most a quarter is given up for a better end, besides white space.
            let kept = text.get(..text.len().min(max)).unwrap();
            prop_assert!(cut.len() >= kept.len() - kept.len() / 4 || kept.get(cut.len()..).unwrap().starts_with([' ', '.']) , "{:?} of {:?}", cut, kept);
        }
    }
}
