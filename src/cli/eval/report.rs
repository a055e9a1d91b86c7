use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::chart::{Axis, Chart, Series, escape};
use super::data::{Conversation, Negative, conversations, lines};
use super::gate::{Decision, Label, Store, decide_all};
use super::locomo::{Answer, Asking, Level, ask, within};
use super::metrics::{Figures, Reliability};
use super::{Subject, SubjectArgs, each};
use crate::cli::failure::Failure;
use crate::cli::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// The page to write.
    #[arg(value_name = "FILE.html")]
    page: PathBuf,
    /// Folder with a folder for each conversation.
    #[arg(long, value_name = "DIR")]
    conversations: PathBuf,
    /// Prompts that need no memory: {id, text} a line.
    #[arg(long, value_name = "FILE")]
    negatives: PathBuf,
    /// Write every chart into this folder as well, a file each.
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
    #[command(flatten)]
    subject: SubjectArgs,
}

/// Budgets of the recall part, in bytes.
const BUDGETS: [usize; 5] = [256, 512, 1024, 2048, 4096];

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let subject = args.subject.load()?;
    let conversations = conversations(&args.conversations)?;
    let negatives: Vec<Negative> = lines(&args.negatives)?;
    let ranked = rank(&subject, &conversations)?;
    let plain: Vec<Store> = conversations.iter().map(|one| Store::new(one, false)).collect();
    let masked: Vec<Store> = conversations.iter().map(|one| Store::new(one, true)).collect();
    let named: Vec<Decision> = decide_all(&subject, &plain, &negatives, false)?.into_iter().flatten().collect();
    let nameless: Vec<Decision> = decide_all(&subject, &masked, &negatives, true)?.into_iter().flatten().collect();
    let asked = [("questions as asked", &named), ("names taken out", &nameless)];

    let charts = [
        ("recall-at-k", recall_chart(&ranked)),
        ("budget", budget_chart(&ranked)),
        ("roc", roc_chart(&asked)),
        ("calibration", calibration_chart(&asked)),
    ];
    let model = subject.model.as_ref().map_or("none", |model| model.id());
    let page = page(model, conversations.len(), negatives.len(), &ranked, &asked, &charts);
    write(&args.page, &page)?;
    if let Some(folder) = &args.charts {
        fs::create_dir_all(folder).map_err(|error| Failure::file(folder, error))?;
        for (name, chart) in &charts {
            write(&folder.join(format!("{name}.svg")), &chart.svg())?;
        }
    }
    if output.is_json() {
        return output.json(&json!({ "page": args.page, "model": model, "charts": charts.len() }));
    }
    output.line(format_args!("{}: {} charts, model {model}", args.page.display(), charts.len()))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::file(path, error))
}

/// Every answer by level.
type Ranked<'a> = Vec<(Level, Vec<Answer<'a>>)>;

fn rank<'a>(subject: &Subject, conversations: &'a [Conversation]) -> Result<Ranked<'a>, Failure> {
    let tasks: Vec<(&Conversation, Level)> =
        Level::ALL.iter().flat_map(|level| conversations.iter().map(move |one| (one, *level))).collect();
    let asking = Asking { budgets: &BUDGETS, ..Asking::default() };
    let mut answers =
        each("searching", &tasks, |(conversation, level)| ask(subject, conversation, *level, asking))?.into_iter();
    let of_level = |level| (level, answers.by_ref().take(conversations.len()).flatten().collect());
    Ok(Level::ALL.map(of_level).into())
}

