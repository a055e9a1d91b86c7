//! What notes and records say of each other, settled when all are known: which replaces which, and which topics there are.

use std::collections::{HashMap, HashSet};

use super::markdown::{Note, unlink};
use super::{Importer, add_new};
use crate::memory::{Scope, Topic};

/// Where a reference leads.
#[derive(Clone, Copy)]
enum Target {
    Note(usize),
    Record(usize),
}

/// Resolves `supersedes` and `supersededBy` in both directions.
///
/// A note stands for all of its records. What is replaced is hidden only where everyone who sees it sees the replacement
/// too: a note in a narrower scope cannot take a memory away from others.
pub(super) fn supersession(importer: &mut Importer) {
    let names = Names::of(importer);
    // Pairs of (replacement, replaced), by place among the records.
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    let mut reports = Vec::new();
    let spans: Vec<_> = importer.notes.iter().map(|note| note.records.clone()).collect();
    for (at, note) in importer.notes.iter().enumerate() {
        let mut lost = |key: &str, reference: &str, why: &str| {
            let message = format!("`{key}` names `{reference}`, {why}");
            reports.push((note.file.clone(), note.reference_line, message));
        };
        let own = note.records.clone();
        for reference in &note.supersedes {
            match names.find(reference) {
                Some(Target::Note(other)) if other == at => lost("supersedes", reference, ITSELF),
                Some(Target::Note(other)) => {
                    let Some(theirs) = spans.get(other) else {
                        continue;
                    };
                    // The first names all, the others the first: as many pairs as there are records, not their product.
                    pairs.extend(theirs.clone().filter_map(|theirs| Some((own.clone().next()?, theirs))));
                    pairs.extend(own.clone().skip(1).filter_map(|own| Some((own, theirs.clone().next()?))));
                }
                Some(Target::Record(other)) => pairs.extend(own.clone().map(|own| (own, other))),
                None => {
                    lost("supersedes", reference, UNKNOWN);
                    for record in importer.import.records.get_mut(own.clone()).into_iter().flatten() {
                        add_new(&mut record.supersedes, [reference.clone()]);
                    }
                }
            }
        }
        let Some(reference) = &note.superseded_by else {
            continue;
        };
        let successor = match names.find(reference) {
            Some(Target::Note(other)) if other == at => Err(ITSELF),
            Some(Target::Note(other)) => {
                spans.get(other).and_then(|theirs| theirs.clone().next()).ok_or("which holds no record")
            }
            Some(Target::Record(other)) => Ok(other),
            None => Err(UNKNOWN),
        };
        match successor {
            Ok(successor) => pairs.extend(own.map(|own| (successor, own))),
            Err(why) => {
                // The note says that it is out of date: that holds even if what replaced it is not here.
                lost("superseded_by", reference, why);
                for record in importer.import.records.get_mut(own).into_iter().flatten() {
                    record.superseded_by.get_or_insert_with(|| reference.clone());
                }
            }
        }
    }
    // A note's own word hides it whatever the scopes.
    let own_word: HashSet<usize> = importer
        .notes
        .iter()
        .filter(|note| note.superseded_by.is_some())
        .flat_map(|note| note.records.clone())
        .collect();
    for (at, record) in importer.import.records.iter().enumerate() {
        let place = |id: &String| names.records.get(id).copied().filter(|other| *other != at);
        pairs.extend(record.supersedes.iter().filter_map(place).map(|replaced| (at, replaced)));
        pairs.extend(record.superseded_by.iter().filter_map(place).map(|successor| (successor, at)));
    }
    for (successor, replaced) in pairs {
        apply(importer, successor, replaced, own_word.contains(&replaced), &mut reports);
    }
    reports.extend(circles(importer, &names.records));
    for (file, line, message) in reports {
        importer.warning(&file, line, message);
    }
}

const ITSELF: &str = "which is this note itself";
const UNKNOWN: &str = "which no note or record is called";

/// File, line and message of a warning.
type Finding = (String, Option<usize>, String);

