//! The one merge: the store's hits and the providers' answers become ranked evidence.

use super::hints::Hint;
use super::{Config, Request, STORE_ID};
use crate::memory::{Shape, Timestamp};
use crate::plan::Plan;
use crate::rank::{Component, Evidence, Flag, Freshness, Repeatable, SourceRef, Standing, deduplicate};
use crate::retrieve::{Found, Hit, Query, Store, View};
use crate::text::{self, Signature};

/// What a provider's answer is worth by its place alone, against the built-in store's best.
const PROVIDER_PLACE: f64 = 0.5;

pub(super) struct Merge<'a> {
    pub config: &'a Config,
    pub request: &'a Request,
    pub view: &'a View,
    pub query: &'a Query,
    pub plan: &'a Plan,
    pub found: &'a Found,
    /// Hits below the rankings' limits, of which only those count that a hint matches.
    pub deep: &'a [Hit],
    pub hints: &'a [Hint],
    /// Ids that the semantic backend named, best first.
    pub semantic: &'a [String],
    pub store: &'a Store,
    pub searching: bool,
    pub looks_back: bool,
}

impl Merge<'_> {
    /// The store's hits that earn their place, fused with the semantic backend's ranking where there is one.
    #[inline(never)]
    pub fn store_evidence(&self) -> Vec<Draft<'_>> {
        let best = self.found.hits.iter().map(Hit::direct).fold(0.0, f32::max);
        let masks = self.store.masks(self.view);
        let sees = |hit: &Hit| masks.get(usize::from(hit.part)).is_some_and(|mask| mask.sees(hit.record));
        let admitted = |hit: &&Hit| self.admits(hit, best) && sees(hit);
        let mut hits: Vec<Fused> = self.found.hits.iter().filter(admitted).cloned().map(Fused::from).collect();
        // A hint's copies reach deeper than the rankings they are copies of.
        hits.extend(self.deep.iter().filter(admitted).filter(|hit| self.is_hinted(hit)).cloned().map(Fused::from));
        self.add_backend(&mut hits);
        hits.into_iter().map(|fused| self.draft(fused)).collect()
    }

    fn is_hinted(&self, hit: &Hit) -> bool {
        self.store.segment(hit).record(hit.record).is_ok_and(|record| {
            self.hints.iter().any(|hint| hint.matches(&record.subject, &record.source.speaker, &record.predicate))
        })
    }

    /// Reciprocal rank fusion with the ids that the semantic backend named. Ids that may not be retrieved are dropped.
    /// Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms Condorcet" (2009).
    #[inline(never)]
    fn add_backend(&self, hits: &mut Vec<Fused>) {
        let mut named: Vec<&str> = Vec::new();
        for id in self.semantic {
            if !named.contains(&id.as_str()) && self.store.is_retrievable(id, self.view) {
                named.push(id);
            }
        }
        if named.is_empty() {
            return;
        }
        let weight = self.config.semantic_weight;
        let k = f64::from(self.config.search.rrf_k);
        let reciprocal = |place: usize| (k + 1.0) / (k + 1.0 + place as f64) / (1.0 + weight);
        for (place, fused) in hits.iter_mut().enumerate() {
            fused.hit.lexical_share = reciprocal(place) as f32;
            fused.hit.semantic_share = 0.0;
            // The place holds it already.
            fused.hit.links_share = 0.0;
            fused.hit.learned_share = 0.0;
        }
        for (place, id) in named.into_iter().enumerate() {
            let backend = Some((place, weight * reciprocal(place)));
            let Some((part, record)) = self.store.locate(id) else { continue };
            match hits.iter_mut().find(|fused| (fused.hit.part, fused.hit.record) == (part, record)) {
                Some(fused) => fused.backend = backend,
                None => hits.push(Fused { hit: Hit { part, record, ..Hit::default() }, backend, reason: None }),
            }
        }
    }

    /// Words that carry no topic may rank a record and never admit one; what is far below the best is left out of a recall.
    fn admits(&self, hit: &Hit, best: f32) -> bool {
        let topical = self.found.terms.iter().any(|term| term.topical);
        let admission = self.store.model().map_or(1.0, |model| model.admission());
        // Whom the prompt names is what it is about, where that is a topic or there is nothing else.
        let named = hit.who > 1.0 && (!topical || !self.plan.topics.is_empty());
        let by_words = hit.matched_idf > 0.0 || named || hit.date > 0.0;
        let by_meaning = hit.semantic.is_some_and(|similarity| similarity >= admission);
        let near = self.searching || f64::from(hit.direct()) >= self.config.relevance_floor * f64::from(best);
        near && (by_words || by_meaning || self.is_claimed(hit))
    }

    /// Whether a record that holds words of the prompt is of a topic that the plan claims.
    fn is_claimed(&self, hit: &Hit) -> bool {
        let topic =
            |hit: &Hit| self.store.segment(hit).record(hit.record).ok()?.topic.map(|topic| self.title_of(topic));
        hit.lexical > 0.0
            && !self.plan.topics.is_empty()
            && topic(hit).is_some_and(|topic| self.plan.topics.contains(&topic))
    }

    /// Unfinished work, latest first, for a prompt that only looks back.
    #[inline(never)]
    pub fn open_work(&self, limit: usize) -> Vec<Draft<'_>> {
        let masks = self.store.masks(self.view);
        let mut open = Vec::new();
        for ((segment, mask), part) in self.store.segments().into_iter().zip(&*masks).zip(0u8..) {
            for (record, facts) in segment.all_facts().enumerate() {
                if facts.unresolved && mask.sees(record as u32) {
                    open.push((facts.changed, part, record as u32));
                }
            }
        }
        open.sort_by(|a, b| b.cmp(a));
        open.truncate(limit);
        let drafts = open.into_iter().enumerate().map(|(place, (_, part, record))| {
            let score = 1.0 / (1.0 + place as f32);
            let hit = Hit { part, record, score, lexical_share: score, ..Hit::default() };
            self.draft(Fused { hit, backend: None, reason: Some("unresolved, and the prompt looks back") })
        });
        drafts.collect()
    }

    /// What memory is mostly about, the largest theme first, each with the records that it is drawn from.
    #[inline(never)]
    pub fn themes(&self, limit: usize) -> Vec<Draft<'_>> {
        // A record that does not decode leaves no theme standing; the other answers do not come from here.
        let themes = self.store.themes_in(self.view, limit).unwrap_or_default();
        let drafts = themes.into_iter().enumerate().filter_map(|(place, theme)| {
            let first = theme.record_ids.first()?;
            let source =
                |id: &String| SourceRef { provider_id: STORE_ID.to_string(), id: id.clone(), ..SourceRef::default() };
            let mut evidence = Evidence {
                id: format!("theme:{first}"),
                provider_id: STORE_ID.to_string(),
                kind: "theme".to_string(),
                text: if theme.summary.is_empty() { theme.title.clone() } else { theme.summary },
                title: theme.title,
                freshness: self.config.rank.freshness(theme.updated, self.view.now, true),
                changed: theme.updated,
                components: vec![Component::new("theme", theme.size as f64, 1.0 / (1.0 + place as f64))],
                reasons: vec![format!("a theme of {} records", theme.size)],
                sources: theme.record_ids.iter().map(source).collect(),
                scope: theme.scope,
                ..Evidence::default()
            };
            self.stand(&mut evidence, None, 0.0);
            Some(Draft { merge: self, signature: Signature::of(&evidence.text), evidence, unread: None, lapses: None })
        });
        drafts.collect()
    }

    /// A hit with its score, as far as it can be told without reading its record.
    fn draft(&self, fused: Fused) -> Draft<'_> {
        let Fused { hit, backend, .. } = &fused;
        let segment = self.store.segment(hit);
        let facts = self.store.facts(hit.part, hit.record);
        let mut components = vec![Component::new("lexical", f64::from(hit.lexical), f64::from(hit.lexical_share))];
        if let Some(similarity) = hit.semantic {
            components.push(Component::new("semantic", f64::from(similarity), f64::from(hit.semantic_share)));
        }
        if let Some((place, contribution)) = *backend {
            components.push(Component::new("backend", place as f64 + 1.0, contribution));
        }
        if hit.links > 0.0 {
            components.push(Component::new("links", f64::from(hit.links), f64::from(hit.links_share)));
        }
        if let Some(place) = hit.learned_rank {
            components.push(Component::new("learned", f64::from(place), f64::from(hit.learned_share)));
        }
        let in_force = facts.is_some_and(|facts| self.view.is_in_force(&facts));
        let changed = facts.and_then(|facts| facts.changed);
        let scope = facts.and_then(|facts| segment.scopes().get(facts.scope as usize));
        let evidence = Evidence {
            provider_id: STORE_ID.to_string(),
            id: segment.id(hit.record).to_string(),
            freshness: self.config.rank.freshness(changed, self.view.now, in_force),
            changed,
            scope: scope.cloned().unwrap_or_default(),
            unresolved: facts.is_some_and(|facts| facts.unresolved),
            flags: facts.filter(|facts| facts.instruction_like).map(|_| Flag::InstructionLike).into_iter().collect(),
            components,
            ..Evidence::default()
        };
        let signature = segment.signature(hit.record).unwrap_or_default();
        let importance = facts.and_then(|facts| facts.importance);
        let lapses = facts.and_then(|facts| [facts.expires, facts.valid_until].into_iter().flatten().min());
        let mut draft = Draft { merge: self, evidence, signature, unread: Some(fused), lapses };
        // Only a plan's topics, and whether a turn asks, make the score depend on what the record says.
        let turn = self.config.rank.asks != 0.0 && facts.is_some_and(|facts| facts.shape == Shape::Turn);
        if turn || !self.plan.topics.is_empty() {
            draft.whole();
        }
        let asks = if turn { text::asked_share(&draft.evidence.text) } else { 0.0 };
        self.stand(&mut draft.evidence, importance, asks);
        draft
    }

    /// Fills in what a hit's record says.
    #[inline(never)]
    fn read(&self, fused: &Fused, evidence: &mut Evidence) {
        let hit = &fused.hit;
        // A record that does not decode is told by its score and id alone.
        let record = self.store.segment(hit).record(hit.record).unwrap_or_default();
        evidence.reasons = self.reasons(fused);
        evidence.text = if record.statement.is_empty() { record.title.clone() } else { record.statement };
        evidence.sources = vec![SourceRef {
            provider_id: if record.source.provider.is_empty() { STORE_ID.to_string() } else { record.source.provider },
            id: record.id,
            uri: record.source.uri,
            session: record.source.session,
            speaker: record.source.speaker,
        }];
        evidence.topic = record.topic.map(|topic| self.title_of(topic));
        evidence.kind = record.kind;
        evidence.title = record.title;
        evidence.subject = record.subject;
        evidence.predicate = record.predicate;
    }

    #[inline(never)]
    fn reasons(&self, Fused { hit, backend, reason }: &Fused) -> Vec<String> {
        if let Some(reason) = reason {
            return vec![reason.to_string()];
        }
        let mut reasons = Vec::new();
        let terms = hit.matched.iter().filter_map(|at| self.query.terms.get(usize::from(*at)));
        let matched: Vec<&str> = terms.map(|term| term.surface.as_str()).collect();
        if !matched.is_empty() {
            reasons.push(format!("holds {}", matched.join(", ")));
        }
        if hit.who > 1.0 {
            reasons.push("about or by somebody the prompt names".to_string());
        }
        if hit.date > 0.0 {
            reasons.push("of a date the prompt names".to_string());
        }
        if hit.group > 0.0 {
            reasons.push("its session or document matches too".to_string());
        }
        if let Some((place, _)) = backend {
            reasons.push(format!("place {} of the semantic backend", place + 1));
        }
        if let Some(place) = hit.learned_rank {
            reasons.push(format!("place {place} of what was learned since the snapshot"));
        }
        if hit.links > 0.0 {
            reasons.push("linked to what matches best".to_string());
        }
        reasons
    }

    /// A provider's result: half by its place in the provider's own order, half by what of the prompt it holds.
    pub fn of_provider(
        &self,
        mut evidence: Evidence,
        importance: Option<f32>,
        place: usize,
        lapses: Option<Timestamp>,
    ) -> Draft<'_> {
        let mut held = 0.0;
        let terms = text::terms(&format!("{} {}", evidence.title, evidence.text));
        for (term, statistics) in self.query.terms.iter().zip(&self.found.terms) {
            if statistics.topical && terms.contains(&term.term) {
                held += statistics.idf;
            }
        }
        let coverage = if self.found.query_idf > 0.0 { f64::from(held / self.found.query_idf) } else { 0.0 };
        let rank = 61.0 / (61.0 + place as f64);
        evidence.components = vec![
            Component::new("providerRank", place as f64 + 1.0, PROVIDER_PLACE * rank),
            Component::new("coverage", coverage, (1.0 - PROVIDER_PLACE) * coverage),
        ];
        evidence.reasons = vec![format!("place {} of `{}`", place + 1, evidence.provider_id)];
        let in_force = evidence.freshness != Freshness::Historical;
        evidence.freshness = self.config.rank.freshness(evidence.changed, self.view.now, in_force);
        self.stand(&mut evidence, importance, 0.0);
        Draft { merge: self, signature: Signature::of(&evidence.text), evidence, unread: None, lapses }
    }

    /// A record may name its topic by id; readers know it by its title.
    fn title_of(&self, topic: String) -> String {
        let topics = &self.store.catalog().topics;
        let known = topics.iter().find(|known| known.id == topic && self.view.scope.admits(&known.scope));
        known.map_or(topic, |known| known.title.clone())
    }

    fn stand(&self, evidence: &mut Evidence, importance: Option<f32>, asks: f64) {
        let claimed = evidence.topic.as_ref().is_some_and(|topic| self.plan.topics.contains(topic))
            || self.plan.topics.contains(&evidence.title);
        let standing = Standing {
            specificity: self.request.scope.specificity(&evidence.scope),
            importance,
            freshness: evidence.freshness,
            age_days: evidence.changed.zip(self.view.now).map(|(changed, now)| changed.days_until(now)),
            asks,
            unresolved: evidence.unresolved && self.looks_back,
            plan: if claimed { self.plan.confidence } else { 0.0 },
        };
        evidence.components.extend(self.config.rank.components(&standing));
        evidence.score = evidence.components.iter().map(|component| component.contribution).sum();
    }

    /// Drops what a suppressed window hides, promotes what the hints match, orders, folds repeats, and reads the first `most`.
    #[inline(never)]
    pub fn rank(&self, mut drafts: Vec<Draft<'_>>, most: usize) -> Vec<Evidence> {
        if self.store.suppresses_anything() && !self.view.history {
            drafts.retain_mut(|draft| !self.is_suppressed(draft.whole()));
        }
        if !self.hints.is_empty() {
            let mut evidence: Vec<&mut Evidence> = drafts.iter_mut().map(Draft::whole).collect();
            for hint in self.hints {
                hint.promote(&mut evidence, self.store, self.config.rank.hint);
            }
        }
        drafts.sort_by(|a, b| {
            let (a, b) = (&a.evidence, &b.evidence);
            b.score.total_cmp(&a.score).then_with(|| a.provider_id.cmp(&b.provider_id)).then_with(|| a.id.cmp(&b.id))
        });
        let mut drafts = deduplicate(drafts);
        drafts.truncate(most);
        // What does not decode says nothing.
        drafts.into_iter().map(Draft::finish).filter(|evidence| !evidence.text.is_empty()).collect()
    }

    /// Whether the user corrected what this says. Of the store's own records, those that were learned since stand.
    #[inline(never)]
    fn is_suppressed(&self, evidence: &Evidence) -> bool {
        if evidence.provider_id == STORE_ID {
            // Themes are of what may be retrieved, and no record of their name is there.
            return self.store.locate(&evidence.id).is_some() && !self.store.is_retrievable(&evidence.id, self.view);
        }
        self.store.suppresses(&evidence.subject, &evidence.predicate)
    }
}

/// A hit of the store, and its place and share in the semantic backend's ranking.
struct Fused {
    hit: Hit,
    backend: Option<(usize, f64)>,
    /// Why it is here, where it was not found by the prompt's words or meaning.
    reason: Option<&'static str>,
}

impl From<Hit> for Fused {
    fn from(hit: Hit) -> Fused {
        Fused { hit, backend: None, reason: None }
    }
}

/// A result on its way: its score stands, its record is read once somebody has to know what it says.
pub(super) struct Draft<'a> {
    merge: &'a Merge<'a>,
    evidence: Evidence,
    signature: Signature,
    /// The hit whose record is not read yet.
    unread: Option<Fused>,
    /// When it stops being retrievable as it is now: it expires, or its validity ends.
    pub lapses: Option<Timestamp>,
}

impl Draft<'_> {
    fn finish(mut self) -> Evidence {
        self.whole();
        self.evidence
    }
}

impl Repeatable for Draft<'_> {
    fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    fn signature(&self) -> Signature {
        self.signature
    }

    fn whole(&mut self) -> &mut Evidence {
        if let Some(fused) = self.unread.take() {
            self.merge.read(&fused, &mut self.evidence);
        }
        &mut self.evidence
    }
}
