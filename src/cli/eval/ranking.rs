use std::collections::{BTreeSet, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use foreword::memory::Record;
use serde_json::json;

use super::data::{Document, Query, lines};
use super::metrics::Figures;
use super::{SubjectArgs, each, ids, ten};
use crate::cli::failure::Failure;
use crate::cli::output::Output;

/// Queries that a processor takes at a time.
const CHUNK: usize = 16;

#[derive(clap::Args)]
pub struct Args {
    /// Documents: {id, title, text} a line.
    #[arg(long, value_name = "FILE")]
    corpus: PathBuf,
    /// Queries: {id, text, evidence: [ids]} a line.
    #[arg(long, value_name = "FILE")]
    queries: PathBuf,
    #[command(flatten)]
    subject: SubjectArgs,
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let started = Instant::now();
    let subject = args.subject.load()?;
    let documents: Vec<Document> = lines(&args.corpus)?;
    let queries: Vec<Query> = lines(&args.queries)?;
    let (records, empty): (Vec<Record>, Vec<Record>) =
        documents.into_iter().map(record).partition(|record| record.fault().is_none());
    if !empty.is_empty() {
        eprintln!("{}: {} documents have no text and are left out", args.corpus.display(), empty.len());
    }
    let count = records.len();
    let known: HashSet<String> = records.iter().map(|record| record.id.clone()).collect();
    let engine = subject.engine(records)?;
    let chunks: Vec<&[Query]> = queries.chunks(CHUNK).collect();
    let figures = each("searching", &chunks, |chunk| {
        let judged = chunk.iter().filter_map(|query| {
            let gold: BTreeSet<&str> =
                query.evidence.iter().map(String::as_str).filter(|id| known.contains(*id)).collect();
            (!gold.is_empty()).then_some((query, gold))
        });
        judged
            .map(|(query, gold)| {
                let found = ten(&engine, &query.text, None)?;
                let ranked: Vec<Vec<&str>> =
                    found.iter().map(|one| ids(one).filter(|id| gold.contains(id)).collect()).collect();
                Ok(Figures::of(&ranked, gold.len(), gold.len()))
            })
            .collect::<Result<Vec<Figures>, Failure>>()
    })?;
    let figures = figures.concat();
    let mean = Figures::mean(&figures)
        .ok_or_else(|| Failure::file(&args.queries, "no query has evidence in the corpus: nothing can be measured"))?;
    let (recall, ndcg) = (mean.get("recall@10"), mean.get("ndcg@10"));
    if output.is_json() {
        return output.json(&json!({ "recall@10": recall, "ndcg@10": ndcg }));
    }
    output.line(format_args!("{count} documents, {} queries", figures.len()))?;
    output.line(format_args!("recall@10  {recall:.3}"))?;
    output.line(format_args!("ndcg@10    {ndcg:.3}"))?;
    output.line(format_args!("{:.1} s", started.elapsed().as_secs_f64()))
}

fn record(document: Document) -> Record {
    Record { title: document.title, kind: "section".into(), ..Record::new(document.id, document.text) }
}
