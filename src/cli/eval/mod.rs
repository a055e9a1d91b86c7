//! Measuring, through the same engine that answers prompts: `engine.search` for rankings, `engine.recall` for the decision.

mod data;
mod metrics;
mod locomo;
mod gate;
mod ranking;
mod sweep;
mod chart;
mod report;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clap::{Args, Subcommand};
use foreword::engine::{Config, Engine, RecallResult, Request};
use foreword::memory::Record;
use foreword::rank::Evidence;
use foreword::retrieve::LocalModel;
use foreword::snapshot::{IndexConfig, SnapshotBuilder};
use foreword::write::Nonce;
use serde::Serialize;

use super::failure::Failure;
use super::options::{ConfigArgs, ModelArgs, Setting};
use super::output::Output;
use super::progress::bar;

#[derive(Subcommand)]
pub enum Command {
    /// Rank turns, observations and sessions of conversations for questions with known evidence.
    Locomo(locomo::Args),
    /// Measure how often memory is injected for questions that need it, and for prompts that do not.
    Gate(gate::Args),
    /// Rank a collection of documents for queries with judged evidence.
    Ranking(ranking::Args),
    /// Rank conversations again and again, with one setting changed at a time.
    Sweep(sweep::Args),
    /// Write one HTML page with the charts of ranking, decision and budgets.
    #[command(long_flag = "report")]
    Report(report::Args),
}

pub fn run(command: &Command, output: &mut Output) -> Result<(), Failure> {
    match command {
        Command::Locomo(args) => locomo::run(args, output),
        Command::Gate(args) => gate::run(args, output),
        Command::Ranking(args) => ranking::run(args, output),
        Command::Sweep(args) => sweep::run(args, output),
        Command::Report(args) => report::run(args, output),
    }
}

/// What is measured: a model and settings.
#[derive(Args)]
struct SubjectArgs {
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

impl SubjectArgs {
    fn load(&self) -> Result<Subject, Failure> {
        self.load_with(&[])
    }

    /// With these settings laid over all others.
    fn load_with(&self, settings: &[Setting]) -> Result<Subject, Failure> {
        let (config, index) = self.config.load_with(settings)?;
        Ok(Subject { model: self.model.load()?, config, index })
    }
}

/// See [`SubjectArgs`].
struct Subject {
    model: Option<LocalModel>,
    config: Config,
    index: IndexConfig,
}

impl Subject {
    /// An engine over a snapshot of these records.
    fn engine(&self, records: Vec<Record>) -> Result<Engine, Failure> {
        self.load(self.snapshot(records)?, self.config.clone())
    }

    fn snapshot(&self, records: Vec<Record>) -> Result<Vec<u8>, Failure> {
        let mut builder = SnapshotBuilder::new(self.index.clone(), self.model.clone());
        for record in records {
            builder.add(record)?;
        }
        Ok(builder.finish()?)
    }

    /// An engine over a snapshot, with settings of its own.
    fn load(&self, snapshot: Vec<u8>, config: Config) -> Result<Engine, Failure> {
        let mut engine = Engine::load(snapshot, config, self.model.clone())?;
        // Figures must not depend on randomness; nobody reads these blocks.
        engine.set_nonce(Nonce::from_bytes(&[0; 8]).map_err(|error| Failure::Other(error.to_string()))?);
        Ok(engine)
    }
}

/// The first ten results for a prompt, with a hint whom it is about.
fn ten(engine: &Engine, prompt: &str, about: Option<&str>) -> Result<Vec<Evidence>, Failure> {
    let about = about.map(str::to_string);
    let request = Request { prompt: prompt.to_string(), limit: Some(10), about, ..Request::default() };
    Ok(engine.run(engine.search(request)?).evidence)
}

/// The recall for a prompt.
fn recall(engine: &Engine, prompt: &str) -> Result<RecallResult, Failure> {
    let request = Request { prompt: prompt.to_string(), ..Request::default() };
    Ok(engine.run(engine.recall(request)?))
}

/// Ids of the records that a result stands for: its own, and those of repeats that were folded into it.
fn ids(evidence: &Evidence) -> impl Iterator<Item = &str> {
    let folded = evidence.sources.iter().map(|source| source.id.as_str()).filter(|id| *id != evidence.id);
    std::iter::once(evidence.id.as_str()).chain(folded)
}

/// `work` on every item, on all processors; the results in the order of the items.
fn each<T: Sync, R: Send>(
    what: &'static str,
    items: &[T],
    work: impl Fn(&T) -> Result<R, Failure> + Sync,
) -> Result<Vec<R>, Failure> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(items.len()));
    let progress = bar(what, items.len() as u64, false);
    let threads = thread::available_parallelism().map_or(1, usize::from).min(items.len());
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = work(item);
                    progress.inc(1);
                    done.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((at, result));
                }
            });
        }
    });
    progress.finish_and_clear();
    let mut done = done.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Writes one JSON object a line.
fn dump<T: Serialize>(path: &Path, rows: impl IntoIterator<Item = T>) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::file(path, error);
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    for row in rows {
        serde_json::to_writer(&mut file, &row).map_err(|error| Failure::file(path, error))?;
        file.write_all(b"\n").map_err(failed)?;
    }
    file.flush().map_err(failed)
}
