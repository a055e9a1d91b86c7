use super::dates::{Asked, dates_in};
use crate::index::who_key;
use crate::memory::{KnownEntity, Scope, Timestamp};
use crate::plan::continuity;
use crate::text::{self, Answer, Kind, Language, Role};

/// A prompt as the indexes see it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The prompt as it was given.
    pub text: String,
    /// Distinct terms in order of first occurrence, words of grammar left out.
    pub terms: Vec<QueryTerm>,
    /// The dates it names.
    pub dates: Vec<Asked>,
    /// Everything in it that might be a name: runs of up to four words, and known entities.
    names: Names,
    /// What kind of answer it asks for, where it says so.
    pub expects: Option<Answer>,
    /// Number of tokens, grammar included; pairs of characters count half.
    pub length: usize,
    /// The language that its grammar is of.
    pub language: Language,
}

/// One distinct term of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryTerm {
    /// As it is indexed.
    pub term: String,
    /// As it was written, folded.
    pub surface: String,
    /// How it was cut.
    pub kind: Kind,
    /// Whether it may carry the topic.
    pub role: Role,
    /// Whether the user's own names for things brought it in, rather than the prompt's words.
    pub expanded: bool,
    /// Whether it is part of a date.
    pub dated: bool,
    /// Whether it stands in a capital inside a sentence, as names do.
    pub proper: bool,
    /// Whether it is a pair whose first character is a word by itself, before grammar.
    pub lone: bool,
}

/// Keys of what might be names, in the form of [`who_key`], as stretches of one text: nearly all of them are nobody's.
#[derive(Clone, Debug, Default, PartialEq)]
struct Names {
    text: String,
    places: Vec<(usize, usize)>,
    /// Where the prompt's own words end in the text; names that the user's words stand for come after them.
    spoken: usize,
}

/// The longest prompt that is read, in bytes; the rest is passed over.
const MAX_PROMPT_BYTES: usize = 16 << 10;
/// The most distinct terms that are looked up.
const MAX_TERMS: usize = 128;
/// The longest name that is looked up, in words.
const MAX_NAME_WORDS: usize = 4;

impl Names {
    /// Every run of words that is not grammar alone.
    #[inline(never)]
    fn of(words: &[String]) -> Names {
        let text = words.join(" ");
        let mut names = Names { spoken: text.len(), text, places: Vec::with_capacity(words.len() * MAX_NAME_WORDS) };
        let mut start = 0;
        for (at, word) in words.iter().enumerate() {
            let mut end = start;
            let mut grammar = true;
            for (nth, next) in words.iter().skip(at).take(MAX_NAME_WORDS).enumerate() {
                end += usize::from(nth > 0) + next.len();
                grammar = grammar && text::role(next) == Role::Function;
                if !grammar {
                    names.places.push((start, end));
                }
            }
            start += word.len() + 1;
        }
        names
    }

    fn push(&mut self, key: &str) {
        let start = self.text.len();
        self.text.push_str(key);
        self.places.push((start, self.text.len()));
    }
}

impl Query {
    /// Reads a prompt. Known entities that `scope` may see are expanded to their subject forms.
    pub fn new(prompt: &str, entities: &[KnownEntity], scope: &Scope, now: Option<Timestamp>) -> Query {
        let text = head(prompt, MAX_PROMPT_BYTES);
        let mut query = Query { text: text.to_string(), ..Query::default() };
        let mut words: Vec<String> = Vec::new();
        let mut pairs = 0;
        text::tokenize(text, &mut |token| {
            query.length += 1;
            pairs += usize::from(token.kind == Kind::Bigram);
            words.push(token.surface.to_string());
            query.add(&token, false);
        });
        // Pairs overlap: two of them are a word's worth.
        query.length -= pairs / 2;
        query.expects = Answer::asked(&words);
        query.pass_over_continuity(&words);
        let dates = dates_in(&words, now);
        query.dates = dates.asked;
        for word in dates.words.iter().filter_map(|at| words.get(*at)) {
            query.terms.iter_mut().filter(|term| term.surface == *word).for_each(|term| term.dated = true);
        }
        query.read_grammar(&words, text);
        query.names = Names::of(&words);
        if entities.is_empty() {
            return query;
        }
        let spoken = format!(" {} ", words.join(" "));
        for entity in entities.iter().filter(|entity| scope.admits(&entity.scope)) {
            let named = entity.aliases.iter().any(|alias| {
                let key = who_key(alias);
                !key.is_empty() && spoken.contains(&format!(" {key} "))
            });
            if named {
                query.names.push(&who_key(&entity.name));
                text::tokenize(&entity.name, &mut |token| query.add(&token, true));
            }
        }
        query
    }