fn recall_chart(ranked: &Ranked) -> Chart {
    let line = |(level, answers): &(Level, Vec<Answer>)| {
        let at = |k: usize| {
            let share = |answer: &Answer| {
                let found: BTreeSet<&String> = answer.covered.iter().take(k).flatten().collect();
                found.len() as f64 / answer.gold.len().max(1) as f64
            };
            (k as f64, answers.iter().map(share).sum::<f64>() / answers.len().max(1) as f64)
        };
        Series { name: level.name().to_string(), points: (1..=10).map(at).collect() }
    };
    Chart {
        title: "Gold evidence among the first k results".into(),
        x: Axis {
            label: "k",
            from: 1.0,
            to: 10.0,
            ticks: (1..=10).map(f64::from).collect(),
            logarithmic: false,
            percent: false,
        },
        y: Axis::share("recall@k", 0.3),
        series: ranked.iter().map(line).collect(),
        diagonal: false,
    }
}

fn budget_chart(ranked: &Ranked) -> Chart {
    let line = |(level, answers): &(Level, Vec<Answer>)| {
        let points = within(answers.iter()).into_iter().map(|(budget, share)| (budget as f64, share)).collect();
        Series { name: level.name().to_string(), points }
    };
    let records = ranked.iter().filter(|(level, _)| *level != Level::Sessions);
    Chart {
        title: "Gold evidence in the written block, by budget".into(),
        x: Axis {
            label: "budget of the recall part, bytes",
            from: 256.0,
            to: 4096.0,
            ticks: BUDGETS.map(|budget| budget as f64).into(),
            logarithmic: true,
            percent: false,
        },
        y: Axis::share("share in the block", 0.0),
        series: records.map(line).collect(),
        diagonal: false,
    }
}

/// Decisions under the name of what was done to the questions.
type Asked<'a> = [(&'static str, &'a Vec<Decision<'a>>); 2];

/// For each confidence as the threshold: share of negatives and share of questions at or over it.
fn roc(decisions: &[Decision]) -> Vec<(f64, f64)> {
    let of = |label: Label| -> Vec<f64> {
        decisions.iter().filter(|one| one.label == label).map(|one| one.confidence).collect()
    };
    let (questions, negatives) = (of(Label::Question), of(Label::Negative));
    let mut thresholds: Vec<f64> = questions.iter().chain(&negatives).copied().collect();
    thresholds.sort_by(|a, b| b.total_cmp(a));
    thresholds.dedup();
    let share = |of: &[f64], least: f64| of.iter().filter(|one| **one >= least).count() as f64 / of.len().max(1) as f64;
    let mut points: Vec<(f64, f64)> =
        thresholds.iter().map(|least| (share(&negatives, *least), share(&questions, *least))).collect();
    points.insert(0, (0.0, 0.0));
    points
}

fn area(points: &[(f64, f64)]) -> f64 {
    points.windows(2).map(|pair| if let [(x1, y1), (x2, y2)] = pair { (x2 - x1) * (y1 + y2) / 2.0 } else { 0.0 }).sum()
}

fn roc_chart(asked: &Asked) -> Chart {
    let line = |(name, decisions): &(&str, &Vec<Decision>)| {
        let points = roc(decisions);
        Series { name: format!("{name}, AUC {:.3}", area(&points)), points }
    };
    Chart {
        title: "Yes where memory helps, against yes where it does not".into(),
        x: Axis {
            label: "yes on prompts that need no memory",
            from: 0.001,
            to: 1.0,
            ticks: vec![0.001, 0.01, 0.1, 1.0],
            logarithmic: true,
            percent: true,
        },
        y: Axis::share("yes on questions", 0.0),
        series: asked.iter().map(line).collect(),
        diagonal: false,
    }
}

fn reliability(decisions: &[Decision]) -> Reliability {
    let mut table = Reliability::default();
    for one in decisions.iter().filter(|one| one.label != Label::Other) {
        table.add(one.confidence, one.label == Label::Question);
    }
    table
}

