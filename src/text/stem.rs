//! English stemming: Porter2, as published by the Snowball project ("The English (Porter2) stemming
//! algorithm"), with irregular forms looked up first. Tests hold it against a second implementation.

use std::borrow::Cow;

/// The stem of a folded word. Words with anything but the letters `a` to `z` come back as they are.
pub fn stem(word: &str) -> Cow<'_, str> {
    if word.len() <= 2 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return Cow::Borrowed(word);
    }
    if let Ok(at) = IRREGULAR.binary_search_by_key(&word, |&(form, _)| form) {
        return Cow::Borrowed(IRREGULAR.get(at).map_or(word, |&(_, base)| base));
    }
    porter2(word)
}

/// Sorted forms of irregular verbs and nouns, with the stem of their base form.
#[rustfmt::skip]
const IRREGULAR: &[(&str, &str)] = &[
    ("ate", "eat"), ("awoke", "awak"), ("beaten", "beat"), ("became", "becom"), ("began", "begin"),
    ("begun", "begin"), ("bent", "bend"), ("bitten", "bite"), ("blew", "blow"), ("blown", "blow"), ("bought", "buy"),
    ("bred", "breed"), ("broke", "break"), ("broken", "break"), ("brought", "bring"), ("built", "build"),
    ("burnt", "burn"), ("came", "come"), ("caught", "catch"), ("children", "child"), ("chose", "choos"),
    ("chosen", "choos"), ("dealt", "deal"), ("drank", "drink"), ("drawn", "draw"), ("dreamt", "dream"),
    ("drew", "draw"), ("driven", "drive"), ("drove", "drive"), ("drunk", "drink"), ("dug", "dig"), ("eaten", "eat"),
    ("fallen", "fall"), ("fed", "feed"), ("feet", "foot"), ("fell", "fall"), ("felt", "feel"), ("flew", "fli"),
    ("flown", "fli"), ("forgot", "forget"), ("forgotten", "forget"), ("fought", "fight"), ("froze", "freez"),
    ("frozen", "freez"), ("gave", "give"), ("geese", "goos"), ("given", "give"), ("gone", "go"), ("got", "get"),
    ("gotten", "get"), ("grew", "grow"), ("grown", "grow"), ("heard", "hear"), ("held", "hold"), ("hid", "hide"),
    ("hidden", "hide"), ("hung", "hang"), ("kept", "keep"), ("knew", "know"), ("known", "know"), ("laid", "lay"),
    ("leapt", "leap"), ("learnt", "learn"), ("led", "lead"), ("lent", "lend"), ("lost", "lose"), ("made", "make"),
    ("meant", "mean"), ("men", "man"), ("met", "meet"), ("mice", "mous"), ("paid", "pay"), ("ran", "run"),
    ("ridden", "ride"), ("risen", "rise"), ("rode", "ride"), ("rose", "rose"), ("said", "say"), ("sang", "sing"),
    ("sat", "sit"), ("seen", "see"), ("sent", "send"), ("sewn", "sew"), ("shaken", "shake"), ("shook", "shake"),
    ("shot", "shoot"), ("shown", "show"), ("slept", "sleep"), ("sold", "sell"), ("sought", "seek"),
    ("spent", "spend"), ("spoke", "speak"), ("spoken", "speak"), ("stolen", "steal"), ("stood", "stand"),
    ("struck", "strike"), ("stuck", "stick"), ("sung", "sing"), ("swam", "swim"), ("swept", "sweep"),
    ("swum", "swim"), ("taken", "take"), ("taught", "teach"), ("teeth", "tooth"), ("threw", "throw"),
    ("thrown", "throw"), ("told", "tell"), ("took", "take"), ("tore", "tear"), ("torn", "tear"),
    ("understood", "understand"), ("went", "go"), ("wives", "wife"), ("woke", "wake"), ("woken", "wake"),
    ("women", "woman"), ("won", "win"), ("wore", "wear"), ("worn", "wear"), ("written", "write"), ("wrote", "write"),
];

/// Sorted words that the algorithm leaves to a list.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("andes", "andes"),
    ("atlas", "atlas"),
    ("bias", "bias"),
    ("cosmos", "cosmos"),
    ("dying", "die"),
    ("early", "earli"),
    ("gently", "gentl"),
    ("howe", "howe"),
    ("idly", "idl"),
    ("lying", "lie"),
    ("news", "news"),
    ("only", "onli"),
    ("singly", "singl"),
    ("skies", "sky"),
    ("skis", "ski"),
    ("sky", "sky"),
    ("tying", "tie"),
    ("ugly", "ugli"),
];

/// Sorted words that stay as they are once step 1a has passed.
const KEPT_AFTER_1A: &[&str] = &["canning", "earring", "exceed", "herring", "inning", "outing", "proceed", "succeed"];

