use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use foreword::engine::Engine;
use foreword::memory::Record;
use serde::Serialize;

use super::data::{Conversation, Query, conversations, observation_records, session_records, turn_records};
use super::metrics::Figures;
use super::{Subject, SubjectArgs, dump, each, ids, recall, ten};
use crate::cli::failure::Failure;
use crate::cli::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// Folder with a folder for each conversation.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    #[command(flatten)]
    subject: SubjectArgs,
    /// Leave out the recall within budgets, which takes longest.
    #[arg(long)]
    only_rankings: bool,
    /// Give each question an `about` hint: whom its evidence is by, or somebody else of the conversation.
    #[arg(long, value_enum)]
    hints: Option<Hints>,
    /// Percent of each store's records, the last ones, that are learned after the snapshot is built.
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    learned: u8,
    /// Write what was found for every question, as JSON lines.
    #[arg(long, value_name = "FILE")]
    dump: Option<PathBuf>,
}

/// What an `about` hint says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Hints {
    /// Who most of the evidence is by.
    Right,
    /// Somebody whom none of the evidence is by; no hint where there is nobody.
    Wrong,
}

/// What a store is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    Turns,
    Observations,
    Sessions,
}

impl Level {
    pub const ALL: [Level; 3] = [Level::Turns, Level::Observations, Level::Sessions];

    pub fn name(self) -> &'static str {
        match self {
            Level::Turns => "turns",
            Level::Observations => "observations",
            Level::Sessions => "sessions",
        }
    }
}

/// Records of one conversation at one level, and what they answer.
///
/// A question's gold ids are turns. What is left of them at a level is what some record there covers: a session covers its turns
/// and counts once; an observation covers the turns it was drawn from. An id that no record covers cannot be found by any
/// ranking, so it is left out, and with it a question that has no other.
pub struct Task {
    pub records: Vec<Record>,
    /// Gold ids by the records that cover them.
    covers: HashMap<String, Vec<String>>,
    /// Turns by the gold id that stands for them.
    stands_for: HashMap<String, String>,
}

impl Task {
    pub fn new(conversation: &Conversation, level: Level) -> Task {
        let turns = &conversation.turns;
        let itself = |id: &String| (id.clone(), vec![id.clone()]);
        let (records, covers): (Vec<Record>, HashMap<String, Vec<String>>) = match level {
            Level::Turns => {
                let records = turn_records(turns);
                let covers = records.iter().map(|record| itself(&record.id)).collect();
                (records, covers)
            }
            Level::Observations => {
                let observations = &conversation.observations;
                let covers = observations.iter().map(|fact| (fact.said.id.clone(), fact.evidence.clone())).collect();
                (observation_records(observations), covers)
            }
            Level::Sessions => {
                let records = session_records(turns);
                let covers = records.iter().map(|record| itself(&record.id)).collect();
                (records, covers)
            }
        };
        let stands_for = match level {
            Level::Sessions => turns.iter().map(|turn| (turn.said.id.clone(), turn.said.session.clone())).collect(),
            _ => covers.values().flatten().map(|id| (id.clone(), id.clone())).collect(),
        };
        Task { records, covers, stands_for }
    }

    /// The gold ids of a question that can be found; none for a question that is left out.
    pub fn gold(&self, query: &Query) -> BTreeSet<&str> {
        let evidence = query.evidence.iter().filter(|_| !query.is_adversarial());
        evidence.filter_map(|id| self.stands_for.get(id)).map(String::as_str).collect()
    }

    /// The hint for a question: evidence is by whoever says it.
    fn hint<'a>(&'a self, speakers: &'a [String], gold: &BTreeSet<&str>, hints: Hints) -> Option<&'a str> {
        let by = |speaker: &str| {
            let evidence = self.records.iter().filter(|record| self.covered(&record.id, gold).next().is_some());
            evidence.filter(|record| record.source.speaker == speaker).count()
        };
        let counted: Vec<(usize, &str)> = speakers.iter().map(|speaker| (by(speaker), speaker.as_str())).collect();
        let most = counted.iter().max_by_key(|(count, _)| *count).filter(|(count, _)| *count > 0)?;
        match hints {
            Hints::Right => Some(most.1),
            Hints::Wrong => counted.iter().find(|(count, _)| *count == 0).map(|(_, speaker)| *speaker),
        }
    }

