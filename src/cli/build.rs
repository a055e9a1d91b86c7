use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use foreword::import::{Import, Importer, Report, Severity, folder};
use foreword::snapshot::{Segment, SnapshotBuilder};
use serde::Serialize;

use super::failure::Failure;
use super::options::{ConfigArgs, ModelArgs};
use super::output::{Output, plain, size};
use super::progress::bar;

/// Records that are worked through between two looks at the progress bar.
const SLICE: usize = 256;

#[derive(clap::Args)]
pub struct Args {
    /// Folders and files; the kind of each file is read off its name and its beginning.
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The snapshot to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    model: ModelArgs,
    #[command(flatten)]
    config: ConfigArgs,
}

/// What was built.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Built<'a> {
    output: &'a Path,
    bytes: usize,
    records: usize,
    topics: usize,
    entities: usize,
    model: &'a str,
    revision: String,
    /// What was left out.
    skipped: usize,
    /// What was taken, but not quite as written.
    warnings: usize,
    reports: &'a [Report],
    /// Ids of records that read like an instruction to a model.
    flagged: &'a [String],
    elapsed_ms: f64,
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let started = Instant::now();
    let model = args.model.load()?;
    let (_, index) = args.config.load()?;
    let import = read(&args.paths)?;
    for report in &import.reports {
        eprintln!("{}", plain(&report.to_string()));
    }
    let count = |severity| import.reports.iter().filter(|report| report.severity == severity).count();
    let (skipped, warnings) = (count(Severity::Skipped), count(Severity::Warning));
    if !import.reports.is_empty() {
        eprintln!("{skipped} left out, {warnings} taken with a warning");
    }
    if import.records.is_empty() {
        return Err(Failure::Other("there is no record in what was given: nothing is written".into()));
    }

    let mut builder = SnapshotBuilder::new(index, model);
    let (records, topics, entities) = (import.records.len(), import.topics.len(), import.entities.len());
    for topic in import.topics {
        builder.add_topic(topic)?;
    }
    for entity in import.entities {
        builder.add_entity(entity);
    }
    for record in import.records {
        builder.add(record)?;
    }
    let progress = bar("indexing", 1000, false);
    while !builder.step(SLICE) {
        progress.set_position((builder.progress() * 1000.0) as u64);
    }
    let flagged: Vec<String> = builder.flagged().map(String::from).collect();
    for id in &flagged {
        eprintln!(
            "{}",
            plain(&format!("`{id}` reads like an instruction to a model: it is kept, and says so where it is shown"))
        );
    }
    let bytes = builder.finish()?;
    progress.finish_and_clear();
    fs::write(&args.output, &bytes).map_err(|error| Failure::file(&args.output, error))?;

    let segment = Segment::from_bytes(bytes)?;
    let built = Built {
        output: &args.output,
        bytes: segment.bytes().len(),
        records,
        topics,
        entities,
        model: segment.model(),
        revision: format!("{:016x}", segment.content_hash()),
        skipped,
        warnings,
        reports: &import.reports,
        flagged: &flagged,
        elapsed_ms: started.elapsed().as_secs_f64() * 1e3,
    };
    if output.is_json() {
        return output.json(&built);
    }
    output.line(format_args!("{}: {}", args.output.display(), size(built.bytes)))?;
    output.line(format_args!("  {records} records, {topics} topics, {entities} known names"))?;
    let model = if built.model.is_empty() { "none" } else { built.model };
    output.line(format_args!("  vectors: {model}"))?;
    output.line(format_args!("  built in {:.2} s", started.elapsed().as_secs_f64()))
}

/// Reads every path, with reports that say where a reader finds the file.
fn read(paths: &[PathBuf]) -> Result<Import, Failure> {
    let mut importer = Importer::new();
    let progress = bar("reading", 0, true);
    let mut done = 0;
    // Reports that each path brought, as the number of reports after it.
    let mut ends = Vec::new();
    for path in paths {
        let mut last = 0;
        folder::add(&mut importer, path, &mut |at| {
            last = at.bytes_done;
            progress.set_length(done + at.bytes_total.unwrap_or(at.bytes_done));
            progress.set_position(done + at.bytes_done);
            progress.set_message(format!("{} records", at.records));
        })
        .map_err(|error| Failure::file(path, error))?;
        done += last;
        ends.push((path, importer.reports().len()));
    }
    progress.finish_and_clear();
    let mut import = importer.finish();
    for (number, report) in import.reports.iter_mut().enumerate() {
        // What is found only when all is read, such as a reference to nothing, may be of any path.
        let of_one = ends.iter().find(|(_, end)| number < *end).map(|(path, _)| std::slice::from_ref(*path));
        report.file = locate(&report.file, of_one.unwrap_or(paths));
    }
    Ok(import)
}

/// The path of a file that a report names by its place in the folder that was given.
fn locate(name: &str, paths: &[PathBuf]) -> String {
    let found = paths.iter().find_map(|path| {
        let inside = path.join(name);
        if path.is_file() && path.file_name().is_some_and(|file| file.to_string_lossy() == name) {
            Some(path.clone())
        } else if path.is_dir() && inside.symlink_metadata().is_ok() {
            Some(inside)
        } else {
            None
        }
    });
    found.map_or_else(|| name.to_string(), |path| path.display().to_string())
}
