use serde::{Deserialize, Serialize};

use crate::text::truncate;

/// What may be written, in tokens as [`CountTokens`] counts them: by default, in UTF-8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Budgets {
    /// Most for the catalog part, delimiters included. Default 400: about ten names, or three with summaries.
    pub catalog_tokens: usize,
    /// Most for the recall part, delimiters and labels included. Default 2048: about ten facts; in bytes, some 500 real tokens.
    pub recall_tokens: usize,
    /// Most for the records of any one provider together, labels included. Default 2048, the whole recall
    /// part: an application with a single store should not lose half of it. Among several,
    /// [`per_source_share`](super::BlockOptions::per_source_share) keeps one from crowding out the others.
    pub per_provider_tokens: usize,
}

impl Default for Budgets {
    fn default() -> Self {
        Budgets { catalog_tokens: 400, recall_tokens: 2048, per_provider_tokens: 2048 }
    }
}

/// Counts the tokens of a text. A function from `&str` to `usize` is one too.
///
/// Nothing is assumed of it beyond giving the same answer for the same text: not that it is additive, not that a
/// longer text counts more. Whatever it says, what is written counts no more than its budget.
pub trait CountTokens {
    /// The number of tokens in `text`.
    fn count(&self, text: &str) -> usize;

    /// How many bytes a token has, roughly. Only where the search for the best fit begins. Default 4.
    fn bytes_per_token(&self) -> f64 {
        4.0
    }
}

/// Counts UTF-8 bytes: no byte-level tokenizer makes more tokens of a text than it has bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Utf8Bytes;

impl CountTokens for Utf8Bytes {
    fn count(&self, text: &str) -> usize {
        text.len()
    }

    fn bytes_per_token(&self) -> f64 {
        1.0
    }
}

impl<F: Fn(&str) -> usize> CountTokens for F {
    fn count(&self, text: &str) -> usize {
        self(text)
    }
}

/// The longest sensible beginning of `text` that counts at most `tokens`, cut as [`truncate`] cuts; empty
/// if none is found. With [`Utf8Bytes`] it is the longest there is; another counter is asked a few dozen times at most.
pub fn fit_text<'t>(text: &'t str, tokens: usize, counter: &dyn CountTokens) -> &'t str {
    let mut cut = truncate(text, to_bytes(tokens, 4.0 * rate(counter)));
    for attempt in 0..80 {
        let count = counter.count(cut);
        if count <= tokens || cut.is_empty() {
            return cut;
        }
        cut = truncate(text, shrunk(cut.len(), tokens, count, attempt));
    }
    ""
}

/// Bytes per token, made safe to multiply with.
pub(super) fn rate(counter: &dyn CountTokens) -> f64 {
    let rate = counter.bytes_per_token();
    if rate.is_finite() { rate.clamp(1.0, 64.0) } else { 4.0 }
}

/// The bytes that so many tokens should have.
pub(super) fn to_bytes(tokens: usize, rate: f64) -> usize {
    if rate == 1.0 { tokens } else { (tokens as f64 * rate) as usize }
}

/// The next length to try when `len` bytes counted `count`, more than `tokens`: in proportion at first, then
/// by halves, and always less, so that trying ends.
pub(super) fn shrunk(len: usize, tokens: usize, count: usize, attempt: usize) -> usize {
    let most = if attempt < 8 { len.saturating_sub(1) } else { len / 2 };
    most.min((len as f64 * tokens as f64 / count.max(1) as f64) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_text_is_fitted_by_whatever_counts() {
        let words = |text: &str| text.split_whitespace().count();
        let text = "one two three four five six seven eight nine ten";
        assert_eq!(fit_text(text, 13, &Utf8Bytes), "one two three");
        assert_eq!(fit_text(text, 10, &words), text);
        let cut = fit_text(text, 3, &words);
        assert!(words(cut) <= 3 && !cut.is_empty(), "{cut}");
        assert_eq!(fit_text(text, 5, &|_: &str| 6), "");
        assert_eq!(fit_text(text, 0, &Utf8Bytes), "");
    }

    proptest! {
        #[test]
        fn a_fitted_text_fits(text in ".{0,200}", tokens in 0_usize..100, salt: u32) {
            let liar = |text: &str| text.len().wrapping_mul(salt as usize | 1) % 97;
            for counter in [&Utf8Bytes as &dyn CountTokens, &liar] {
                let cut = fit_text(&text, tokens, counter);
                prop_assert!(cut.is_empty() || counter.count(cut) <= tokens);
                prop_assert!(text.starts_with(cut));
            }
            prop_assert!(text.len() > tokens || fit_text(&text, tokens, &Utf8Bytes) == text);
        }
    }
}
