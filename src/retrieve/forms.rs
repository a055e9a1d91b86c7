//! Other forms of a prompt's words, found in what a store holds: inflected words, umlauts in plain letters and compounds of languages other than
//! English, single characters among pairs. The index stays the same for all languages; only a prompt that needs them pays for them.

use super::Query;
use crate::index::{Lexical, Merged};
use crate::text::{self, Kind, Language, Role};

/// What a compound counts for that holds the word, against 1 for the word itself.
const COMPOUND: f32 = 0.7;
/// The fewest letters of a word that is looked for in compounds.
const SHORTEST_PART: usize = 4;
/// The fewest letters that must be left of a compound.
const SHORTEST_REST: usize = 3;

/// One term of the prompt as it is looked for.
struct Wanted {
    /// Number among the query's terms.
    at: usize,
    /// The word as written, umlauts made plain.
    surface: String,
    /// What its forms share.
    key: String,
}

/// The merged lists of the query's terms that have other forms in the index; `None` for the others.
#[inline(never)]
pub fn merged(index: Lexical<'_>, query: &Query) -> Vec<Option<Merged>> {
    let mut found: Vec<Vec<(usize, f32)>> = vec![Vec::new(); query.terms.len()];
    words(index, query, &mut found);
    lone(index, query, &mut found);
    let list = |(number, share): &(usize, f32)| (index.postings(*number), *share);
    let merge = |(at, forms): (usize, &Vec<(usize, f32)>)| {
        let mut forms = forms.clone();
        forms.extend(query.terms.get(at).and_then(|term| index.find(&term.term)).map(|number| (number, 1.0)));
        Merged::new(&forms.iter().map(list).collect::<Vec<_>>())
    };
    found.iter().enumerate().map(|forms| (!forms.1.is_empty()).then(|| merge(forms))).collect()
}

#[inline(never)]
fn words(index: Lexical<'_>, query: &Query, found: &mut [Vec<(usize, f32)>]) {
    let language = query.language;
    if language == Language::English {
        return;
    }
    let german = language == Language::German;
    let wanted: Vec<Wanted> = query
        .terms
        .iter()
        .enumerate()
        .filter(|(_, term)| term.kind == Kind::Word && is_plain(term.surface.as_bytes()))
        .map(|(at, term)| Wanted {
            at,
            surface: if german { text::umlauts(&term.surface) } else { term.surface.clone() },
            key: text::key(language, &term.surface),
        })
        .collect();
    let mut filter = Filter::default();
    for wanted in &wanted {
        filter.heads.insert(head(wanted.key.as_bytes()));
        if german {
            filter.tails.insert(tail(wanted.key.as_bytes(), 0));
        }
    }
    for number in 0..index.term_count() {
        let Some(term) = index.term(number).filter(|term| is_plain(term) && filter.may_match(term)) else { continue };
        let Ok(term) = std::str::from_utf8(term) else { continue };
        let key = text::key(language, term);
        for wanted in &wanted {
            let share = if key == wanted.key {
                1.0
            } else if german && is_compound(&key, &wanted.key, &wanted.surface) {
                COMPOUND
            } else {
                continue;
            };
            if let Some(forms) = found.get_mut(wanted.at) {
                forms.push((number, share));
            }
        }
    }
}

/// Whether one of two words ends in the other, or what is stored begins with the word as it was written and goes on with another.
fn is_compound(stored: &str, key: &str, surface: &str) -> bool {
    let holds = |whole: &str, part: &str, rest: usize| part.len() >= SHORTEST_PART && whole.len() >= part.len() + rest;
    holds(stored, key, SHORTEST_REST) && stored.ends_with(key)
        || holds(stored, surface, SHORTEST_REST + 1) && stored.starts_with(surface)
        || holds(key, stored, SHORTEST_REST) && key.ends_with(stored)
}

