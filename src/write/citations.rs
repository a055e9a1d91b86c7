use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::text::unescape;

/// Checks that every `[id]` cited in `answer` is one of `ids`, the results that were retrieved.
///
/// What counts as a citation:
/// - `[id]`, and several in one pair of brackets, `[a, b]` or `[a; b]`. An id is read as it is and as the block shows it
///   (`[a&lt;b]`); it may itself contain brackets, commas and spaces if it was retrieved.
/// - Unknown is what has the looks of an id and was not retrieved: no white space, nothing but letters, digits and
///   `- _ : / . # @ ~`, and either both letters and digits in it, or the same classes of characters as one of `ids`. So
///   `[sic]` and `[1]` are unknown ids only where there are ids of bare letters or bare digits.
///
/// What does not: code, fenced or in backticks; `[text](url)`, images, `[text with spaces][ref]`, `[ref]: https://...`;
/// footnotes `[^1]`; task boxes `[x]`; wiki links `[[page]]`; `\[`; bare letters or digits right after a word, as in `list[0]`,
/// unless they are a retrieved id.
///
/// Never panics; time grows with the length of the answer and of the longest id.
pub fn check_citations<S: AsRef<str>>(answer: &str, ids: impl IntoIterator<Item = S>) -> CitationReport {
    let ids: Vec<String> = ids.into_iter().map(|id| id.as_ref().to_owned()).collect();
    let mut check = Check::new(&ids);
    check.answer(answer);
    let cited: BTreeSet<&str> = check.cited.iter().map(String::as_str).collect();
    let mut uncited: Vec<String> = Vec::new();
    let mut seen = BTreeSet::new();
    for id in &ids {
        if !cited.contains(id.as_str()) && seen.insert(id) {
            uncited.push(id.clone());
        }
    }
    CitationReport { uncited, cited: check.cited, unknown: check.unknown }
}

/// What [`check_citations`] found, each id once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CitationReport {
    /// Retrieved ids that the answer cites, in order of first mention.
    pub cited: Vec<String>,
    /// Ids that the answer cites and that were not retrieved, in order of first mention.
    pub unknown: Vec<String>,
    /// Retrieved ids that the answer does not cite, in the order given. No fault in itself.
    pub uncited: Vec<String>,
}

impl CitationReport {
    /// Whether everything cited was retrieved.
    pub fn is_sound(&self) -> bool {
        self.unknown.is_empty()
    }
}

/// The most bytes that are looked through for the end of a bracket, unless a retrieved id is longer.
const LONGEST: usize = 1024;

struct Check<'i> {
    known: BTreeSet<&'i str>,
    looks: BTreeSet<Looks>,
    /// Bytes of the longest id; escaped, it may have nine times as many.
    longest: usize,
    cited: Vec<String>,
    unknown: Vec<String>,
    told: BTreeSet<String>,
}

/// Which classes of characters an id is made of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Looks {
    letters: bool,
    digits: bool,
    signs: bool,
}

impl<'i> Check<'i> {
    fn new(ids: &'i [String]) -> Self {
        Check {
            known: ids.iter().map(String::as_str).collect(),
            looks: ids.iter().filter_map(|id| looks(id)).collect(),
            longest: ids.iter().map(String::len).max().unwrap_or(0),
            cited: Vec::new(),
            unknown: Vec::new(),
            told: BTreeSet::new(),
        }
    }

    fn answer(&mut self, answer: &str) {
        let mut fence: Option<&str> = None;
        for line in answer.lines() {
            let start = line.trim_start();
            let ticks = start.len() - start.trim_start_matches('`').len();
            let waves = start.len() - start.trim_start_matches('~').len();
            let run = start.get(..ticks.max(waves)).unwrap_or_default();
            match fence {
                Some(open) => {
                    if run.starts_with(open) && start.trim_end().len() == run.len() {
                        fence = None;
                    }
                }
                // An info string has no backticks; with them it is inline code.
                None if run.len() >= 3 && (waves > 0 || !start.get(ticks..).unwrap_or_default().contains('`')) => {
                    fence = Some(run)
                }
                None => self.line(line),
            }
        }
    }