fn apply(importer: &mut Importer, successor: usize, replaced: usize, own_word: bool, reports: &mut Vec<Finding>) {
    let records = &importer.import.records;
    let (Some(new), Some(old)) = (records.get(successor), records.get(replaced)) else {
        return;
    };
    let (new_id, old_id) = (new.id.clone(), old.id.clone());
    let said = old.superseded_by.is_some();
    let seen_by_all = old.scope.admits(&new.scope);
    let may_name = new.scope.admits(&old.scope);
    if may_name
        && let Some(new) = importer.import.records.get_mut(successor)
        && !new.supersedes.contains(&old_id)
    {
        new.supersedes.push(old_id.clone());
    }
    if said {
        return;
    }
    if seen_by_all || own_word {
        if let Some(old) = importer.import.records.get_mut(replaced) {
            old.superseded_by = Some(new_id);
        }
    } else {
        let (file, line) = importer.taken.get(&new_id).cloned().unwrap_or_default();
        let message =
            format!("`{new_id}` supersedes `{old_id}` in a narrower scope: `{old_id}` stays for everyone else");
        reports.push((file, line, message));
    }
}

/// Records that replace each other in a circle: all of them are hidden, which nobody means.
fn circles(importer: &Importer, places: &HashMap<String, usize>) -> Vec<Finding> {
    let records = &importer.import.records;
    let next = |at: usize| {
        let successor = records.get(at)?.superseded_by.as_ref()?;
        places.get(successor).copied()
    };
    let mut findings = Vec::new();
    let mut settled: HashSet<usize> = HashSet::new();
    for start in 0..records.len() {
        let mut path: Vec<usize> = Vec::new();
        let mut on_path: HashSet<usize> = HashSet::new();
        let mut at = Some(start);
        while let Some(here) = at {
            if settled.contains(&here) {
                break;
            }
            if !on_path.insert(here) {
                let Some(record) = records.get(here) else {
                    break;
                };
                let (file, line) = importer.taken.get(&record.id).cloned().unwrap_or_default();
                let message = format!("`{}` is superseded in a circle: all of the circle is hidden", record.id);
                findings.push((file, line, message));
                break;
            }
            path.push(here);
            at = next(here);
        }
        settled.extend(path);
    }
    findings
}

/// The names by which notes and records can be referred to.
struct Names {
    exact: HashMap<String, usize>,
    records: HashMap<String, usize>,
    /// By file name or title, in lower case; `None` where several notes share it.
    loose: HashMap<String, Option<usize>>,
}

impl Names {
    fn of(importer: &Importer) -> Names {
        let mut exact = HashMap::new();
        let mut loose: HashMap<String, Option<usize>> = HashMap::new();
        for (at, note) in importer.notes.iter().enumerate() {
            exact.entry(note.path_id.clone()).or_insert(at);
        }
        for (at, note) in importer.notes.iter().enumerate() {
            exact.insert(note.id.clone(), at);
            let stem = note.path_id.rsplit('/').next().unwrap_or_default().to_lowercase();
            let mut names = vec![stem, note.topic.title.to_lowercase()];
            names.dedup();
            for name in names {
                loose
                    .entry(name)
                    .and_modify(|other| {
                        if *other != Some(at) {
                            *other = None;
                        }
                    })
                    .or_insert(Some(at));
            }
        }
        let records = importer.import.records.iter().enumerate().map(|(at, record)| (record.id.clone(), at)).collect();
        Names { exact, records, loose }
    }

    fn find(&self, reference: &str) -> Option<Target> {
        let reference = reference.trim();
        let linked = unlink(reference);
        let bare = linked.strip_suffix(".md").unwrap_or(&linked);
        for name in [reference, bare] {
            if let Some(at) = self.exact.get(name) {
                return Some(Target::Note(*at));
            }
            if let Some(at) = self.records.get(name) {
                return Some(Target::Record(*at));
            }
        }
        let at = self.loose.get(&bare.to_lowercase()).copied().flatten()?;
        Some(Target::Note(at))
    }
}

