//! Chromium with the driver of the same version, and Firefox, for the tests in a browser.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::npm::{Node, script};
use super::{alone, debian, npm};
use crate::process::{Step, capture, command};
use crate::{Result, paths};

pub struct Browser {
    pub chrome: PathBuf,
    pub driver: PathBuf,
}

/// Takes the first road that is open: a matching pair on this machine; a pair fetched from the browser's makers; Debian.
pub fn ready() -> Result<Browser> {
    let _alone = alone()?;
    if let Some(found) = on_machine() {
        return Ok(found);
    }
    let note = paths::cache()?.join("browser.txt");
    if let Some(found) = noted(&note) {
        return Ok(found);
    }
    match fetch() {
        Ok(browser) => {
            paths::write(&note, format!("{}\n{}\n", browser.chrome.display(), browser.driver.display()))?;
            return Ok(browser);
        }
        Err(reason) => println!("    not possible here ({reason}); trying Debian's packages"),
    }
    debian::install(&["chromium", "chromium-driver"], "a browser for the tests")?;
    on_machine().ok_or_else(|| "Chromium was installed, but it and its driver do not run".into())
}

/// Firefox, by the same roads; it needs no driver.
pub fn firefox() -> Result<PathBuf> {
    let _alone = alone()?;
    let mac = PathBuf::from("/Applications/Firefox.app/Contents/MacOS/firefox");
    let on_machine = || {
        let names = ["firefox", "firefox-esr"].iter().filter_map(|name| paths::on_path(name));
        names.chain([mac.clone()]).find(|path| major(path).is_some())
    };
    if let Some(found) = on_machine() {
        return Ok(found);
    }
    let note = paths::cache()?.join("firefox.txt");
    let noted = std::fs::read_to_string(&note).ok().map(|text| PathBuf::from(text.trim()));
    if let Some(found) = noted.filter(|path| path.is_file()) {
        return Ok(found);
    }
    match fetched("firefox").and_then(|path| major(&path).map(|_| path).ok_or("what was fetched does not run".into())) {
        Ok(path) => {
            paths::write(&note, format!("{}\n", path.display()))?;
            return Ok(path);
        }
        Err(reason) => println!("    not possible here ({reason}); trying Debian's packages"),
    }
    debian::install(&["firefox-esr"], "Firefox for the tests")?;
    on_machine().ok_or_else(|| "Firefox was installed, but it does not run".into())
}

fn on_machine() -> Option<Browser> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
    let mac = PathBuf::from("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
    let driver = paths::on_path("chromedriver")?;
    let mut candidates = names.iter().filter_map(|name| paths::on_path(name)).chain([mac]);
    let wanted = major(&driver)?;
    let chrome = candidates.find(|path| major(path) == Some(wanted))?;
    Some(Browser { chrome, driver })
}

/// The pair that an earlier run fetched.
fn noted(note: &Path) -> Option<Browser> {
    let text = std::fs::read_to_string(note).ok()?;
    let mut lines = text.lines().map(PathBuf::from).filter(|path| path.is_file());
    Some(Browser { chrome: lines.next()?, driver: lines.next()? })
}

fn fetch() -> Result<Browser> {
    let browser = Browser { driver: fetched("chromedriver")?, chrome: fetched("chrome")? };
    // A browser without its system libraries does not start.
    match (major(&browser.chrome), major(&browser.driver)) {
        (Some(a), Some(b)) if a == b => Ok(browser),
        _ => Err("what was fetched does not run".into()),
    }
}

/// A program fetched from the browser's makers.
fn fetched(name: &str) -> Result<PathBuf> {
    npm::ready()?;
    let into = paths::cache()?.join("browsers");
    let what = format!("fetching {name}");
    let step = Step { what: &what, usually: "1 minute, once", give_up: Duration::from_secs(900) };
    let mut fetcher = script(Node::TwentyFour, "@puppeteer/browsers/lib/main-cli.js");
    let fetcher = fetcher.args(["install", &format!("{name}@stable"), "--path"]).arg(&into);
    // "chrome@156.0.8078.114 /a/path with/blanks"
    let printed = step.run(fetcher).map_err(|failed| failed.reason)?;
    let path = printed.lines().rev().find_map(|line| {
        let (_, path) = line.strip_prefix(name)?.strip_prefix('@')?.split_once(' ')?;
        Some(PathBuf::from(path.trim())).filter(|path| path.is_file())
    });
    path.ok_or_else(|| format!("{name} was fetched, but it did not say where to"))
}

/// "Chromium 156.0.8078.114 built on …", "ChromeDriver 156.0.8078.114 (…)", "Mozilla Firefox 153.8.0esr"
fn major(program: &Path) -> Option<u32> {
    let line = capture(command(program).arg("--version")).ok()?;
    line.split(' ').find_map(|word| word.split_once('.')?.0.parse().ok())
}