    /// Words that look back (`where did we leave off`) are not what the prompt looks back at.
    #[inline(never)]
    fn pass_over_continuity(&mut self, words: &[String]) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        for word in continuity(&words).flat_map(|phrase| phrase.split(' ')) {
            self.terms.iter_mut().filter(|term| term.surface == word).for_each(|term| term.role = Role::Generic);
        }
    }

    /// Takes out the grammar of the prompt's language, and marks what looks like a name.
    #[inline(never)]
    fn read_grammar(&mut self, words: &[String], text: &str) {
        let language = text::language(words);
        self.language = language;
        if language != Language::English {
            self.terms.retain(|term| term.kind != Kind::Word || !language.is_function(&term.surface));
        }
        let kana = text.chars().any(text::is_hiragana);
        for term in self.terms.iter_mut().filter(|term| term.kind == Kind::Bigram) {
            if kana && is_lone(&term.surface, words) {
                term.lone = true;
            } else if text::is_grammar_pair(&term.surface, kana) || ends_korean(&term.surface, words) {
                term.role = Role::Generic;
            }
        }
        // Nouns of German all stand in capitals.
        if language == Language::German {
            return;
        }
        let names = capitalised(text);
        for term in &mut self.terms {
            term.proper =
                term.kind == Kind::Word && term.role == Role::Content && !term.dated && names.contains(&term.surface);
        }
    }

    #[inline(never)]
    fn add(&mut self, token: &text::Token<'_>, expanded: bool) {
        let role = if token.kind == Kind::Word { text::role(token.surface) } else { Role::Content };
        let term = text::normalize(token);
        if role == Role::Function || self.terms.len() >= MAX_TERMS || self.terms.iter().any(|known| known.term == term)
        {
            return;
        }
        let surface = token.surface.to_string();
        let kind = token.kind;
        self.terms.push(QueryTerm {
            term: term.into_owned(),
            surface,
            kind,
            role,
            expanded,
            proper: false,
            lone: false,
            dated: false,
        });
    }

    /// The possible names, each in the form of [`who_key`]. One may come twice.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.places.iter().filter_map(|(start, end)| self.names.text.get(*start..*end))
    }

    /// Of these names, given by their keys, the one that the prompt names first, with those that are joined to it (`Ana and Jo`) and those that the
    /// user's own words stand for: what is asked is mostly what they did or said, and the others are whom they did it with.
    pub fn leading(&self, names: &[String]) -> Vec<&str> {
        let mut leading: Vec<&str> = Vec::new();
        let mut end = None;
        for &(start, stop) in &self.names.places {
            let Some(name) = self.names.text.get(start..stop).filter(|name| names.iter().any(|known| known == name))
            else {
                continue;
            };
            let joined = end.is_none_or(|end| {
                self.names
                    .text
                    .get(end..start)
                    .is_none_or(|between| matches!(between.trim(), "" | "and" | "or" | "und" | "et" | "y"))
            });
            if start >= self.names.spoken || joined {
                leading.push(name);
                end = end.max(Some(stop));
            }
        }
        leading
    }

    /// The prompt without these names, given by their keys; the whole of it where nothing else is left.
    pub fn without(&self, names: &[String]) -> String {
        let is_name = |word: &str| {
            let mut known = false;
            text::tokenize(word, &mut |token| {
                known |= names.iter().any(|name| name.split(' ').any(|part| part == token.surface))
            });
            known
        };
        let words: Vec<&str> = self.text.split_whitespace().filter(|word| !is_name(word)).collect();
        if words.is_empty() { self.text.clone() } else { words.join(" ") }
    }

    /// Whether the prompt names a date.
    pub fn names_a_date(&self) -> bool {
        !self.dates.is_empty()
    }
}