/// Makes the topics: one for each note that is in use, one for each further `topic:` that notes name.
pub(super) fn topics(importer: &mut Importer) {
    let notes = std::mem::take(&mut importer.notes);
    let records = &importer.import.records;
    let in_use = |at: usize| {
        notes.get(at).is_some_and(|note| {
            let replaced = records.get(note.records.clone()).is_some_and(|records| {
                !records.is_empty() && records.iter().all(|record| record.superseded_by.is_some())
            });
            note.catalog && !replaced && !(note.superseded_by.is_some() && note.records.is_empty())
        })
    };
    let listed: Vec<bool> = (0..notes.len()).map(in_use).collect();
    // A note that names a topic joins it and makes none itself, unless the topic is the note.
    let is_own = |note: &Note, name: &str| note.id == name || note.topic.title.eq_ignore_ascii_case(name);
    let joins: Vec<Option<&str>> =
        notes.iter().map(|note| note.topic_name.as_deref().filter(|name| !is_own(note, name))).collect();
    let mut made = std::mem::take(&mut importer.import.topics);
    let given = made.len();
    let mut ids: HashSet<String> = made.iter().map(|topic| topic.id.clone()).collect();
    let mut places: HashMap<(String, Scope), usize> = HashMap::new();
    for (at, topic) in made.iter().enumerate() {
        for name in [topic.id.to_lowercase(), topic.title.to_lowercase()] {
            places.entry((name, topic.scope.clone())).or_insert(at);
        }
    }
    let is_listed = |at: usize| listed.get(at).copied().unwrap_or(false);
    let join = |at: usize| joins.get(at).copied().flatten();
    for (at, note) in notes.iter().enumerate() {
        if join(at).is_none() && is_listed(at) && ids.insert(note.id.clone()) {
            for name in [note.id.to_lowercase(), note.topic.title.to_lowercase()] {
                places.entry((name, note.topic.scope.clone())).or_insert(made.len());
            }
            made.push(note.topic.clone());
        }
    }
    for (at, note) in notes.iter().enumerate() {
        let Some(name) = join(at).filter(|_| is_listed(at)) else {
            continue;
        };
        let place = place_of(&places, given, name, &note.topic.scope).unwrap_or_else(|| {
            let mut id = name.to_string();
            let mut number = 2u64;
            while !ids.insert(id.clone()) {
                id = format!("{name}~{number}");
                number += 1;
            }
            made.push(Topic {
                id,
                title: name.to_string(),
                summary: note.topic.summary.clone(),
                scope: note.topic.scope.clone(),
                ..Topic::default()
            });
            places.insert((name.to_lowercase(), note.topic.scope.clone()), made.len() - 1);
            made.len() - 1
        });
        // A topic that was given stays as given; and what a note says stays in its scope.
        if let Some(topic) = made.get_mut(place).filter(|_| place >= given) {
            let mut aliases = vec![note.topic.title.clone()];
            aliases.extend(note.topic.aliases.iter().cloned());
            aliases.retain(|alias| !alias.eq_ignore_ascii_case(&topic.title));
            add_new(&mut topic.aliases, aliases);
            add_new(&mut topic.tags, note.topic.tags.iter().cloned());
            topic.unresolved |= note.topic.unresolved;
        }
    }
    let names: Vec<Option<String>> = notes
        .iter()
        .enumerate()
        .map(|(at, note)| match join(at) {
            Some(name) => {
                let place = place_of(&places, given, name, &note.topic.scope)?;
                made.get(place).map(|topic| topic.id.clone())
            }
            None => is_listed(at).then(|| note.id.clone()),
        })
        .collect();
    for (note, name) in notes.iter().zip(names) {
        for record in importer.import.records.get_mut(note.records.clone()).into_iter().flatten() {
            record.topic.clone_from(&name);
        }
    }
    importer.import.topics = made;
    for note in notes {
        if let Some(entity) = note.entity.filter(|_| note.active) {
            importer.entity(entity);
        }
    }
}

/// The topic of that name in that scope; else one that was given for everyone.
fn place_of(places: &HashMap<(String, Scope), usize>, given: usize, name: &str, scope: &Scope) -> Option<usize> {
    let at = |scope: &Scope| places.get(&(name.to_lowercase(), scope.clone())).copied();
    at(scope).or_else(|| at(&Scope::global()).filter(|place| *place < given))
}
