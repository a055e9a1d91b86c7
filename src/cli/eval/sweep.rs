use std::path::PathBuf;

use serde_json::{Value, json};

use super::data::{Conversation, conversations};
use super::locomo::{Answer, Asking, Level, ask};
use super::metrics::Figures;
use super::{SubjectArgs, each};
use crate::cli::failure::Failure;
use crate::cli::options::Setting;
use crate::cli::output::Output;

#[derive(clap::Args)]
pub struct Args {
    /// Folder with a folder for each conversation.
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// A setting and the values to try, one at a time, such as `search.groupWeight=0,0.2,0.6`; may be given again and again. Settings joined with `+`
    /// take the same value.
    #[arg(long = "set", value_name = "KEY=VALUES", required = true, value_parser = settings)]
    sets: Vec<Vec<Variant>>,
    #[command(flatten)]
    subject: SubjectArgs,
}

/// What differs from the defaults in one row.
type Variant = Vec<Setting>;

fn settings(text: &str) -> Result<Vec<Variant>, String> {
    let expected = "expected a setting and its values, such as `search.groupWeight=0,0.2`";
    let (keys, values) = text.split_once('=').filter(|(keys, _)| !keys.is_empty()).ok_or(expected)?;
    let variant = |value: &str| {
        let value: Value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_string()));
        keys.split('+').map(|key| Setting { key: key.to_string(), value: value.clone() }).collect()
    };
    Ok(values.split(',').map(variant).collect())
}

/// What is told of each level: the figure that its bar is set on.
const FIGURES: [(Level, &str); 4] = [
    (Level::Turns, "recall@10"),
    (Level::Observations, "recall@10"),
    (Level::Sessions, "recall@5"),
    (Level::Sessions, "recall@10"),
];

/// One row: the four figures, and in how many conversations each rose and fell against the defaults.
struct Row {
    name: String,
    /// By figure, by conversation.
    by_conversation: Vec<Vec<f64>>,
    means: Vec<f64>,
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    let conversations = conversations(&args.folder)?;
    let variants: Vec<Variant> = std::iter::once(Vec::new()).chain(args.sets.iter().flatten().cloned()).collect();
    let mut rows: Vec<Row> = Vec::new();
    for variant in &variants {
        let row = measure(args, &conversations, variant)?;
        if !output.is_json() {
            if rows.is_empty() {
                let header: String = FIGURES
                    .iter()
                    .map(|(level, figure)| format!("{:>24}", format!("{} {figure}", level.name())))
                    .collect();
                output.line(format_args!("{:<44}{header}", ""))?;
            }
            let cells: String = (0..FIGURES.len()).map(|at| cell(&row, rows.first(), at)).collect();
            output.line(format_args!("{:<44}{cells}", row.name))?;
        }
        rows.push(row);
    }
    if output.is_json() {
        let object = |row: &Row| {
            let figures = FIGURES.iter().zip(&row.means);
            let figures: serde_json::Map<_, _> =
                figures.map(|((level, figure), mean)| (format!("{} {figure}", level.name()), json!(mean))).collect();
            json!({ "settings": row.name, "figures": figures })
        };
        return output.json(&rows.iter().map(object).collect::<Vec<_>>());
    }
    output.line("after each figure: in how many conversations it rose and fell against the first row")
}

/// The mean, and how many conversations rose and fell.
fn cell(row: &Row, first: Option<&Row>, at: usize) -> String {
    let mean = row.means.get(at).copied().unwrap_or(f64::NAN);
    let Some(first) = first else { return format!("{mean:>16.4}        ") };
    let pairs =
        row.by_conversation.get(at).into_iter().flatten().zip(first.by_conversation.get(at).into_iter().flatten());
    let (mut rose, mut fell) = (0, 0);
    for (now, before) in pairs {
        rose += usize::from(now > before);
        fell += usize::from(now < before);
    }
    format!("{mean:>16.4} {:<7}", format!("+{rose} -{fell}"))
}

fn measure(args: &Args, conversations: &[Conversation], variant: &[Setting]) -> Result<Row, Failure> {
    let subject = args.subject.load_with(variant)?;
    let tasks: Vec<(&Conversation, Level)> =
        Level::ALL.iter().flat_map(|level| conversations.iter().map(move |one| (one, *level))).collect();
    let answers: Vec<Vec<Answer>> =
        each("searching", &tasks, |(conversation, level)| ask(&subject, conversation, *level, Asking::default()))?;
    let (mut by_conversation, mut means) = (Vec::new(), Vec::new());
    for (level, figure) in FIGURES {
        let of_level: Vec<&Vec<Answer>> =
            tasks.iter().zip(&answers).filter(|((_, of), _)| *of == level).map(|(_, answers)| answers).collect();
        let figures = |answers: &[Answer]| answers.iter().map(|answer| answer.figures).collect::<Vec<_>>();
        let mean = |figures: &[Figures]| Figures::mean(figures).map_or(f64::NAN, |mean| mean.get(figure));
        by_conversation.push(of_level.iter().map(|answers| mean(&figures(answers))).collect());
        means.push(mean(&of_level.iter().flat_map(|answers| figures(answers)).collect::<Vec<_>>()));
    }
    let name: Vec<String> = variant.iter().map(|setting| format!("{}={}", setting.key, setting.value)).collect();
    Ok(Row { name: if name.is_empty() { "defaults".into() } else { name.join(" ") }, by_conversation, means })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_tried_one_value_at_a_time() {
        let variants = settings("search.a+search.b=0,null,rrf").expect("reads");
        assert_eq!(variants.len(), 3);
        let [first, _, last] = &variants[..] else { panic!("three") };
        assert_eq!(first[1], Setting { key: "search.b".into(), value: json!(0) });
        assert_eq!(last[0], Setting { key: "search.a".into(), value: json!("rrf") });
        assert!(settings("=1").is_err() && settings("search.a").is_err());
    }
}