    fn covered<'a>(&'a self, id: &str, gold: &BTreeSet<&str>) -> impl Iterator<Item = &'a str> {
        self.covers.get(id).into_iter().flatten().map(String::as_str).filter(|id| gold.contains(id))
    }
}

/// Budgets of the recall part, in bytes, of which it is told how much of the gold evidence the written block holds.
const BUDGETS: [usize; 2] = [512, 2048];

/// What was found for one question.
#[derive(Serialize)]
pub struct Answer<'a> {
    pub level: &'static str,
    pub conversation: &'a str,
    id: &'a str,
    category: &'a str,
    question: &'a str,
    pub gold: Vec<String>,
    ranked: Vec<String>,
    scores: Vec<f64>,
    pub figures: Figures,
    /// For each result, the gold ids that it covers.
    #[serde(skip)]
    pub covered: Vec<Vec<String>>,
    /// Share of the gold ids that the block of a recall covers, by budget.
    pub within: Vec<(usize, f64)>,
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let started = Instant::now();
    let subject = args.subject.load()?;
    let conversations = conversations(&args.folder)?;
    let tasks: Vec<(&Conversation, Level)> =
        Level::ALL.iter().flat_map(|level| conversations.iter().map(move |one| (one, *level))).collect();
    let asking =
        Asking { budgets: if args.only_rankings { &[] } else { &BUDGETS }, hints: args.hints, learned: args.learned };
    let answers: Vec<Vec<Answer>> =
        each("searching", &tasks, |(conversation, level)| ask(&subject, conversation, *level, asking))?;
    if let Some(path) = &args.dump {
        dump(path, answers.iter().flatten())?;
    }

    let mut totals = BTreeMap::new();
    for level in Level::ALL {
        let of_level = answers.iter().flatten().filter(|answer| answer.level == level.name());
        let figures: Vec<Figures> = of_level.map(|answer| answer.figures).collect();
        let mean = Figures::mean(&figures).ok_or_else(|| {
            let message = format!("no question has evidence among the {}: nothing can be measured", level.name());
            Failure::file(&args.folder, message)
        })?;
        let within = within(answers.iter().flatten().filter(|answer| answer.level == level.name()));
        totals.insert(level.name(), Total { figures: mean, within, questions: figures.len() });
    }
    if output.is_json() {
        return output.json(&totals);
    }
    let header: String = Figures::NAMES.iter().map(|name| format!("{name:>11}")).collect();
    output.line(format_args!("{:<14}{:<14}{:>9}{header}", "", "conversation", "questions"))?;
    for level in Level::ALL {
        for ((conversation, _), answers) in tasks.iter().zip(&answers).filter(|((_, of), _)| *of == level) {
            let figures: Vec<Figures> = answers.iter().map(|answer| answer.figures).collect();
            if let Some(mean) = Figures::mean(&figures) {
                row(output, level.name(), &conversation.name, figures.len(), &mean)?;
            }
        }
        if let Some(total) = totals.get(level.name()) {
            row(output, level.name(), "all", total.questions, &total.figures)?;
            for (budget, share) in &total.within {
                output.line(format_args!("{:<14}in the block within {budget} bytes{share:>8.3}", level.name()))?;
            }
        }
    }
    output.line(format_args!("{:.1} s", started.elapsed().as_secs_f64()))
}

/// The figures of a level.
struct Total {
    figures: Figures,
    within: Vec<(usize, f64)>,
    questions: usize,
}

