use serde::{Deserialize, Serialize};

use super::forms::{is_seam, merged};
use super::linked::lend;
use super::{Mask, Query};
use crate::index::{Merged, Nearly, Postings, Probe, answer_term, idf};
use crate::snapshot::Segment;
use crate::text::{Kind, Role};

/// How one segment is searched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SearchConfig {
    /// Hits that the lexical ranking hands on. Default 20.
    pub lexical_limit: usize,
    /// Hits that the semantic ranking hands on. Default 10.
    pub semantic_limit: usize,
    /// Records whose vectors are compared in full, where a store has more than twice as many: those whose signs agree best with the prompt's. At least
    /// this many, and a twelfth of the store. Default 2048: of the ten nearest of 10,000 or 100,000 short statements to a question, nine in ten are
    /// among them (hash embedding: .92 and .86; of the nearest alone .96 and .94).
    pub semantic_candidates: usize,
    /// How the two are merged. Default: weighted scores.
    pub fusion: FusionMethod,
    /// Share of the semantic ranking in a weighted merge, 0 to 1; in RRF its weight against `1 - share`. `None` takes the model's own default.
    pub semantic_share: Option<f32>,
    /// The constant of reciprocal rank fusion. Default 60.
    pub rrf_k: f32,
    /// What words of every request count for, against 1 for words of content.
    pub generic_weight: f32,
    /// What the words of a name count for, against 1 for words of content, where records are about, or by, whom it names: that factor already tells them
    /// apart. Default 0.6; level from 0.3 to 1.
    pub name_weight: f32,
    /// How much of a session's or document's score its records receive. Default 0.4; level from 0.2 to 0.6.
    pub group_weight: f32,
    /// Factor for records about, or by, somebody whom the prompt names. Default 1.75; level from 1.5 to 2.
    pub who_boost: f32,
    /// The same for whom it names after somebody else: `What did Ana tell Jo?` is mostly answered by Ana. Default 1.4; level from 1.3 to 1.5.
    pub other_boost: f32,
    /// Factor for records that list as an entity somebody whom the prompt names. Default 1.3.
    pub mention_boost: f32,
    /// What a date in the prompt counts for, against 1 for words of content. Default 1.25; level from 0.75 to 1.5.
    pub date_weight: f32,
    /// Days after a date in the prompt over which records still count for it, less and less: people tell afterwards what happened. Default 10; level
    /// from 5 to 20.
    pub date_days: f32,
    /// What holding the kind of answer that is asked for counts for (a time for `when`, a quantity for `how many`), against 1 for words of content.
    pub answer_weight: f32,
    /// The most that a record gains by what the best other hits are linked to: near texts, shared names, one community. 0 switches links
    /// off.
    pub links_weight: f32,
    /// The most that a record learned since the snapshot gains by its place among its kind. Default 0.1; 0 switches that ranking off.
    pub learned_weight: f32,
}

/// How two rankings become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FusionMethod {
    /// Both scores over the best of their kind, weighted and added.
    Weighted,
    /// Reciprocal rank fusion: the sum of weight / (k + rank).
    /// Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet" (2009).
    Rrf,
}

impl Default for SearchConfig {
    fn default() -> Self {
        SearchConfig {
            lexical_limit: 20,
            semantic_limit: 10,
            semantic_candidates: 2048,
            fusion: FusionMethod::Weighted,
            semantic_share: None,
            rrf_k: 60.0,
            generic_weight: 0.3,
            name_weight: 0.6,
            group_weight: 0.4,
            who_boost: 1.75,
            other_boost: 1.4,
            mention_boost: 1.3,
            date_weight: 1.25,
            date_days: 10.0,
            answer_weight: 2.0,
            links_weight: 0.05,
            learned_weight: 0.1,
        }
    }
}

/// What the semantic side brings: the prompt's vector, and the share it has by default.
#[derive(Clone, Debug)]
pub struct Side {
    /// The prompt's vector, by the segment's own model.
    pub vector: Probe,
    /// Default share of the semantic ranking, 0 to 1.
    pub share: f32,
}