fn calibration_chart(asked: &Asked) -> Chart {
    let line = |(name, decisions): &(&str, &Vec<Decision>)| {
        let table = reliability(decisions);
        let points = table.rows().map(|(_, _, mean, share)| (mean, share)).collect();
        let error = table.error().unwrap_or(f64::NAN);
        Series { name: format!("{name}, expected calibration error {error:.3}"), points }
    };
    Chart {
        title: "Stated confidence against what was true".into(),
        x: Axis::share("stated confidence", 0.0),
        y: Axis::share("share that the store answers", 0.0),
        series: asked.iter().map(line).collect(),
        diagonal: true,
    }
}

fn page(
    model: &str,
    stores: usize,
    negatives: usize,
    ranked: &Ranked,
    asked: &Asked,
    charts: &[(&str, Chart)],
) -> String {
    let mut out = String::from(HEAD);
    let questions: usize = ranked.iter().map(|(_, answers)| answers.len()).max().unwrap_or(0);
    let model = escape(model);
    write_page(&mut out, &model, [stores, questions, negatives], ranked, asked, charts).unwrap_or_default();
    out
}

fn write_page(
    out: &mut String,
    model: &str,
    [stores, questions, negatives]: [usize; 3],
    ranked: &Ranked,
    asked: &Asked,
    charts: &[(&str, Chart)],
) -> std::fmt::Result {
    writeln!(
        out,
        "<p>{stores} stores, {questions} questions, {negatives} prompts that need no memory; embedding model <code>{model}</code>. Everything went \
         through the path that answers prompts.</p>"
    )?;
    out.push_str("<div class=\"wide\"><table><tr><th></th><th>questions</th>");
    Figures::NAMES.iter().try_for_each(|name| write!(out, "<th>{name}</th>"))?;
    BUDGETS.iter().try_for_each(|budget| write!(out, "<th>in {budget} B</th>"))?;
    out.push_str("</tr>\n");
    for (level, answers) in ranked {
        let figures: Vec<Figures> = answers.iter().map(|answer| answer.figures).collect();
        let Some(mean) = Figures::mean(&figures) else { continue };
        write!(out, "<tr><th>{}</th><td>{}</td>", level.name(), answers.len())?;
        let shares = within(answers.iter()).into_iter().map(|(_, share)| share);
        mean.named().map(|(_, value)| value).chain(shares).try_for_each(|value| write!(out, "<td>{value:.3}</td>"))?;
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div>\n<table><tr><th></th><th>yes on questions</th><th>yes on negatives</th><th>yes on other stores' questions</th></tr>\n");
    for (name, decisions) in asked {
        write!(out, "<tr><th>{}</th>", escape(name))?;
        for label in [Label::Question, Label::Negative, Label::Other] {
            let of: Vec<bool> = decisions.iter().filter(|one| one.label == label).map(|one| one.yes).collect();
            let share = of.iter().filter(|yes| **yes).count() as f64 / of.len().max(1) as f64;
            write!(out, "<td>{:.1} %</td>", share * 100.0)?;
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n<main>\n");
    charts.iter().for_each(|(_, chart)| out.push_str(&chart.svg()));
    out.push_str("</main>\n</html>\n");
    Ok(())
}

const HEAD: &str = r#"<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>foreword: measured</title>
<style>
:root { color-scheme: light dark; font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 1340px; margin: 2rem auto; padding: 0 1rem; background: light-dark(#f6f8fa, #010409); color: light-dark(#24292f, #e6edf3); }
main { display: flex; flex-wrap: wrap; gap: 1rem; margin-top: 1.5rem; }
svg { max-width: 100%; height: auto; border: 1px solid light-dark(#d8dee4, #30363d); border-radius: 6px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid light-dark(#d8dee4, #30363d); }
th:first-child { text-align: left; }
</style>
<h1>foreword: measured</h1>
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_area_under_a_curve() {
        assert!((area(&[(0.0, 0.0), (0.0, 1.0), (1.0, 1.0)]) - 1.0).abs() < 1e-12);
        assert!((area(&[(0.0, 0.0), (1.0, 1.0)]) - 0.5).abs() < 1e-12);
    }
}