/// Suffixes of step 2, longest first, with what takes their place in R1.
const STEP_2: &[(&str, &str)] = &[
    ("ization", "ize"),
    ("ational", "ate"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("iveness", "ive"),
    ("tional", "tion"),
    ("biliti", "ble"),
    ("lessli", "less"),
    ("entli", "ent"),
    ("ation", "ate"),
    ("alism", "al"),
    ("aliti", "al"),
    ("ousli", "ous"),
    ("iviti", "ive"),
    ("fulli", "ful"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("abli", "able"),
    ("izer", "ize"),
    ("ator", "ate"),
    ("alli", "al"),
    ("bli", "ble"),
];

/// Suffixes of step 3, longest first, with what takes their place in R1.
const STEP_3: &[(&str, &str)] = &[
    ("ational", "ate"),
    ("tional", "tion"),
    ("alize", "al"),
    ("icate", "ic"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ness", ""),
    ("ful", ""),
];

/// Suffixes of step 4, longest first; deleted in R2.
const STEP_4: &[&str] = &[
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous", "ive", "ize", "al",
    "er", "ic",
];

fn porter2(word: &str) -> Cow<'_, str> {
    if let Ok(at) = EXCEPTIONS.binary_search_by_key(&word, |&(form, _)| form) {
        return Cow::Borrowed(EXCEPTIONS.get(at).map_or(word, |&(_, stem)| stem));
    }
    let mut stemmer = Stemmer::new(word);
    stemmer.step_1a();
    if KEPT_AFTER_1A.binary_search(&stemmer.text()).is_err() {
        stemmer.step_1b();
        stemmer.step_1c();
        stemmer.step_2();
        stemmer.step_3();
        stemmer.step_4();
        stemmer.step_5();
    }
    let mut out = stemmer.word;
    out.iter_mut().for_each(|byte| *byte = byte.to_ascii_lowercase());
    match String::from_utf8(out) {
        Ok(out) if out == word => Cow::Borrowed(word),
        Ok(out) => Cow::Owned(out),
        Err(_) => Cow::Borrowed(word),
    }
}

/// A word on its way; a `y` that acts as a consonant is written `Y`.
struct Stemmer {
    word: Vec<u8>,
    /// Where R1 and R2 begin.
    r1: usize,
    r2: usize,
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

/// Where the region after the first non-vowel that follows a vowel begins.
fn region(word: &[u8], from: usize) -> usize {
    let tail = word.get(from..).unwrap_or(&[]);
    tail.windows(2)
        .position(|pair| matches!(pair, [vowel, other] if is_vowel(*vowel) && !is_vowel(*other)))
        .map_or(word.len(), |at| from + at + 2)
}

impl Stemmer {
    fn new(word: &str) -> Self {
        let mut word = word.as_bytes().to_vec();
        let mut after_vowel = true;
        for byte in &mut word {
            if *byte == b'y' && after_vowel {
                *byte = b'Y';
            }
            after_vowel = is_vowel(*byte);
        }
        let r1 = ["gener", "commun", "arsen"]
            .iter()
            .find(|prefix| word.starts_with(prefix.as_bytes()))
            .map_or_else(|| region(&word, 0), |prefix| prefix.len());
        let r2 = region(&word, r1);
        Stemmer { word, r1, r2 }
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.word).unwrap_or("")
    }

    fn ends(&self, suffix: &str) -> bool {
        self.word.ends_with(suffix.as_bytes())
    }

    /// The word without its last `count` letters.
    fn before(&self, count: usize) -> &[u8] {
        self.word.get(..self.word.len().saturating_sub(count)).unwrap_or(&[])
    }

    fn replace(&mut self, count: usize, by: &str) {
        self.word.truncate(self.word.len().saturating_sub(count));
        self.word.extend_from_slice(by.as_bytes());
    }

    fn in_r1(&self, suffix: &str) -> bool {
        self.word.len() >= self.r1 + suffix.len()
    }

    fn in_r2(&self, suffix: &str) -> bool {
        self.word.len() >= self.r2 + suffix.len()
    }

    fn has_vowel(letters: &[u8]) -> bool {
        letters.iter().any(|&byte| is_vowel(byte))
    }

    /// A vowel between non-vowels (the last neither w, x nor Y), or a vowel at the start before a non-vowel.
    fn ends_in_short_syllable(letters: &[u8]) -> bool {
        match letters {
            [vowel, last] => is_vowel(*vowel) && !is_vowel(*last),
            [.., first, vowel, last] => {
                !is_vowel(*first) && is_vowel(*vowel) && !is_vowel(*last) && !matches!(last, b'w' | b'x' | b'Y')
            }
            _ => false,
        }
    }

    fn step_1a(&mut self) {
        if self.ends("sses") {
            self.replace(2, "");
        } else if self.ends("ied") || self.ends("ies") {
            let by = if self.word.len() > 4 { "i" } else { "ie" };
            self.replace(3, by);
        } else if self.ends("us") || self.ends("ss") {
        } else if self.ends("s") && Self::has_vowel(self.before(2)) {
            self.replace(1, "");
        }
    }

    fn step_1b(&mut self) {
        for suffix in ["eedly", "eed"] {
            if self.ends(suffix) {
                if self.in_r1(suffix) {
                    self.replace(suffix.len(), "ee");
                }
                return;
            }
        }
        for suffix in ["ingly", "edly", "ing", "ed"] {
            if self.ends(suffix) {
                if !Self::has_vowel(self.before(suffix.len())) {
                    return;
                }
                self.replace(suffix.len(), "");
                if self.ends("at") || self.ends("bl") || self.ends("iz") {
                    self.replace(0, "e");
                } else if ["bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt"].iter().any(|double| self.ends(double))
                {
                    self.replace(1, "");
                } else if self.word.len() <= self.r1 && Self::ends_in_short_syllable(&self.word) {
                    self.replace(0, "e");
                }
                return;
            }
        }
    }

    fn step_1c(&mut self) {
        if let [_, .., before, b'y' | b'Y'] = self.word.as_slice()
            && !is_vowel(*before)
        {
            self.replace(1, "i");
        }
    }

    fn step_2(&mut self) {
        if let Some((suffix, by)) = STEP_2.iter().find(|(suffix, _)| self.ends(suffix)) {
            if self.in_r1(suffix) {
                self.replace(suffix.len(), by);
            }
        } else if self.ends("ogi") {
            if self.in_r1("ogi") && self.before(3).ends_with(b"l") {
                self.replace(3, "og");
            }
        } else if self.ends("li")
            && self.in_r1("li")
            && matches!(
                self.before(2).last(),
                Some(b'c' | b'd' | b'e' | b'g' | b'h' | b'k' | b'm' | b'n' | b'r' | b't')
            )
        {
            self.replace(2, "");
        }
    }

    fn step_3(&mut self) {
        if let Some((suffix, by)) = STEP_3.iter().find(|(suffix, _)| self.ends(suffix)) {
            if self.in_r1(suffix) {
                self.replace(suffix.len(), by);
            }
        } else if self.ends("ative") && self.in_r2("ative") {
            self.replace(5, "");
        }
    }

    fn step_4(&mut self) {
        if let Some(suffix) = STEP_4.iter().find(|suffix| self.ends(suffix)) {
            if self.in_r2(suffix) {
                self.replace(suffix.len(), "");
            }
        } else if self.ends("ion") && self.in_r2("ion") && matches!(self.before(3).last(), Some(b's' | b't')) {
            self.replace(3, "");
        }
    }

    fn step_5(&mut self) {
        if self.ends("e") {
            if self.in_r2("e") || (self.in_r1("e") && !Self::ends_in_short_syllable(self.before(1))) {
                self.replace(1, "");
            }
        } else if self.ends("l") && self.in_r2("l") && self.before(1).ends_with(b"l") {
            self.replace(1, "");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_word_share_a_stem() {
        for family in [
            &["decide", "decided", "decides", "deciding"][..],
            &["migrate", "migrated", "migrating", "migration"],
            &["buy", "bought", "buys", "buying"],
            &["teach", "taught", "teaches"],
            &["policy", "policies"],
            &["fly", "flew", "flies"],
        ] {
            let stems: Vec<_> = family.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|stem| stem == &stems[0]), "{family:?} became {stems:?}");
        }
    }

    #[test]
    fn lists_are_sorted_for_the_search() {
        assert!(IRREGULAR.is_sorted_by_key(|&(form, _)| form));
        assert!(EXCEPTIONS.is_sorted_by_key(|&(form, _)| form));
        assert!(KEPT_AFTER_1A.is_sorted());
    }

    /// Every base form in the list must be what the algorithm makes of the base word, or the list would split families.
    #[test]
    fn irregular_stems_are_fixed_points_of_their_family() {
        for (form, base) in IRREGULAR {
            assert!(
                porter2(base) == *base || base.len() <= 3 || porter2(&format!("{base}e")) == *base || *base == "rose",
                "{form} → {base}"
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn agrees_with_the_snowball_implementation(word in "(un|re|gener|comm|y)?[a-z]{1,6}(e|i|y|l|t|ss)?(s|ed|ing|ly|ingly|ational|fulness|ization|ement|ies|ied|ative|ogi|ic|al|er|ion|ll|e|ness|biliti|eed|us)?") {
            let oracle = rust_stemmers::Stemmer::create(rust_stemmers::Algorithm::English);
            if word.len() > 2 {
                proptest::prop_assert_eq!(porter2(&word), oracle.stem(&word));
            }
        }
    }
}