/// One record that was found, with what it was found by.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hit {
    /// Which of the searched parts it is in.
    pub part: u8,
    /// Number in the segment.
    pub record: u32,
    /// The fused score, 0 to 1 in a weighted merge.
    pub score: f32,
    /// BM25 with everything that multiplies or adds to it.
    pub lexical: f32,
    /// The part of it that its session or document brought.
    pub group: f32,
    /// The factor for being about, or by, somebody whom the prompt names.
    pub who: f32,
    /// How close its time is to what the prompt names, 0 to 1.
    pub date: f32,
    /// Cosine with the prompt, if there are vectors.
    pub semantic: Option<f32>,
    /// Place in the lexical ranking, from 1.
    pub lexical_rank: Option<u32>,
    /// Place in the semantic ranking, from 1.
    pub semantic_rank: Option<u32>,
    /// What the fused score is made of.
    pub lexical_share: f32,
    /// See `lexical_share`.
    pub semantic_share: f32,
    /// How much the best other hits are linked to it, 0 to 1.
    pub links: f32,
    /// What that adds to the fused score.
    pub links_share: f32,
    /// Place in the ranking of what was learned since the snapshot, from 1.
    pub learned_rank: Option<u32>,
    /// What that adds to the fused score.
    pub learned_share: f32,
    /// Matched IDF over query IDF, topical terms only, terms absent from the store charged at the maximum.
    pub coverage: f32,
    /// The matched IDF itself.
    pub matched_idf: f32,
    /// Indexes into [`Found::terms`] of the topical terms that the record itself holds.
    pub matched: smallvec::SmallVec<[u8; 8]>,
}

impl Hit {
    /// The fused score without what links and a place among what was learned lent to it: what may admit a record.
    pub fn direct(&self) -> f32 {
        self.score - self.links_share - self.learned_share
    }
}

/// A query term as one store knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct TermStatistics {
    /// Number of records that hold it themselves.
    pub frequency: usize,
    /// Its inverse document frequency.
    pub idf: f32,
    /// Whether it may admit a record.
    pub topical: bool,
    /// Whether it is part of a name that visible records are about or by.
    pub name: bool,
}

/// What a search brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Best first.
    pub hits: Vec<Hit>,
    /// The query's terms, in its order.
    pub terms: Vec<TermStatistics>,
    /// Sum of the IDF of the topical terms.
    pub query_idf: f32,
    /// Keys of the names in the prompt that visible records are about or by.
    pub names: Vec<String>,
    /// Number of records that the view may retrieve.
    pub visible: usize,
    /// How many of them are of a time that the prompt names.
    pub dated: usize,
    /// How many of them hold the kind of answer that is asked for.
    pub answering: usize,
    /// Share that the semantic ranking was given.
    pub semantic_share: f32,
    /// The highest cosine of any visible record.
    pub best_similarity: f32,
    /// How far that stands above the mean cosine of the records, whatever the level that the model's cosines have.
    pub nearness: f32,
}

/// Buffers that live from search to search.
#[derive(Debug, Default)]
pub struct Scratch {
    /// In [`UNIT`]s.
    scores: Vec<u32>,
    groups: Vec<u32>,
    dates: Vec<f32>,
    who: Vec<f32>,
    nearly: Nearly,
}

/// What one point of a score is worth. Scores are whole numbers, so that they are the same in whatever order they are added up.
const UNIT: f32 = 1.0 / (WEIGHT_STEPS * 255.0);
/// Steps of a term's weight from 0 to 1.
const WEIGHT_STEPS: f32 = 1024.0;
/// The highest weight, above the IDF in any store that fits: with it, the most terms of a query and those of a group stay below 2³² together.
const MAX_WEIGHT: f32 = 32.0;