impl Serialize for Total {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let within = self.within.iter().map(|(budget, share)| (format!("recall within {budget}"), *share));
        let figures = self.figures.named().map(|(name, value)| (name.to_string(), value));
        serializer.collect_map(figures.chain(within))
    }
}

/// The mean over the answers, budget by budget.
pub fn within<'a>(answers: impl Iterator<Item = &'a Answer<'a>>) -> Vec<(usize, f64)> {
    let mut sums: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
    for (budget, share) in answers.flat_map(|answer| &answer.within) {
        let (sum, count) = sums.entry(*budget).or_default();
        *sum += share;
        *count += 1;
    }
    sums.into_iter().map(|(budget, (sum, count))| (budget, sum / count as f64)).collect()
}

fn row(output: &mut Output, level: &str, name: &str, count: usize, figures: &Figures) -> Result<(), Failure> {
    let values: String = figures.named().map(|(_, value)| format!("{value:>11.3}")).collect();
    output.line(format_args!("{level:<14}{name:<14}{count:>9}{values}"))
}

/// How the questions are asked.
#[derive(Clone, Copy, Default)]
pub struct Asking<'a> {
    /// Budgets, in tokens, within which a recall is measured as well.
    pub budgets: &'a [usize],
    pub hints: Option<Hints>,
    /// Percent of the records, the last ones, that are learned after the snapshot is built.
    pub learned: u8,
}

/// Asks every question of a conversation: the ranking, and a recall within each budget.
pub fn ask<'a>(
    subject: &Subject,
    conversation: &'a Conversation,
    level: Level,
    asking: Asking,
) -> Result<Vec<Answer<'a>>, Failure> {
    let task = Task::new(conversation, level);
    let mut snapshot = task.records.clone();
    let learned = snapshot.split_off(snapshot.len() - snapshot.len() * usize::from(asking.learned) / 100);
    let snapshot = subject.snapshot(snapshot)?;
    let load = |config| -> Result<Engine, Failure> {
        let mut engine = subject.load(snapshot.clone(), config)?;
        engine.remember(learned.clone())?;
        Ok(engine)
    };
    let engine = load(subject.config.clone())?;
    let mut bounded = Vec::new();
    for budget in asking.budgets {
        let mut config = subject.config.clone();
        (config.budgets.recall_tokens, config.budgets.per_provider_tokens) = (*budget, *budget);
        bounded.push((*budget, load(config)?));
    }
    let mut answers = Vec::new();
    for query in &conversation.queries {
        let gold = task.gold(query);
        if gold.is_empty() {
            continue;
        }
        let about = asking.hints.and_then(|hints| task.hint(&conversation.speakers, &gold, hints));
        let found = ten(&engine, &query.text, about)?;
        let ranked: Vec<Vec<&str>> =
            found.iter().map(|one| ids(one).flat_map(|id| task.covered(id, &gold)).collect()).collect();
        let mut within = Vec::new();
        for (budget, engine) in &bounded {
            let result = recall(engine, &query.text)?;
            let written = result.evidence.iter().filter(|one| result.block.included.contains(&one.id));
            let covered: BTreeSet<&str> = written.flat_map(ids).flat_map(|id| task.covered(id, &gold)).collect();
            within.push((*budget, covered.len() as f64 / gold.len() as f64));
        }
        let relevant = task.records.iter().filter(|record| task.covered(&record.id, &gold).next().is_some()).count();
        answers.push(Answer {
            level: level.name(),
            conversation: &conversation.name,
            id: &query.id,
            category: &query.category,
            question: &query.text,
            figures: Figures::of(&ranked, gold.len(), relevant),
            covered: ranked.iter().map(|ids| ids.iter().map(ToString::to_string).collect()).collect(),
            within,
            gold: gold.iter().map(ToString::to_string).collect(),
            ranked: found.iter().map(|one| one.id.clone()).collect(),
            scores: found.iter().map(|one| one.score).collect(),
        });
    }
    Ok(answers)
}
