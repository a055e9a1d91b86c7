//! The grammar of languages other than English, as far as closed lists can tell it.

use super::list::List;

/// The language of a text, told by its words of grammar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    /// Also whatever cannot be told.
    #[default]
    English,
    /// With its nouns in capitals.
    German,
    /// Diacritics folded.
    French,
    /// Diacritics folded.
    Spanish,
}

impl Language {
    /// Whether a folded word is one of this language's words of grammar. English ones are known to [`super::role`].
    pub fn is_function(self, word: &str) -> bool {
        let list = match self {
            Language::English => return super::role(word) == super::Role::Function,
            Language::German => GERMAN,
            Language::French => FRENCH,
            Language::Spanish => SPANISH,
        };
        list.holds(word)
    }
}

/// The language most of whose words of grammar stand among the folded `words`; English among equals.
#[inline(never)]
pub fn language<S: AsRef<str>>(words: &[S]) -> Language {
    let count = |language: Language| words.iter().filter(|word| language.is_function(word.as_ref())).count();
    let mut best = (count(Language::English), Language::English);
    for other in [Language::German, Language::French, Language::Spanish] {
        let count = count(other);
        if count > best.0 {
            best = (count, other);
        }
    }
    best.1
}

/// Whether a pair of characters is grammar, or lies across the end of a word, so that it cannot carry a topic.
/// `kana` tells that the text is Japanese, whose words share characters with Chinese grammar.
pub fn is_grammar_pair(pair: &str, kana: bool) -> bool {
    let mut chars = pair.chars();
    let (Some(first), second) = (chars.next(), chars.next()) else { return false };
    if pair.chars().all(is_hiragana) {
        return true;
    }
    if kana {
        return [Some(first), second].into_iter().flatten().any(|char| "はがをにのでともかへやっい何".contains(char));
    }
    pair.chars().any(|char| CHINESE.contains(char)) || KOREAN.contains(&pair)
}

/// Whether a syllable ends words of Korean as a particle or an ending.
pub fn is_korean_ending(char: char) -> bool {
    "은는이가을를의에도로와과야지요나까서".contains(char)
}

/// Whether the character is of the main block of Chinese characters.
pub fn is_ideograph(char: char) -> bool {
    ('\u{4e00}'..='\u{9fff}').contains(&char)
}

/// Whether the character is of the hiragana block.
pub fn is_hiragana(char: char) -> bool {
    ('\u{3041}'..='\u{309f}').contains(&char)
}

/// Characters of Chinese that are grammar wherever they stand.
const CHINESE: &str = "的了吗呢吧是在我你您他她它们这那哪什么怎几请谁很也都就呀啊";

/// Pairs of Korean question words and endings.
const KOREAN: &[&str] = &[
    "어디", "무슨", "어느", "언제", "누구", "누가", "무엇", "뭐야", "얼마", "있어", "있지", "있나", "이야", "하지",
    "나요", "니까", "습니", "까요", "세요", "해요", "어요", "아요", "했지", "했어", "인가", "대한", "우리", "까지",
    "부터",
];

/// Sorted, folded.
#[rustfmt::skip]
const GERMAN: &List = &List::new(&[
    "aber", "alle", "allem", "allen", "aller", "alles", "als", "am", "an", "ans", "auch", "auf", "aus", "bei", "beim", "bekommt", "bin", "bis",
    "bist", "bitte", "da", "dabei", "damit", "danach", "dann", "das", "dass", "dein", "deine", "deinem", "deinen", "deiner", "dem", "den", "denn",
    "der", "des", "dessen", "dich", "die", "dies", "diese", "diesem", "diesen", "dieser", "dieses", "dir", "doch", "dort", "du", "durch", "ein",
    "eine", "einem", "einen", "einer", "eines", "er", "es", "etwas", "euch", "euer", "finde", "finden", "fur", "ganz", "gehen", "geht", "gemacht",
    "genommen", "gibt", "hab", "habe", "haben", "habt", "hat", "hatte", "hatten", "hattest", "heisst", "her", "hier", "hin", "ich", "ihm", "ihn",
    "ihnen", "ihr", "ihre", "ihrem", "ihren", "ihrer", "im", "immer", "in", "ins", "ist", "ja", "jede", "jedem", "jeden", "jeder", "jedes", "jetzt",
    "kann", "kannst", "kein", "keine", "keinem", "keinen", "keiner", "konnen", "konnte", "lautet", "liegt", "machen", "macht", "man", "mehr", "mein",
    "meine", "meinem", "meinen", "meiner", "mich", "mir", "mit", "mochte", "muss", "mussen", "nach", "nicht", "noch", "nun", "nur", "ob", "oder",
    "ohne", "sag", "sagen", "schon", "sehr", "sein", "seine", "seinem", "seinen", "seiner", "seit", "sich", "sie", "sind", "so", "soll", "sollen",
    "sollte", "steht", "uber", "um", "und", "uns", "unser", "unsere", "unserem", "unseren", "unserer", "unter", "viel", "viele", "vom", "von", "vor",
    "wann", "war", "waren", "warum", "was", "wegen", "welche", "welchem", "welchen", "welcher", "welches", "wem", "wen", "wenn", "wer", "werde",
    "werden", "weshalb", "wessen", "wie", "wieder", "wieso", "wieviel", "will", "wir", "wird", "wirst", "wo", "wofur", "woher", "wohin", "womit",
    "wurde", "wurden", "zu", "zum", "zur", "zwischen",
]);