/// Whether the pair is a word of one character and the grammar that follows it.
#[inline(never)]
fn is_lone(pair: &str, words: &[String]) -> bool {
    let mut chars = pair.chars();
    let (Some(first), Some(last)) = (chars.next(), chars.next()) else { return false };
    text::is_ideograph(first)
        && first != '何'
        && text::is_hiragana(last)
        && words.iter().enumerate().any(|(at, word)| {
            let before = at.checked_sub(1).and_then(|at| words.get(at)).filter(|before| before.ends_with(first));
            word == pair && before.is_none_or(|before| before.starts_with(text::is_hiragana))
        })
}

/// Whether the pair ends a word of three syllables or more in a particle.
#[inline(never)]
fn ends_korean(pair: &str, words: &[String]) -> bool {
    let mut chars = pair.chars();
    let (Some(first), Some(last)) = (chars.next(), chars.next()) else { return false };
    text::is_korean_ending(last)
        && words.iter().enumerate().any(|(at, word)| {
            word == pair
                && !words.get(at + 1).is_some_and(|next| next.starts_with(last))
                && at.checked_sub(1).and_then(|at| words.get(at)).is_some_and(|before| before.ends_with(first))
        })
}

/// The folded words that stand in a capital other than at the beginning of a sentence.
#[inline(never)]
fn capitalised(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut begins = true;
    let shouted = !text.chars().any(char::is_lowercase);
    for word in text.split_whitespace() {
        let bare = word.trim_start_matches(|char: char| !char.is_alphanumeric());
        let mut chars = bare.chars();
        let capital = chars.next().is_some_and(char::is_uppercase)
            && chars.next().is_some_and(|char| char.is_lowercase() || !shouted && char.is_uppercase());
        if capital && !begins && bare.len() == word.len() {
            text::tokenize(bare, &mut |token| names.push(token.surface.to_string()));
        }
        begins = word.ends_with(['.', '!', '?', ':', ';', '"', '”', '>', '*', '-', '#']);
    }
    names
}

/// The first `most` bytes of `text`, cut at a character.
fn head(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_becomes_terms_names_and_dates() {
        let wife = KnownEntity { name: "rhea".into(), aliases: vec!["my wife".into()], scope: Scope::global() };
        let query = Query::new("What did my wife order in May 2023?", &[wife], &Scope::global(), None);
        let terms: Vec<_> = query.terms.iter().map(|term| term.term.as_str()).collect();
        assert_eq!(terms, ["wife", "order", "2023", "rhea"]);
        assert_eq!(query.dates.len(), 1);
        let dated: Vec<_> = query.terms.iter().filter(|term| term.dated).map(|term| term.term.as_str()).collect();
        assert_eq!(dated, ["2023"]);
        assert!(query.names().any(|key| key == "rhea"));
    }

    #[test]
    fn who_is_named_first_leads() {
        let wife = KnownEntity { name: "rhea".into(), aliases: vec!["my wife".into()], scope: Scope::global() };
        let known = ["ana", "jo", "tim", "rhea"].map(String::from);
        for (prompt, expected) in [
            ("What did Ana tell Jo?", vec!["ana"]),
            ("What did Jo say when Tim and Ana came, and where was Jo?", vec!["jo"]),
            ("Where did Ana, Tim and Jo meet?", vec!["ana", "tim", "jo"]),
            ("What did Jo promise my wife?", vec!["jo", "rhea"]),
            ("Who came?", vec![]),
        ] {
            let query = Query::new(prompt, std::slice::from_ref(&wife), &Scope::global(), None);
            assert_eq!(query.leading(&known), expected, "{prompt}");
        }
    }

    #[test]
    fn an_entity_of_another_scope_is_not_expanded() {
        let scope = Scope::global().with("user", "ana");
        let wife = KnownEntity { name: "rhea".into(), aliases: vec!["my wife".into()], scope };
        let query = Query::new("my wife", &[wife], &Scope::global(), None);
        assert!(query.terms.iter().all(|term| term.term != "rhea"));
    }

    proptest::proptest! {
        #[test]
        fn any_prompt_is_read(prompt in "\\PC{0,300}") {
            Query::new(&prompt, &[], &Scope::global(), None);
        }
    }
}