    fn line(&mut self, line: &str) {
        let mut closers = BTreeMap::<usize, usize>::new();
        for (at, len) in backticks(line) {
            closers.insert(len, at);
        }
        let mut at = 0;
        while let Some(rest) = line.get(at..) {
            let Some(found) = rest.find(['[', '`', '\\']) else {
                break;
            };
            at += found;
            let here = line.get(at..).unwrap_or_default();
            at += match here.bytes().next() {
                Some(b'\\') => 1 + here.chars().nth(1).map_or(0, char::len_utf8),
                Some(b'`') => {
                    let len = here.len() - here.trim_start_matches('`').len();
                    let closes = closers.get(&len).is_some_and(|&last| last > at);
                    let close = closes.then(|| backticks(here).skip(1).find(|&(_, other)| other == len)).flatten();
                    close.map_or(len, |(close, _)| close + len)
                }
                _ => self.bracket(line, at, here),
            };
        }
    }

    /// Reads what begins with `[` at `at` and returns how many bytes of it are done with.
    fn bracket(&mut self, line: &str, at: usize, here: &str) -> usize {
        let before = line.get(..at).unwrap_or_default();
        let window = |bytes: usize| here.get(..here.floor_char_boundary(bytes.saturating_add(2))).unwrap_or_default();
        let escaped = window(self.longest.saturating_mul(9).min(LONGEST));
        let sought = if escaped.contains('&') { escaped } else { window(self.longest) };
        let known_end = sought
            .match_indices(']')
            .map(|(end, _)| end)
            .find(|&end| here.get(1..end).is_some_and(|inner| self.retrieved(inner).is_some()));
        let Some(end) = known_end.or_else(|| window(LONGEST).find(']')) else { return 1 };
        let inner = here.get(1..end).unwrap_or_default();
        let behind = here.get(end + 1..).unwrap_or_default();
        if behind.starts_with('(') {
            return end + 1;
        }
        if known_end.is_some() {
            self.tell(inner, true);
            return end + 1;
        }
        if inner.contains('[') {
            return 1;
        }
        if behind.starts_with('[') && inner.contains(char::is_whitespace) && !inner.contains([',', ';']) {
            return end + 1 + behind.find(']').map_or(0, |end| end + 1);
        }
        let address = behind.strip_prefix(':').map(str::trim_start).and_then(|rest| rest.split_whitespace().next());
        let defines = before.trim().is_empty() && address.is_some_and(|word| word.contains("://"));
        let wiki = before.ends_with('[') && behind.starts_with(']');
        let bare_ok = !before.ends_with(|char: char| char.is_alphanumeric() || char == '_');
        for part in inner.split([',', ';']).map(str::trim) {
            let claims = !defines && !wiki && self.looks_like_an_id(part, bare_ok);
            self.tell(part, claims);
        }
        end + 1
    }

    /// Notes a retrieved id as cited, and anything else as unknown if it `claims` to be an id.
    fn tell(&mut self, part: &str, claims: bool) {
        let (id, list) = match self.retrieved(part) {
            Some(id) => (id, &mut self.cited),
            None if claims => (unescape(part), &mut self.unknown),
            None => return,
        };
        if self.told.insert(id.clone()) {
            list.push(id);
        }
    }

    fn retrieved(&self, text: &str) -> Option<String> {
        if let Some(id) = self.known.get(text) {
            return Some((*id).to_owned());
        }
        if text.contains('&') {
            return Some(unescape(text)).filter(|text| self.known.contains(text.as_str()));
        }
        None
    }

    fn looks_like_an_id(&self, part: &str, bare_ok: bool) -> bool {
        match looks(part) {
            Some(looks) if looks.letters && looks.digits => true,
            Some(looks) if part != "x" && part != "X" => self.looks.contains(&looks) && (bare_ok || looks.signs),
            _ => false,
        }
    }
}

fn looks(text: &str) -> Option<Looks> {
    let mut looks = Looks { letters: false, digits: false, signs: false };
    for char in text.chars() {
        match char {
            '-' | '_' | ':' | '/' | '.' | '#' | '@' | '~' => looks.signs = true,
            char if char.is_numeric() => looks.digits = true,
            char if char.is_alphabetic() => looks.letters = true,
            _ => return None,
        }
    }
    (looks.letters || looks.digits).then_some(looks)
}