/// Characters that stand alone, followed by grammar, found in every pair that holds them.
#[inline(never)]
fn lone(index: Lexical<'_>, query: &Query, found: &mut [Vec<(usize, f32)>]) {
    let wanted: Vec<(usize, char)> = query
        .terms
        .iter()
        .enumerate()
        .filter(|(_, term)| term.kind == Kind::Bigram && term.lone && term.role == Role::Content)
        .filter_map(|(at, term)| Some((at, term.term.chars().next()?)))
        .collect();
    if wanted.is_empty() {
        return;
    }
    for number in 0..index.term_count() {
        let Some(term) = index.term(number).filter(|term| (3..=8).contains(&term.len()) && !is_plain(term)) else {
            continue;
        };
        let Ok(term) = std::str::from_utf8(term) else { continue };
        for (at, char) in &wanted {
            if term.contains(*char)
                && let Some(forms) = found.get_mut(*at)
            {
                forms.push((number, 1.0));
            }
        }
    }
}

/// Words that cannot match are passed over by two letters, before their key is made.
#[derive(Default)]
struct Filter {
    heads: Pairs,
    tails: Pairs,
}

impl Filter {
    fn may_match(&self, term: &[u8]) -> bool {
        self.heads.holds(head(term))
            || term.strip_prefix(b"ge").is_some_and(|rest| self.heads.holds(head(rest)))
            || (0..=5).any(|ending| self.tails.holds(tail(term, ending)))
    }
}

/// A set of pairs of letters.
#[derive(Default)]
struct Pairs([u32; 26]);

impl Pairs {
    fn insert(&mut self, (first, second): (u8, u8)) {
        if let Some(row) = self.0.get_mut(first.wrapping_sub(b'a') as usize) {
            *row |= 1u32.wrapping_shl(u32::from(second.wrapping_sub(b'a')));
        }
    }

    fn holds(&self, (first, second): (u8, u8)) -> bool {
        let row = self.0.get(first.wrapping_sub(b'a') as usize).copied().unwrap_or(0);
        row >> (second.wrapping_sub(b'a') & 31) & 1 == 1
    }
}

/// The first two letters, an umlaut in plain letters taken for one.
fn head(word: &[u8]) -> (u8, u8) {
    match word {
        [first @ (b'a' | b'o' | b'u'), b'e', second, ..] | [first, second, ..] => (*first, *second),
        _ => (0, 0),
    }
}

/// The last two letters before an ending.
fn tail(word: &[u8], ending: usize) -> (u8, u8) {
    match word.get(..word.len().saturating_sub(ending)) {
        Some([.., first, second]) => (*first, *second),
        _ => (0, 0),
    }
}

/// Whether folding left nothing but plain letters: a term that is not a word of its own kind has others.
fn is_plain(term: &[u8]) -> bool {
    term.len() > 2 && term.iter().all(u8::is_ascii_lowercase)
}

/// Whether a pair that no record holds only lies across two words: its neighbours in the prompt are held, or grammar.
pub fn is_seam(query: &Query, at: usize, held: impl Fn(usize) -> bool) -> bool {
    let Some(pair) = query.terms.get(at).filter(|term| term.kind == Kind::Bigram && term.role == Role::Content) else {
        return false;
    };
    let reads = |neighbour: Option<usize>, adjoins: &dyn Fn(&str) -> bool| {
        neighbour.is_some_and(|at| {
            query.terms.get(at).is_some_and(|term| {
                term.kind == Kind::Bigram && adjoins(&term.term) && (term.role != Role::Content || held(at))
            })
        })
    };
    reads(at.checked_sub(1), &|term| term.chars().last() == pair.term.chars().next())
        && reads(Some(at + 1), &|term| term.chars().next() == pair.term.chars().last())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compounds_hold_their_parts() {
        let compound = |stored: &str, asked: &str| {
            let key = |word: &str| text::key(Language::German, word);
            is_compound(&key(stored), &key(asked), asked)
        };
        for (stored, asked) in [
            ("ersatzschlussel", "schlussel"),
            ("bucherregal", "regal"),
            ("bucherregal", "bucher"),
            ("wartungsvertrag", "wartung"),
            ("herztablette", "tabletten"),
            ("serverausfall", "server"),
            ("frist", "kundigungsfrist"),
        ] {
            assert!(compound(stored, asked), "{stored}, {asked}");
        }
        for (stored, asked) in [("buchung", "buch"), ("regalen", "regel"), ("garten", "art"), ("schlussel", "ersatz")] {
            assert!(!compound(stored, asked), "{stored}, {asked}");
        }
    }
}
