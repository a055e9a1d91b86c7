use std::collections::BTreeMap;
use std::path::PathBuf;

use foreword::memory::{Catalog, Scope};
use foreword::snapshot::Segment;
use serde::Serialize;

use super::failure::Failure;
use super::options::read;
use super::output::{Output, brief, plain, size};

#[derive(clap::Args)]
pub struct Args {
    /// The snapshot.
    #[arg(value_name = "FILE")]
    path: PathBuf,
}

/// What a snapshot says of itself.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report<'a> {
    format_version: u16,
    bytes: usize,
    revision: String,
    sections: Vec<Section>,
    records: usize,
    /// Sessions and documents.
    groups: usize,
    /// Distinct terms.
    terms: usize,
    model: &'a str,
    dimensions: usize,
    kinds: BTreeMap<&'a str, usize>,
    scopes: Vec<Owned<'a>>,
    superseded: usize,
    unresolved: usize,
    catalog: &'a Catalog,
}

#[derive(Serialize)]
struct Section {
    name: String,
    bytes: usize,
}

/// How many records a scope owns.
#[derive(Serialize)]
struct Owned<'a> {
    scope: &'a Scope,
    records: usize,
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let segment = Segment::from_bytes(read(&args.path)?)?;
    // The checksums hold; whether every record decodes as well is known only after decoding it.
    for number in 0..segment.len() as u32 {
        segment.record(number)?;
    }
    let report = report(&segment);
    if output.is_json() {
        return output.json(&report);
    }
    let model = if report.model.is_empty() { "none" } else { report.model };
    output.line(format_args!(
        "{}: format {}, {}, undamaged",
        args.path.display(),
        report.format_version,
        size(report.bytes)
    ))?;
    output.line(format_args!("revision  {}", report.revision))?;
    output.line(format_args!(
        "records   {} in {} sessions and documents, {} superseded, {} unresolved",
        report.records, report.groups, report.superseded, report.unresolved
    ))?;
    output.line(format_args!("terms     {}", report.terms))?;
    output.line(format_args!("vectors   {model}, {} dimensions", report.dimensions))?;
    output.line("\nkinds")?;
    for (kind, count) in &report.kinds {
        output.line(format_args!("  {count:>8}  {}", if kind.is_empty() { "(none)" } else { kind }))?;
    }
    output.line("\nscopes")?;
    for owned in &report.scopes {
        output.line(format_args!("  {:>8}  {}", owned.records, scope_name(owned.scope)))?;
    }
    output.line("\ntopics")?;
    for topic in &report.catalog.topics {
        let mark = if topic.unresolved { " (unresolved)" } else { "" };
        let scope = if topic.scope.is_global() { String::new() } else { format!(" [{}]", scope_name(&topic.scope)) };
        output.line(format_args!("  {}{scope}{mark}  {}", plain(&topic.title), brief(&topic.summary, 70)))?;
    }
    output.line("\nsections")?;
    for section in &report.sections {
        output.line(format_args!("  {:>10}  {}", size(section.bytes), plain(&section.name)))?;
    }
    Ok(())
}

fn report(segment: &Segment) -> Report<'_> {
    let mut kinds = BTreeMap::new();
    let mut owned: Vec<Owned> = segment.scopes().iter().map(|scope| Owned { scope, records: 0 }).collect();
    let (mut superseded, mut unresolved) = (0, 0);
    for facts in segment.all_facts() {
        let kind = segment.kinds().get(facts.kind as usize).map_or("", String::as_str);
        *kinds.entry(kind).or_default() += 1;
        if let Some(owned) = owned.get_mut(facts.scope as usize) {
            owned.records += 1;
        }
        superseded += usize::from(facts.superseded);
        unresolved += usize::from(facts.unresolved);
    }
    Report {
        format_version: segment.format_version(),
        bytes: segment.bytes().len(),
        revision: format!("{:016x}", segment.content_hash()),
        sections: segment.sections().map(|(name, bytes)| Section { name, bytes }).collect(),
        records: segment.len(),
        groups: segment.group_count(),
        terms: segment.lexical().term_count(),
        model: segment.model(),
        dimensions: segment.vectors().dimensions(),
        kinds,
        scopes: owned,
        superseded,
        unresolved,
        catalog: segment.catalog(),
    }
}

/// A scope on one line.
fn scope_name(scope: &Scope) -> String {
    if scope.is_global() {
        return "(everyone)".to_string();
    }
    let names: Vec<String> = scope.dimensions().map(|(name, value)| plain(&format!("{name}={value}"))).collect();
    names.join(" ")
}
