use std::path::PathBuf;
use std::time::Instant;

use foreword::plan::Signals;
use serde::Serialize;

use super::data::{Conversation, Negative, Query, conversations, lines};
use super::locomo::{Level, Task};
use super::metrics::Reliability;
use super::{Subject, SubjectArgs, dump, each, recall};
use crate::cli::failure::Failure;
use crate::cli::output::Output;

/// Words up to which a prompt counts as short.
const SHORT: usize = 20;

#[derive(clap::Args)]
pub struct Args {
    /// Folder with a folder for each conversation; a store is made of the observations of each.
    #[arg(long, value_name = "DIR")]
    stores: PathBuf,
    /// Prompts that need no memory: {id, text} a line.
    #[arg(long, value_name = "FILE")]
    negatives: PathBuf,
    /// Take the speakers' names out of the questions.
    #[arg(long)]
    mask_names: bool,
    #[command(flatten)]
    subject: SubjectArgs,
    /// Write what every decision rested on, as JSON lines.
    #[arg(long, value_name = "FILE")]
    dump_signals: Option<PathBuf>,
}

/// Where a prompt comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Label {
    /// A question that this store answers.
    Question,
    /// A prompt that needs no memory.
    Negative,
    /// A question that another store answers.
    Other,
}

/// One decision.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Decision<'a> {
    pub label: Label,
    store: &'a str,
    masked: bool,
    id: &'a str,
    text: String,
    /// Whether it has at most [`SHORT`] words.
    short: bool,
    /// Whether memory was wanted and something stands in the block.
    pub yes: bool,
    should_retrieve: bool,
    included: usize,
    pub confidence: f64,
    signals: Signals,
}

/// Shares of yes, each the mean over the stores.
#[derive(Serialize)]
struct Shares {
    yes_on_questions: f64,
    yes_on_negatives: f64,
    /// `None` where no negative is short.
    yes_on_short_negatives: Option<f64>,
    /// `None` where there is one store.
    yes_on_other_stores: Option<f64>,
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let started = Instant::now();
    let subject = args.subject.load()?;
    let conversations = conversations(&args.stores)?;
    let negatives: Vec<Negative> = lines(&args.negatives)?;
    let stores: Vec<Store> = conversations.iter().map(|one| Store::new(one, args.mask_names)).collect();
    let decisions = decide_all(&subject, &stores, &negatives, args.mask_names)?;
    if let Some(path) = &args.dump_signals {
        dump(path, decisions.iter().flatten())?;
    }

    let share = |wanted: &dyn Fn(&Decision) -> bool| {
        let shares = decisions.iter().filter_map(|of_store| {
            let yes: Vec<bool> = of_store.iter().filter(|one| wanted(one)).map(|one| one.yes).collect();
            (!yes.is_empty()).then(|| yes.iter().filter(|yes| **yes).count() as f64 / yes.len() as f64)
        });
        let shares: Vec<f64> = shares.collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let nothing = |what: &str| Failure::Other(format!("there are no {what}: nothing can be measured"));
    let shares = Shares {
        yes_on_questions: share(&|one| one.label == Label::Question)
            .ok_or_else(|| nothing("questions with evidence"))?,
        yes_on_negatives: share(&|one| one.label == Label::Negative).ok_or_else(|| nothing("negatives"))?,
        yes_on_short_negatives: share(&|one| one.label == Label::Negative && one.short),
        yes_on_other_stores: share(&|one| one.label == Label::Other),
    };
    if output.is_json() {
        return output.json(&shares);
    }
    let count = |label| decisions.iter().flatten().filter(|one| one.label == label).count();
    let mut row = |name: &str, share: Option<f64>| {
        let share = share.map_or_else(|| "–".to_string(), |share| format!("{:.1} %", share * 100.0));
        output.line(format_args!("{name:<34}{share:>8}"))
    };
    row("yes on questions", Some(shares.yes_on_questions))?;
    row("yes on negatives", Some(shares.yes_on_negatives))?;
    row("yes on negatives of ≤ 20 words", shares.yes_on_short_negatives)?;
    row("yes on other stores' questions", shares.yes_on_other_stores)?;
    output.line("")?;
    reliability(output, decisions.iter().flatten())?;
    output.line(format_args!(
        "{} stores, {} questions, {} negatives, {} questions of other stores, {:.1} s",
        stores.len(),
        count(Label::Question),
        negatives.len(),
        count(Label::Other),
        started.elapsed().as_secs_f64()
    ))
}

/// What every store says to its own questions, to the negatives and to the other stores' questions.
pub fn decide_all<'a>(
    subject: &Subject,
    stores: &'a [Store<'a>],
    negatives: &'a [Negative],
    masked: bool,
) -> Result<Vec<Vec<Decision<'a>>>, Failure> {
    let numbers: Vec<usize> = (0..stores.len()).collect();
    each("deciding", &numbers, |number| {
        let Some(store) = stores.get(*number) else { return Ok(Vec::new()) };
        let others = stores.iter().enumerate().filter(|(other, _)| other != number).map(|(_, other)| other);
        store.decide(subject, negatives, others, masked)
    })
}