/// One of the segments that are searched together.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The records and their indexes.
    pub segment: &'a Segment,
    /// Who may be seen.
    pub mask: &'a Mask,
    /// The prompt's vector, if this segment has vectors of its model.
    pub side: Option<&'a Side>,
}

/// The posting lists of a query in one segment.
struct Bound<'a> {
    terms: Vec<Postings<'a>>,
    /// Of the prompt's possible names, those that are somebody's.
    names: Vec<(usize, Postings<'a>)>,
    /// Records that hold the kind of answer that is asked for.
    answers: Postings<'a>,
    groups: Vec<Postings<'a>>,
}

impl<'a> Bound<'a> {
    #[inline(never)]
    fn new(segment: &'a Segment, query: &Query, forms: &'a [Option<Merged>]) -> Self {
        let index = segment.lexical();
        let groups = segment.group_lexical();
        let list = |term: &str| index.find(term).map(|at| index.postings(at)).unwrap_or_default();
        Bound {
            terms: query
                .terms
                .iter()
                .zip(forms)
                .map(|(term, forms)| forms.as_ref().map_or_else(|| list(&term.term), Merged::postings))
                .collect(),
            names: index.names(query.names()),
            answers: query.expects.map(|kind| list(&answer_term(kind))).unwrap_or_default(),
            groups: query
                .terms
                .iter()
                .map(|term| groups.find(&term.term).map(|at| groups.postings(at)).unwrap_or_default())
                .collect(),
        }
    }
}

