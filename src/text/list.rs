/// A closed list of folded words, looked up by their first letter.
#[derive(Debug)]
pub(super) struct List {
    words: &'static [&'static str],
    /// Where the words of each letter begin; last, where those of `z` end.
    starts: [usize; 27],
}

impl List {
    /// The list of these words; they must be sorted, and begin with `a` to `z`.
    pub const fn new(words: &'static [&'static str]) -> List {
        let mut starts = [0; 27];
        let (mut letter, mut at) = (0, 0);
        while letter < starts.len() {
            while at < words.len() && (words[at].as_bytes()[0] as usize) < b'a' as usize + letter {
                at += 1;
            }
            starts[letter] = at;
            letter += 1;
        }
        List { words, starts }
    }

    /// Whether a folded word is on it.
    pub fn holds(&self, word: &str) -> bool {
        let Some(letter) = word.bytes().next().and_then(|first| first.checked_sub(b'a')) else { return false };
        let Some([start, end]) = self.starts.get(usize::from(letter)..).and_then(|rest| rest.first_chunk()) else {
            return false;
        };
        self.words.get(*start..*end).is_some_and(|words| words.contains(&word))
    }
}

/// The first three letters of many words, some hundred to a set: nearly every other word is told apart from them at once.
#[derive(Debug)]
pub(crate) struct Beginnings([u64; 64]);

impl Beginnings {
    /// Those of no words.
    pub const fn new() -> Beginnings {
        Beginnings([0; 64])
    }

    /// And those of one more word, which begins at `from`. One of fewer than three bytes begins nothing but itself.
    pub const fn and(mut self, word: &[u8], from: usize) -> Beginnings {
        let third = if from + 2 < word.len() { word[from + 2] } else { 0 };
        let at = Self::place(word[from], word[from + 1], third);
        self.0[at / 64] |= 1 << (at % 64);
        self
    }

    /// Whether one of the words may begin these bytes.
    pub fn may_begin(&self, bytes: &[u8]) -> bool {
        let Some([first, second]) = bytes.first_chunk() else { return false };
        let at = Self::place(*first, *second, bytes.get(2).copied().unwrap_or(0));
        self.0.get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }

    const fn place(first: u8, second: u8, third: u8) -> usize {
        ((first as usize * 31 + second as usize) * 31 + third as usize) % 4096
    }
}

#[cfg(test)]
impl List {
    /// Whether every word is where it is looked for.
    pub fn is_sound(&self) -> bool {
        self.words.is_sorted() && self.words.iter().all(|word| self.holds(word))
    }
}

#[cfg(test)]
mod tests {
    use super::List;

    #[test]
    fn only_what_is_on_it_is_held() {
        let list = List::new(&["apple", "apricot", "melon", "zucchini"]);
        assert!(list.is_sound());
        for word in ["", "a", "apples", "banana", "Melon", "zz", "été", "{", "`", "1"] {
            assert!(!list.holds(word), "{word}");
        }
        assert!(!List::new(&["banana", "apple"]).is_sound());
    }
}