/// How the stated confidence compares with the share of prompts that the store answers; questions of other stores are told apart,
/// since they are many and made to be hard.
fn reliability<'a>(output: &mut Output, decisions: impl Iterator<Item = &'a Decision<'a>>) -> Result<(), Failure> {
    let (mut plain, mut hard) = (Reliability::default(), Reliability::default());
    for one in decisions {
        let truth = one.label == Label::Question;
        hard.add(one.confidence, truth);
        if one.label != Label::Other {
            plain.add(one.confidence, truth);
        }
    }
    for (name, table) in [("questions and negatives", &plain), ("other stores' questions as well", &hard)] {
        output.line(name)?;
        output.line("  confidence   prompts   mean   answered here")?;
        for (from, count, mean, share) in table.rows() {
            output.line(format_args!("  {from:.1}–{:.1}{count:>13}{mean:>7.2}{share:>16.2}", from + 0.1))?;
        }
        if let Some(error) = table.error() {
            output.line(format_args!("  expected calibration error {error:.3}\n"))?;
        }
    }
    Ok(())
}

/// A store of observations and the questions that it answers.
pub struct Store<'a> {
    conversation: &'a Conversation,
    task: Task,
    questions: Vec<(&'a Query, String)>,
}

impl<'a> Store<'a> {
    pub fn new(conversation: &'a Conversation, mask: bool) -> Store<'a> {
        let task = Task::new(conversation, Level::Observations);
        let questions = conversation.queries.iter().filter(|query| !task.gold(query).is_empty());
        let text = |query: &Query| {
            if mask { without_names(&query.text, &conversation.speakers) } else { query.text.clone() }
        };
        let questions = questions.map(|query| (query, text(query))).collect();
        Store { conversation, task, questions }
    }

    fn decide(
        &self,
        subject: &Subject,
        negatives: &'a [Negative],
        others: impl Iterator<Item = &'a Store<'a>>,
        masked: bool,
    ) -> Result<Vec<Decision<'a>>, Failure> {
        let engine = subject.engine(self.task.records.clone())?;
        let own = self.questions.iter().map(|(query, text)| (Label::Question, query.id.as_str(), text.as_str()));
        let none = negatives.iter().map(|prompt| (Label::Negative, prompt.id.as_str(), prompt.text.as_str()));
        let other = others
            .flat_map(|other| &other.questions)
            .map(|(query, text)| (Label::Other, query.id.as_str(), text.as_str()));
        let prompts = own.chain(none).chain(other);
        let decide = |(label, id, text): (Label, &'a str, &str)| {
            let result = recall(&engine, text)?;
            let included = result.block.included.len();
            Ok(Decision {
                label,
                store: &self.conversation.name,
                masked,
                id,
                short: text.split_whitespace().count() <= SHORT,
                text: text.to_string(),
                yes: result.plan.should_retrieve && included > 0,
                should_retrieve: result.plan.should_retrieve,
                included,
                confidence: result.plan.confidence,
                signals: result.plan.signals,
            })
        };
        prompts.map(decide).collect()
    }
}

/// The text without these names, where they stand as words, and without what marks them as possessive.
fn without_names(text: &str, names: &[String]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let begins = !out.ends_with(char::is_alphanumeric);
        let after = names
            .iter()
            .filter(|name| begins && !name.is_empty())
            .filter_map(|name| rest.strip_prefix(name.as_str()))
            .find(|after| !after.starts_with(char::is_alphanumeric));
        match after {
            Some(after) => {
                let possessive = ["'s", "’s", "'", "’"].iter().find_map(|mark| {
                    after.strip_prefix(mark).filter(|after| !after.starts_with(char::is_alphanumeric))
                });
                rest = possessive.unwrap_or(after);
            }
            None => {
                out.push(char);
                rest = rest.get(char.len_utf8()..).unwrap_or("");
            }
        }
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_out_where_they_are_words() {
        let names = ["Jon".to_string(), "Gina".to_string(), "Zoë".to_string()];
        let cases = [
            ("When did Jon's shop open?", "When did shop open?"),
            ("Jon’s and Gina's plan", "and plan"),
            ("Does Jonathan know Gina?", "Does Jonathan know ?"),
            ("What do Jon and Gina share", "What do and share"),
            ("the Joneses' and LeJon", "the Joneses' and LeJon"),
            ("Zoë", ""),
            ("Gina'salad Jon'", "'salad"),
            ("nobody", "nobody"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_names(text, &names), expected, "{text}");
        }
    }
}
