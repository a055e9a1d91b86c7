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