/// Sorted, folded.
#[rustfmt::skip]
const FRENCH: &List = &List::new(&[
    "a", "ai", "appelle", "as", "au", "aucun", "aussi", "autre", "aux", "avait", "avant", "avec", "avez", "avoir", "avons", "c", "ce", "cela",
    "celle", "celui", "ces", "cet", "cette", "chez", "combien", "comme", "comment", "d", "dans", "de", "depuis", "des", "dois", "doit", "donc", "du",
    "elle", "elles", "en", "encore", "es", "est", "estce", "et", "etaient", "etait", "ete", "etes", "etre", "eu", "eux", "faire", "fais", "fait",
    "faut", "fois", "il", "ils", "j", "je", "jusqu", "l", "la", "laquelle", "le", "lequel", "les", "leur", "leurs", "lui", "m", "ma", "mais", "me",
    "meme", "mes", "moi", "mon", "n", "ne", "ni", "nos", "notre", "nous", "on", "ont", "ou", "par", "parce", "pas", "pendant", "peut", "peuvent",
    "peux", "plus", "pour", "pourquoi", "puis", "qu", "quand", "que", "quel", "quelle", "quelles", "quelque", "quelques", "quels", "qui", "quoi", "s",
    "sa", "sans", "se", "sera", "ses", "si", "son", "sont", "sous", "sur", "surtout", "t", "ta", "te", "tes", "toi", "ton", "tous", "tout", "toute",
    "toutes", "tres", "tu", "un", "une", "va", "vers", "veux", "vos", "votre", "vous", "y",
]);

/// Sorted, folded.
#[rustfmt::skip]
const SPANISH: &List = &List::new(&[
    "a", "al", "algo", "ante", "antes", "asi", "aun", "cada", "como", "con", "contra", "cual", "cuales", "cuando", "cuanta", "cuantas", "cuanto",
    "cuantos", "de", "debe", "debo", "del", "desde", "donde", "dos", "durante", "e", "el", "ella", "ellas", "ellos", "en", "entre", "era", "eran",
    "eres", "es", "esa", "esas", "ese", "eso", "esos", "esta", "estaba", "estan", "estas", "este", "esto", "estos", "estoy", "fue", "fueron", "ha",
    "habia", "hace", "hacer", "hago", "han", "has", "hasta", "hay", "he", "hemos", "la", "las", "le", "les", "llama", "lo", "los", "mas", "me", "mi",
    "mia", "mio", "mis", "mucho", "muy", "nada", "ni", "no", "nos", "nosotros", "nuestra", "nuestras", "nuestro", "nuestros", "o", "os", "otra",
    "otro", "para", "pero", "por", "porque", "puede", "puedes", "puedo", "pues", "que", "quien", "quienes", "se", "sea", "ser", "si", "sin", "sobre",
    "son", "su", "sus", "tambien", "tan", "te", "tengo", "ti", "tiempo", "tiene", "tienen", "tu", "tus", "un", "una", "unas", "uno", "unos", "usted",
    "va", "y", "ya", "yo",
]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_for_the_search() {
        for list in [GERMAN, FRENCH, SPANISH] {
            assert!(list.is_sound());
        }
    }

    #[test]
    fn tells_the_language_by_its_grammar() {
        for (text, expected) in [
            ("where is the key of the shed", Language::English),
            ("wo ist der schlussel zum gartenhaus", Language::German),
            ("ou est la cle de la cave", Language::French),
            ("donde esta la llave del trastero", Language::Spanish),
            ("kafka", Language::English),
        ] {
            assert_eq!(language(&text.split(' ').collect::<Vec<_>>()), expected, "{text}");
        }
    }

    #[test]
    fn pairs_of_grammar_carry_no_topic() {
        assert!(is_grammar_pair("です", true) && is_grammar_pair("鍵は", true) && is_grammar_pair("什么", false));
        assert!(!is_grammar_pair("在庫", true) && !is_grammar_pair("会议", false) && !is_grammar_pair("열쇠", false));
    }
}
