use foreword::engine::{Engine, RecallResult, Request};
use foreword::memory::Timestamp;
use foreword::rank::Evidence;
use foreword::write::Nonce;

use super::failure::Failure;
use super::options::{SnapshotArgs, ViewerArgs, time};
use super::output::{Output, brief, plain};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    asked: Asked,
    /// Bytes that the recall part of the block may take. Default 2,048.
    #[arg(long, value_name = "BYTES")]
    budget: Option<usize>,
    /// What stands in the block's delimiters, 8 to 32 letters and digits; drawn afresh unless given.
    #[arg(long, value_parser = nonce)]
    nonce: Option<Nonce>,
}

/// What is asked of which snapshot, for `recall` and `search` alike.
#[derive(clap::Args)]
pub struct Asked {
    #[command(flatten)]
    pub snapshot: SnapshotArgs,
    /// The prompt.
    #[arg(required = true, value_name = "PROMPT")]
    prompt: Vec<String>,
    #[command(flatten)]
    viewer: ViewerArgs,
    /// Answer as of this time.
    #[arg(long, value_name = "TIME", value_parser = time)]
    as_of: Option<Timestamp>,
    /// Also what is no longer in force, labelled.
    #[arg(long)]
    history: bool,
    /// Only records of this kind; may be repeated.
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,
    /// Whom it is probably about; promotes what has this subject, and removes nothing.
    #[arg(long, value_name = "SUBJECT")]
    about: Option<String>,
    /// Which property is probably meant; promotes what has this predicate, and removes nothing.
    #[arg(long, value_name = "PREDICATE")]
    attribute: Option<String>,
    /// The most results, 1 to 1,000. Default 8.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

impl Asked {
    /// The request.
    pub fn request(&self) -> Request {
        Request {
            prompt: self.prompt.join(" "),
            scope: self.viewer.scope(),
            now: self.viewer.now(),
            as_of: self.as_of,
            history: self.history,
            kinds: self.kind.clone(),
            limit: self.limit,
            about: self.about.clone(),
            attribute: self.attribute.clone(),
            ..Request::default()
        }
    }
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let (mut engine, remark) = args.asked.snapshot.load(|config| {
        if let Some(bytes) = args.budget {
            config.budgets.recall_tokens = bytes;
        }
    })?;
    engine.set_nonce(match &args.nonce {
        Some(nonce) => nonce.clone(),
        None => fresh_nonce()?,
    });
    let result = engine.run(engine.recall(args.asked.request())?);
    if let Some(remark) = remark {
        eprintln!("{}", plain(&remark));
    }
    if output.is_json() {
        return output.json(&result);
    }
    let plan = &result.plan;
    output.line(format_args!("{}", plain(&plan.reason)))?;
    if !plan.topics.is_empty() {
        output.line(format_args!("topics: {}", plain(&plan.topics.join(", "))))?;
    }
    show(output, &engine, &result)?;
    let block = &result.block;
    if block.text.is_empty() {
        return output.line("\nno block");
    }
    output.line(format_args!(
        "\nblock: {} bytes of catalog, {} of recall; {} included, {} without room, {} shortened\n",
        block.catalog_tokens,
        block.recall_tokens,
        block.included.len(),
        block.omitted,
        block.shortened
    ))?;
    output.line(plain(&block.text))
}

/// The evidence and what did not work.
pub fn show(output: &mut Output, engine: &Engine, result: &RecallResult) -> Result<(), Failure> {
    for part in &result.degraded {
        output.line(format_args!("degraded: {}: {}", part.part, plain(&part.message)))?;
    }
    if result.evidence.is_empty() {
        return output.line(format_args!("nothing found among {} records", engine.store().base().len()));
    }
    for (place, one) in result.evidence.iter().enumerate() {
        output.line("")?;
        show_one(output, place + 1, one)?;
    }
    Ok(())
}

fn show_one(output: &mut Output, place: usize, one: &Evidence) -> Result<(), Failure> {
    let changed = one.changed.map_or_else(String::new, |time| format!(", {}", time.date()));
    let title = if one.title.is_empty() { String::new() } else { format!("  {}", brief(&one.title, 60)) };
    let kind = if one.kind.is_empty() { "record" } else { &one.kind };
    output.line(format_args!("{place:>2}. {:.3}  [{}] {}{changed}{title}", one.score, plain(&one.id), plain(kind)))?;
    output.line(format_args!("    {}", brief(&one.text, 300)))?;
    let parts: Vec<String> = one
        .components
        .iter()
        .filter(|part| part.contribution != 0.0)
        .map(|part| format!("{} {:+.3}", part.name, part.contribution))
        .collect();
    output.line(format_args!("    {}", parts.join("  ")))?;
    if !one.reasons.is_empty() {
        output.line(format_args!("    {}", plain(&one.reasons.join("; "))))?;
    }
    if one.sources.len() > 1 {
        let others: Vec<String> = one.sources.iter().skip(1).map(|source| plain(&source.id)).collect();
        output.line(format_args!("    also {}", others.join(", ")))?;
    }
    if !one.conflicts_with.is_empty() {
        output.line(format_args!("    contradicts {}", plain(&one.conflicts_with.join(", "))))?;
    }
    Ok(())
}

/// A nonce from the operating system's randomness.
fn fresh_nonce() -> Result<Nonce, Failure> {
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(|error| Failure::Other(format!("no randomness for the nonce: {error}")))?;
    Nonce::from_bytes(&random).map_err(|error| Failure::Other(error.to_string()))
}

fn nonce(text: &str) -> Result<Nonce, String> {
    Nonce::new(text).map_err(|error| error.to_string())
}