/// Runs of backticks: where they begin and how long they are.
fn backticks(line: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = line.get(at..)?;
        let start = at + rest.find('`')?;
        let run = line.get(start..)?;
        let len = run.len() - run.trim_start_matches('`').len();
        at = start + len;
        Some((start, len))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_are_told_from_other_brackets() {
        // answer, retrieved, cited, unknown
        type Case = (&'static str, &'static [&'static str], &'static [&'static str], &'static [&'static str]);
        let cases: &[Case] = &[
            ("Half to even [r17].", &["r17", "r18"], &["r17"], &[]),
            ("Half to even[r17][r18].", &["r17", "r18"], &["r17", "r18"], &[]),
            ("Both [r18, r17] and [r17; r9].", &["r17", "r18"], &["r18", "r17"], &["r9"]),
            ("No such thing [r99], [r99].", &["r17"], &[], &["r99"]),
            ("Nothing was retrieved [r1].", &[], &[], &["r1"]),
            ("[r17]: as decided", &["r17"], &["r17"], &[]),
            ("See [r17](https://x.example/r99) ![r99](a.png)", &["r17"], &[], &[]),
            ("See [the plan][p1] and [p1]: https://x.example", &["r17"], &[], &["p1"]),
            ("[p1]: https://x.example", &["r17"], &[], &[]),
            ("```\n[r99] `[r17]`\n```\n[r17]", &["r17"], &["r17"], &[]),
            ("~~~~ js\n[r99]\n~~~\n[r98]\n~~~~\n", &["r17"], &[], &[]),
            ("code `a[r99]` and ``b`[r98]`` but ` [r97]", &["r17"], &[], &["r97"]),
            ("```inline``` [r17]", &["r17"], &["r17"], &[]),
            ("footnote[^1], list[0], [sic], [1], [...], [50%]", &["r17"], &[], &[]),
            ("- [x] done\n- [X] done\n- [ ] open", &["abc"], &[], &[]),
            ("numbers [1] [7] list[8] list[2]", &["1", "2"], &["1", "2"], &["7"]),
            ("words [alpha] [beta] kind[gamma]", &["alpha"], &["alpha"], &["beta"]),
            ("dashes [team-notes] [a-b]", &["long-id"], &[], &["team-notes", "a-b"]),
            ("dashes [team-notes] [a-b]", &["r1"], &[], &[]),
            (r"escaped \[r99] and \\[r17]", &["r17"], &["r17"], &[]),
            ("[[r99]] [[r17]]", &["r17"], &["r17"], &[]),
            ("odd [a]b] [c, d] [e f]", &["a]b", "c, d", "e f"], &["a]b", "c, d", "e f"], &[]),
            ("shown [a&lt;b] real [a<b] other [q&lt;1]", &["a<b"], &["a<b"], &[]),
            ("shown [a&#xA;b]", &["a\nb"], &["a\nb"], &[]),
            ("[see r17] [r17", &["r17"], &[], &[]),
            ("引用[記録17]と[記録18]", &["記録17"], &["記録17"], &["記録18"]),
            ("[team:r1] [other:r1]", &["team:r1"], &["team:r1"], &["other:r1"]),
        ];
        for (answer, ids, cited, unknown) in cases {
            let report = check_citations(answer, *ids);
            assert_eq!(
                (&report.cited[..], &report.unknown[..]),
                (&cited.map_owned()[..], &unknown.map_owned()[..]),
                "{answer}"
            );
            assert_eq!(report.is_sound(), unknown.is_empty());
        }
    }

    trait MapOwned {
        fn map_owned(&self) -> Vec<String>;
    }
    impl MapOwned for &[&str] {
        fn map_owned(&self) -> Vec<String> {
            self.iter().map(|id| id.to_string()).collect()
        }
    }

    #[test]
    fn uncited_is_what_is_left() {
        let report = check_citations("Only [b].", ["a", "b", "c", "a"]);
        assert_eq!(report.uncited, ["a", "c"]);
    }

    proptest::proptest! {
        #[test]
        fn no_answer_panics_and_nothing_is_both(answer in "(.|[\\[\\]`()\\\\,&;\n]|r1|r2){0,80}", ids in proptest::collection::vec("(r[0-9]|.{0,6})", 0..5)) {
            let report = check_citations(&answer, &ids);
            for id in &report.cited {
                proptest::prop_assert!(ids.contains(id) && !report.unknown.contains(id) && !report.uncited.contains(id));
            }
            proptest::prop_assert!(report.unknown.iter().all(|id| !ids.contains(id)));
        }

        #[test]
        fn a_retrieved_id_can_always_be_cited(id in "[^`\\\\\n\r]{1,12}") {
            let mut shown = String::new();
            crate::text::escape(&mut shown, &id, crate::text::Style::QUOTED);
            for form in [&id, &shown] {
                let report = check_citations(&format!("So it is. [{form}]"), [&id]);
                proptest::prop_assert_eq!(&report.cited, std::slice::from_ref(&id));
            }
        }
    }
}
