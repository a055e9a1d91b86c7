use indicatif::{ProgressBar, ProgressStyle};

/// A bar of `total` units on standard error; silent where that is no terminal.
pub fn bar(what: &'static str, total: u64, bytes: bool) -> ProgressBar {
    // Draws nothing unless standard error is a terminal.
    let bar = ProgressBar::new(total);
    let amount = if bytes { "{bytes}/{total_bytes}" } else { "{pos}/{len}" };
    let template = format!("{{prefix:<10}} {{bar:40}} {amount} {{msg}}");
    if let Ok(style) = ProgressStyle::with_template(&template) {
        bar.set_style(style);
    }
    bar.set_prefix(what);
    bar
}
