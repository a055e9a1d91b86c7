use foreword::retrieve::ThemesRequest;
use serde_json::json;

use super::failure::Failure;
use super::options::{SnapshotArgs, ViewerArgs};
use super::output::{Output, brief, plain};

#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    snapshot: SnapshotArgs,
    #[command(flatten)]
    viewer: ViewerArgs,
    /// The most themes, 1 to 1,000.
    #[arg(long, value_name = "N", default_value_t = ThemesRequest::default().limit)]
    limit: usize,
}

pub fn run(args: &Args, output: &mut Output) -> Result<(), Failure> {
    // Themes are made when the snapshot is: no vectors are compared, so no remark about them is due.
    let (engine, _) = args.snapshot.load(|_| ())?;
    let mut request = ThemesRequest::default();
    request.scope = args.viewer.scope();
    request.now = args.viewer.now();
    request.limit = args.limit;
    let themes = engine.themes(&request)?;
    if output.is_json() {
        return output.json(&json!({ "themes": themes }));
    }
    if themes.is_empty() {
        return output.line("no records belong together closely enough to make a theme");
    }
    for theme in &themes {
        let updated = theme.updated.map_or_else(String::new, |time| format!(", last changed {}", time.date()));
        output.line(format_args!("{} ({} records{updated})", plain(&theme.title), theme.size))?;
        output.line(format_args!("    {}", brief(&theme.summary, 300)))?;
    }
    Ok(())
}
