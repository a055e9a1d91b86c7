//! Light stemming of languages other than English: the forms of a word are told apart no more once they are brought to one key.

use super::Language;

/// The letters that a key keeps at least.
const SHORTEST: usize = 3;

/// Prefixes of German verbs that a participle's `ge` stands behind.
const SEPARABLE: &[&str] = &["ab", "an", "auf", "aus", "ein", "mit", "nach", "um", "vor", "weg", "zu"];

/// Endings by language, longest first, with the letters that must stay before them.
const FRENCH: &[(&str, usize)] = &[
    ("eraient", 3),
    ("erait", 3),
    ("eait", 4),
    ("aient", 3),
    ("erons", 3),
    ("eront", 3),
    ("ions", 4),
    ("ait", 3),
    ("ais", 3),
    ("era", 3),
    ("ons", 3),
    ("ent", 4),
    ("ant", 4),
    ("ees", 3),
    ("ez", 3),
    ("er", 3),
    ("es", 3),
    ("ee", 3),
    ("ir", 4),
    ("is", 4),
    ("it", 4),
    ("e", 3),
    ("s", 3),
];
const SPANISH: &[(&str, usize)] = &[
    ("abamos", 3),
    ("iendo", 3),
    ("aban", 3),
    ("ando", 3),
    ("amos", 3),
    ("emos", 3),
    ("imos", 3),
    ("aron", 3),
    ("ado", 4),
    ("ada", 4),
    ("ido", 4),
    ("ida", 4),
    ("an", 3),
    ("en", 3),
    ("as", 3),
    ("es", 3),
    ("os", 3),
    ("ar", 3),
    ("er", 3),
    ("ir", 3),
    ("a", 3),
    ("e", 3),
    ("o", 3),
    ("s", 3),
];

/// What the forms of a folded word share. English has a stemmer of its own.
///
/// German follows CISTEM (Weißweiler and Fraser, "Developing a Stemmer for German Based on a Comparative Analysis of Publicly Available Stemmers",
/// 2017) in its beginnings and endings; French and Spanish take one ending off, as Savoy's light stemmers do (2006).
pub fn key(language: Language, word: &str) -> String {
    let mut word = word.to_string();
    match language {
        Language::English => {}
        Language::German => {
            word = umlauts(&word);
            if let Some(rest) = word.strip_prefix("ge").filter(|rest| rest.len() > SHORTEST) {
                word = rest.to_string();
            }
            // `ausgefallen`, `ausfallen`
            let parted =
                SEPARABLE.iter().find_map(|prefix| Some((prefix, word.strip_prefix(prefix)?.strip_prefix("ge")?)));
            if let Some((prefix, rest)) = parted.filter(|(_, rest)| rest.len() > SHORTEST) {
                word = format!("{prefix}{rest}");
            }
            while let Some(shorter) = german_ending(&word) {
                word.truncate(shorter);
            }
            // The index's stemmer leaves one of two letters in some words.
            if let [.., before, last] = word.as_bytes()
                && before == last
            {
                word.pop();
            }
            // `entscheiden`, `entschieden`; short words that differ so are others (`wein`, `wien`).
            if word.len() > 5 {
                word = word.replace("ei", "i").replace("ie", "i");
            }
        }
        Language::French => {
            if let Some(stem) = word.strip_suffix("aux").filter(|stem| stem.len() >= SHORTEST) {
                word = format!("{stem}al");
            } else if word.len() > 4 && word.ends_with("eux") {
                word.pop();
            }
            one_ending(&mut word, FRENCH);
        }
        Language::Spanish => {
            if let Some(stem) = word.strip_suffix("ces").filter(|stem| stem.len() >= 2) {
                word = format!("{stem}z");
            }
            one_ending(&mut word, SPANISH);
        }
    }
    word
}

/// Writes the vowels that stand for umlauts in plain letters (`schluessel`) as folding leaves the umlauts.
pub fn umlauts(word: &str) -> String {
    word.replace("ae", "a").replace("oe", "o").replace("ue", "u")
}

/// How much of a German word is left without its next ending.
fn german_ending(word: &str) -> Option<usize> {
    let length = word.len();
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    if length > 7 && ends(&["ung"]) {
        Some(length - 3)
    } else if length > 5 && ends(&["em", "er", "nd"]) {
        Some(length - 2)
    } else if (length > SHORTEST && ends(&["e", "n", "t"]) || length > SHORTEST + 1 && ends(&["s"]))
        && !ends(&["ss", "nn", "tt", "st"])
    {
        Some(length - 1)
    } else {
        None
    }
}

fn one_ending(word: &mut String, endings: &[(&str, usize)]) {
    let ending = endings.iter().find(|(ending, stays)| word.len() >= ending.len() + stays && word.ends_with(ending));
    if let Some((ending, _)) = ending {
        word.truncate(word.len() - ending.len());
    }
    // `chatte`, `chat`
    let letters = word.as_bytes();
    if let [.., before, last] = letters
        && before == last
        && letters.len() > SHORTEST + 1
    {
        word.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_forms_of_a_word_share_a_key() {
        for (language, families) in [
            (
                Language::German,
                &[
                    &["rechnung", "rechnungen"][..],
                    &["schluessel", "schlussel", "schlusseln"],
                    &["kind", "kinder", "kindern", "kindes"],
                    &["maerz", "marz"],
                    &["tablette", "tabletten", "tablett"],
                    &["morgen", "morgens"],
                    &["haus", "hauser", "haeusern"],
                    &["bauen", "gebaut"],
                    &["ausfall", "ausgefallen"],
                    &["entscheidung", "entschieden", "entscheiden"],
                ][..],
            ),
            (
                Language::French,
                &[
                    &["cle", "cles"],
                    &["reviser", "revisee", "revise", "revisees"],
                    &["chat", "chats", "chatte", "chattes"],
                    &["journal", "journaux"],
                    &["mange", "mangent", "manger", "mangeait"],
                    &["reserve", "reservee", "reservons"],
                ],
            ),
            (
                Language::Spanish,
                &[
                    &["contrato", "contratos"],
                    &["vence", "vencen", "vencer"],
                    &["reunion", "reuniones"],
                    &["luz", "luces"],
                    &["podamos", "podan"],
                ],
            ),
        ] {
            for family in families {
                let keys: Vec<String> = family.iter().map(|word| key(language, word)).collect();
                assert!(keys.iter().all(|key| *key == keys[0]), "{family:?} became {keys:?}");
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_word_has_a_key(word in "\\PC{0,12}", german in "(ae|ue|oe|ss|[a-z]){0,8}(en|er|em|s|t|nd|n)?") {
            for language in [Language::English, Language::German, Language::French, Language::Spanish] {
                proptest::prop_assert!(key(language, &word).len() <= word.len());
                key(language, &german);
            }
        }
    }
}
