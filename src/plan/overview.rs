//! Questions about memory as a whole: what it is mostly about.

/// What memory is asked for.
const THEMES: &[&str] = &["theme", "themes", "topic", "topics"];

/// Whose memory, so that no other text is meant.
const OWN: &[&str] =
    &["my", "our", "i", "we", "me", "us", "memory", "memories", "notes", "conversations", "conversation"];

/// What else may stand in such a question. Any other word says that something in particular is meant.
#[rustfmt::skip]
const FRAME: &[&str] = &[
    "a", "about", "all", "an", "and", "are", "been", "biggest", "can", "come", "comes", "common", "could", "current", "do", "far", "for", "from",
    "frequent", "give", "have", "in", "is", "keep", "largest", "list", "main", "major", "most", "of", "often", "on", "overall", "overview", "please",
    "recurring", "s", "show", "so", "summarise", "summarize", "summary", "talk", "talked", "talking", "tell", "that", "the", "these", "think", "thinking",
    "to", "top", "up", "what", "whats", "which", "with", "write", "writing", "wrote", "you", "your",
];

/// Whether a prompt asks what the memory is mostly about ("what are my main themes?"). `words` are folded.
pub fn asks_for_themes(words: &[&str]) -> bool {
    let any = |list: &[&str]| words.iter().any(|word| list.contains(word));
    let known = |word: &&str| THEMES.contains(word) || OWN.contains(word) || FRAME.contains(word);
    any(THEMES) && any(OWN) && words.iter().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_as_a_whole_and_nothing_in_particular() {
        let asks = |prompt: &str| asks_for_themes(&prompt.split(' ').collect::<Vec<_>>());
        for prompt in ["what are my main themes", "which topics do i write about most", "list the themes of my notes"] {
            assert!(asks(prompt), "{prompt}");
        }
        for prompt in [
            "what are the main themes of hamlet",
            "what are the main themes",
            "what is my favourite topic in physics",
            "which theme does my editor use",
            "my themes are broken",
            "",
        ] {
            assert!(!asks(prompt), "{prompt}");
        }
    }
}