/// Keys of the names in the prompt that visible records are about or by, in order.
pub fn names_in(parts: &[Part<'_>], query: &Query) -> Vec<String> {
    let lists = parts.iter().map(|part| (part.mask, part.segment.lexical().names(query.names())));
    named(query, lists.collect::<Vec<_>>().iter().map(|(mask, lists)| (*mask, lists.as_slice())))
}

/// Those of the prompt's names that visible records are about or by: each once, in order.
#[inline(never)]
fn named<'a>(query: &Query, lists: impl Iterator<Item = (&'a Mask, &'a [(usize, Postings<'a>)])>) -> Vec<String> {
    let seen = |(mask, lists): (&'a Mask, &'a [(usize, Postings<'a>)])| {
        lists.iter().filter(|(_, list)| visible_own(*list, mask) > 0).map(|(at, _)| *at)
    };
    let places: Vec<usize> = lists.flat_map(seen).collect();
    let mut names: Vec<String> = places.iter().filter_map(|at| query.names().nth(*at)).map(str::to_string).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Searches the parts of a store as one collection: a term's rarity is counted over all of them, so their scores compare.
///
/// Only records that a part's mask sees are counted, scored or returned.
pub fn search(parts: &[Part<'_>], query: &Query, config: &SearchConfig, scratch: &mut Scratch) -> Found {
    let forms: Vec<Vec<Option<Merged>>> = parts.iter().map(|part| merged(part.segment.lexical(), query)).collect();
    let bound: Vec<Bound<'_>> =
        parts.iter().zip(&forms).map(|(part, forms)| Bound::new(part.segment, query, forms)).collect();
    let dated = date_records(parts, query, config, scratch);
    let mut found = statistics(parts, &bound, query, dated);
    let mut first = 0;
    for (number, (part, bound)) in parts.iter().zip(&bound).enumerate() {
        candidates(number as u8, first, *part, bound, query, config, scratch, &mut found);
        first += part.segment.len();
    }
    fuse(&mut found, config);
    lend(parts, &mut found, query, config);
    found
}

#[inline(never)]
fn statistics(parts: &[Part<'_>], bound: &[Bound<'_>], query: &Query, dated: usize) -> Found {
    let visible = parts.iter().map(|part| part.mask.visible()).sum();
    let mut found = Found { visible, dated, ..Found::default() };
    found.names = named(query, parts.iter().zip(bound).map(|(part, bound)| (part.mask, bound.names.as_slice())));
    found.answering = parts.iter().zip(bound).map(|(part, bound)| visible_own(bound.answers, part.mask)).sum();
    let count = |at: usize| -> usize {
        let lists = bound.iter().map(|bound| bound.terms.get(at).copied().unwrap_or_default());
        parts.iter().zip(lists).map(|(part, list)| visible_own(list, part.mask)).sum()
    };
    for (at, term) in query.terms.iter().enumerate() {
        let frequency = count(at);
        let is_name = found.names.iter().any(|name| name.split(' ').any(|word| word == term.surface));
        let slight = term.kind == Kind::Number && term.surface.len() < 2;
        // A date that records answer by their time need not stand in their text.
        let answered = term.dated && dated > 0;
        let seam = frequency == 0 && is_seam(query, at, |neighbour| count(neighbour) > 0);
        let topical = term.role == Role::Content && !is_name && !term.expanded && !slight && !answered && !seam;
        let mut idf = idf(found.visible, frequency);
        if term.kind == Kind::Bigram {
            // Neighbouring pairs share a character, and one that nobody wrote may only lie across two words.
            idf *= if frequency == 0 { ABSENT_PAIR } else { PAIR };
        }
        if topical {
            found.query_idf += idf;
        }
        found.terms.push(TermStatistics { frequency, idf, topical, name: is_name });
    }
    found
}

/// How many visible records hold the term themselves.
#[inline(never)]
fn visible_own(list: Postings<'_>, mask: &Mask) -> usize {
    if mask.is_full() {
        list.own_count()
    } else {
        list.iter().filter(|posting| posting.own && mask.sees(posting.document)).count()
    }
}

/// Scores every record of one part and keeps the best of each ranking.
///
/// `first` is the place of its first record among those of all parts.
#[expect(clippy::too_many_arguments)]
#[inline(never)]
fn candidates(
    number: u8,
    first: usize,
    part: Part<'_>,
    bound: &Bound<'_>,
    query: &Query,
    config: &SearchConfig,
    scratch: &mut Scratch,
    found: &mut Found,
) {
    let Part { segment, mask, side } = part;
    if segment.is_empty() {
        return;
    }
    scratch.scores.resize(segment.len(), 0);
    scratch.scores.fill(0);
    let weights: Vec<f32> = query
        .terms
        .iter()
        .zip(&found.terms)
        .map(|(term, statistics)| {
            let slight = term.role == Role::Generic || (term.dated && found.dated > 0);
            let role = if slight { config.generic_weight } else { 1.0 };
            statistics.idf * role * if statistics.name { config.name_weight } else { 1.0 }
        })
        .collect();
    for (list, weight) in bound.terms.iter().zip(&weights) {
        list.add_to(&mut scratch.scores, steps(*weight));
    }
    let answer_weight = config.answer_weight * idf(found.visible, found.answering);
    bound.answers.add_to(&mut scratch.scores, steps(answer_weight));
    add_groups(segment, &bound.groups, &weights, config.group_weight, scratch);
    let date_weight = config.date_weight * idf(found.visible, found.dated) / UNIT;
    let dates = scratch.dates.get(first..).unwrap_or(&[]);
    for (score, date) in scratch.scores.iter_mut().zip(dates) {
        *score = score.saturating_add((date_weight * date) as u32);
    }
    multiply_names(segment, bound, query, &found.names, config, scratch);

    let lexical = top_scores(&scratch.scores, mask, config.lexical_limit);
    let vectors = segment.vectors();
    let side = side.filter(|_| !vectors.is_empty());
    let semantic = side.map(|side| nearest(part, side, config, scratch)).unwrap_or_default();
    if let (Some((_, best)), Some(side)) = (semantic.first(), side) {
        if *best > found.best_similarity {
            found.best_similarity = *best;
            found.nearness = nearness(part, side, *best);
        }
        found.semantic_share = config.semantic_share.unwrap_or(side.share).clamp(0.0, 1.0);
    }
    let mut records: Vec<u32> =
        lexical.iter().map(|(record, _)| *record).chain(semantic.iter().map(|(record, _)| *record)).collect();
    records.sort_unstable();
    records.dedup();
    for record in records {
        let at = record as usize;
        let group = if scratch.groups.is_empty() { None } else { segment.group(record) };
        let mut hit = Hit {
            part: number,
            record,
            lexical: scratch.scores.get(at).map_or(0.0, |score| *score as f32 * UNIT),
            date: scratch.dates.get(first + at).copied().unwrap_or(0.0),
            who: scratch.who.get(at).copied().unwrap_or(1.0),
            group: group.and_then(|group| scratch.groups.get(group as usize)).map_or(0.0, |score| *score as f32 * UNIT),
            semantic: side.and_then(|side| vectors.similarity(at, &side.vector)),
            lexical_rank: place(&lexical, record),
            semantic_rank: place(&semantic, record),
            ..Hit::default()
        };
        cover(&mut hit, &bound.terms, found);
        found.hits.push(hit);
    }
}

/// The place of a record in a ranking, from 1.
fn place<T>(ranking: &[(u32, T)], record: u32) -> Option<u32> {
    ranking.iter().position(|(hit, _)| *hit == record).map(|at| at as u32 + 1)
}

/// A weight as a whole number.
fn steps(weight: f32) -> u32 {
    (weight.clamp(0.0, MAX_WEIGHT) * WEIGHT_STEPS).round() as u32
}

/// The visible records whose vectors are nearest to the prompt's, best first.
#[inline(never)]
fn nearest(part: Part<'_>, side: &Side, config: &SearchConfig, scratch: &mut Scratch) -> Vec<(u32, f32)> {
    let Part { segment, mask, .. } = part;
    let vectors = segment.vectors();
    let most = config.semantic_candidates.max(config.semantic_limit).max(vectors.len() / 12);
    let similarity = |record: u32| (record, vectors.similarity(record as usize, &side.vector).unwrap_or(0.0));
    if vectors.len() <= most.saturating_mul(2) {
        let seen = (0..vectors.len() as u32).filter(|record| mask.sees(*record));
        return top(seen.map(similarity), config.semantic_limit);
    }
    let sees = |record: u32| mask.sees(record);
    let sees: Option<&dyn Fn(u32) -> bool> = if mask.is_full() { None } else { Some(&sees) };
    let near = vectors.nearly(&side.vector, most, sees, &mut scratch.nearly);
    top(vectors.similarities(near, &side.vector), config.semantic_limit)
}

/// How far the best cosine stands above the mean of a sample of the visible records.
#[inline(never)]
fn nearness(part: Part<'_>, side: &Side, best: f32) -> f32 {
    /// Records that are looked at, evenly spread.
    const SAMPLE: usize = 128;
    let Part { segment, mask, .. } = part;
    let vectors = segment.vectors();
    let step = (vectors.len() / SAMPLE).max(1);
    let seen = (0..vectors.len()).step_by(step).filter(|record| mask.sees(*record as u32));
    let (sum, count) = seen
        .filter_map(|record| vectors.similarity(record, &side.vector))
        .fold((0.0, 0.0), |(sum, count), one| (sum + one, count + 1.0));
    if count > 0.0 { best - sum / count } else { 0.0 }
}

/// Turns the rankings into one order.
#[inline(never)]
fn fuse(found: &mut Found, config: &SearchConfig) {
    let most_who = found.hits.iter().fold(1f32, |most, hit| most.max(hit.who));
    let best_lexical = found.hits.iter().fold(0f32, |best, hit| best.max(hit.lexical));
    let has_vectors = found.hits.iter().any(|hit| hit.semantic.is_some());
    let share = if has_vectors { found.semantic_share } else { 0.0 };
    for hit in &mut found.hits {
        match config.fusion {
            FusionMethod::Weighted => {
                let over = |score: f32, best: f32| if best > 0.0 { (score / best).max(0.0) } else { 0.0 };
                hit.lexical_share = (1.0 - share) * over(hit.lexical, best_lexical);
                hit.semantic_share =
                    share * over(hit.semantic.unwrap_or(0.0), found.best_similarity) * hit.who / most_who;
            }
            FusionMethod::Rrf => {
                let reciprocal =
                    |rank: Option<u32>| rank.map_or(0.0, |rank| (config.rrf_k + 1.0) / (config.rrf_k + rank as f32));
                hit.lexical_share = (1.0 - share) * reciprocal(hit.lexical_rank);
                hit.semantic_share = share * reciprocal(hit.semantic_rank);
            }
        }
        hit.score = hit.lexical_share + hit.semantic_share;
    }
    sort(&mut found.hits);
}

/// Best first; of equals, what was learned last.
pub(super) fn sort(hits: &mut [Hit]) {
    hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.part.cmp(&a.part)).then(a.record.cmp(&b.record)));
}

/// Which topical terms the record holds, and how much of the query that is.
#[inline(never)]
fn cover(hit: &mut Hit, lists: &[Postings<'_>], found: &Found) {
    for (at, (list, statistics)) in lists.iter().zip(&found.terms).enumerate() {
        if !statistics.topical {
            continue;
        }
        if let Some(posting) = list.of(hit.record) {
            if posting.own {
                hit.matched_idf += statistics.idf;
                hit.matched.push(at.min(255) as u8);
            } else {
                hit.matched_idf += CONTEXT_COVERAGE * statistics.idf;
            }
        }
    }
    hit.coverage = if found.query_idf > 0.0 { hit.matched_idf / found.query_idf } else { 0.0 };
}

/// What a pair of characters counts for against a word.
const PAIR: f32 = 0.6;
/// The same for a pair that stands in no visible record.
const ABSENT_PAIR: f32 = 0.3;

/// What a term in a neighbouring record counts for in the coverage.
const CONTEXT_COVERAGE: f32 = 0.5;

/// Lends each record that matched a part of what its session or document scores.
#[inline(never)]
fn add_groups(segment: &Segment, lists: &[Postings<'_>], weights: &[f32], share: f32, scratch: &mut Scratch) {
    scratch.groups.clear();
    if share <= 0.0 || segment.group_count() == 0 {
        return;
    }
    scratch.groups.resize(segment.group_count(), 0);
    for (list, weight) in lists.iter().zip(weights) {
        // The rarity is that among the visible records, so that nothing of other scopes shows.
        list.add_to(&mut scratch.groups, steps(weight * share));
    }
    for (record, score) in (0u32..).zip(&mut scratch.scores) {
        if *score > 0
            && let Some(group) = segment.group(record)
        {
            *score += scratch.groups.get(group as usize).copied().unwrap_or(0);
        }
    }
}

/// How close each record's time is to what the prompt names, part after part. Counts the visible ones of such a time.
#[inline(never)]
fn date_records(parts: &[Part<'_>], query: &Query, config: &SearchConfig, scratch: &mut Scratch) -> usize {
    scratch.dates.clear();
    if query.dates.is_empty() || config.date_weight <= 0.0 {
        return 0;
    }
    let mut dated = 0;
    for Part { segment, mask, .. } in parts {
        if !segment.is_dated() {
            scratch.dates.resize(scratch.dates.len() + segment.len(), 0.0);
            continue;
        }
        for (record, time) in (0u32..).zip(segment.times()) {
            let closeness = time.map_or(0.0, |time| {
                query.dates.iter().fold(0f32, |most, date| most.max(date.closeness(time, config.date_days)))
            });
            dated += usize::from(closeness >= 1.0 && mask.sees(record));
            scratch.dates.push(closeness);
        }
    }
    dated
}

/// Raises records about, or by, somebody whom the prompt names.
#[inline(never)]
fn multiply_names(
    segment: &Segment,
    bound: &Bound<'_>,
    query: &Query,
    names: &[String],
    config: &SearchConfig,
    scratch: &mut Scratch,
) {
    scratch.who.clear();
    if bound.names.iter().all(|(_, list)| list.is_empty()) {
        return;
    }
    scratch.who.resize(segment.len(), 1.0);
    let leading = query.leading(names);
    for (at, list) in &bound.names {
        let leads = query.names().nth(*at).is_some_and(|name| leading.contains(&name));
        let boost = if leads { config.who_boost } else { config.other_boost };
        for posting in list.iter() {
            let factor = if posting.own { boost } else { config.mention_boost };
            if let Some(who) = scratch.who.get_mut(posting.document as usize) {
                *who = who.max(factor);
            }
        }
    }
    for (score, who) in scratch.scores.iter_mut().zip(&scratch.who) {
        *score = (*score as f32 * who) as u32;
    }
}

/// The best `limit` scores above zero that `mask` sees: best first, ties by number.
#[inline(never)]
fn top_scores(scores: &[u32], mask: &Mask, limit: usize) -> Vec<(u32, u32)> {
    let mut best = Best::new(limit);
    let (blocks, rest) = scores.as_chunks::<SCORES>();
    for (block, first) in blocks.iter().zip((0..).step_by(SCORES)) {
        let mut above = above(block, best.bar);
        while above != 0 {
            let at = above.trailing_zeros();
            above &= above - 1;
            let score = block.get(at as usize).copied().unwrap_or(0);
            if score > best.bar && mask.sees(first + at) {
                best.offer(first + at, score);
            }
        }
    }
    for (record, score) in ((scores.len() - rest.len()) as u32..).zip(rest) {
        if *score > best.bar && mask.sees(record) {
            best.offer(record, *score);
        }
    }
    best.ranking
}

/// Scores that are looked at together: few blocks hold one of the best.
const SCORES: usize = 16;

/// A bit for each score above the bar.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
fn above(scores: &[u32; SCORES], bar: u32) -> u32 {
    scores.iter().zip(0..).fold(0, |above, (score, at)| above | u32::from(*score > bar) << at)
}

/// The same, four scores at a time.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
fn above(scores: &[u32; SCORES], bar: u32) -> u32 {
    use core::arch::wasm32::*;

    let bars = u32x4_splat(bar);
    let ([first, second, third, fourth], _) = scores.as_chunks::<4>() else { return 0 };
    let compare = |[a, b, c, d]: &[u32; 4]| u32x4_gt(u32x4(*a, *b, *c, *d), bars);
    let halves = [(compare(first), compare(second)), (compare(third), compare(fourth))];
    let [lower, upper] = halves.map(|(one, other)| i16x8_narrow_i32x4(one, other));
    u32::from(i8x16_bitmask(i8x16_narrow_i16x8(lower, upper)))
}

/// The best `limit` similarities above zero: best first, ties in the order of `similarities`.
#[inline(never)]
fn top(similarities: impl Iterator<Item = (u32, f32)>, limit: usize) -> Vec<(u32, f32)> {
    let mut best = Best::new(limit);
    for (record, similarity) in similarities {
        if similarity > best.bar {
            best.offer(record, similarity);
        }
    }
    best.ranking
}

/// The best so far.
struct Best<T> {
    ranking: Vec<(u32, T)>,
    limit: usize,
    /// What the next one has to exceed.
    bar: T,
}

impl<T: Copy + Default + PartialOrd> Best<T> {
    fn new(limit: usize) -> Self {
        Best { ranking: Vec::with_capacity(limit.min(1024) + 1), limit, bar: T::default() }
    }

    fn offer(&mut self, record: u32, score: T) {
        let at = self.ranking.partition_point(|(_, other)| *other >= score);
        self.ranking.insert(at, (record, score));
        self.ranking.truncate(self.limit);
        if self.ranking.len() == self.limit {
            self.bar = self.ranking.last().map_or(T::default(), |(_, score)| *score);
        }
    }
}
