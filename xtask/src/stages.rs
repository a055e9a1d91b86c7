//! The stages of `cargo xtask test`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::setup::{self, Node, Wasm, browser};
use crate::{Result, module, paths, process, size};

struct Stage {
    name: &'static str,
    what: &'static str,
    run: fn() -> Result<()>,
}

/// In the order in which they run: the quick ones first, and what shares a build stands together.
const STAGES: [Stage; 11] = [
    Stage { name: "setup", what: "tools, a browser, the wasm target", run: setup::everything },
    Stage { name: "fmt", what: "formatting", run: fmt },
    Stage { name: "clippy", what: "lints, native and wasm", run: clippy },
    Stage { name: "native", what: "native tests", run: native },
    Stage { name: "wasm-node", what: "wasm tests in Node", run: wasm_node },
    Stage { name: "wasm-chrome", what: "wasm tests in headless Chromium", run: wasm_chrome },
    Stage { name: "node", what: "JavaScript tests in this machine's Node", run: node },
    Stage { name: "node24", what: "JavaScript tests in Node 24", run: node24 },
    Stage { name: "hosts", what: "the packed package in every host and bundler", run: hosts },
    Stage { name: "integrations", what: "SDKs, stores and databases as they are", run: integrations },
    Stage { name: "size", what: "size of the shipped module", run: check_size },
];

pub fn names() -> String {
    STAGES.map(|stage| stage.name).join(", ")
}

/// Runs every stage, or those named; goes on after a failure, and ends with a table.
pub fn run(wanted: &[String]) -> Result<()> {
    if let Some(unknown) = wanted.iter().find(|name| STAGES.iter().all(|stage| stage.name != **name)) {
        return Err(format!("there is no stage `{unknown}`; the stages are {}", names()));
    }
    let chosen = STAGES.iter().filter(|stage| wanted.is_empty() || wanted.iter().any(|name| name == stage.name));
    let mut table = Vec::new();
    for stage in chosen {
        println!("\n━━━ {}: {}", stage.name, stage.what);
        let start = Instant::now();
        let result = (stage.run)();
        if let Err(why) = &result {
            println!("{why}");
        }
        table.push((stage, result.is_ok(), start.elapsed()));
    }
    summary(&table)
}

fn summary(table: &[(&Stage, bool, Duration)]) -> Result<()> {
    println!("\n━━━ summary");
    for (stage, passed, time) in table {
        let verdict = if *passed { "ok" } else { "FAILED" };
        println!("{:<12} {:<42} {verdict:<7} {:>6.1} s", stage.name, stage.what, time.as_secs_f64());
    }
    let total: Duration = table.iter().map(|(_, _, time)| *time).sum();
    println!("{:<12} {:<42} {:<7} {:>6.1} s", "all", "", "", total.as_secs_f64());
    let failed: Vec<&str> = table.iter().filter(|(_, passed, _)| !passed).map(|(stage, ..)| stage.name).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let names = failed.join(" ");
    Err(format!("{} of {} stages failed. Again: cargo xtask test {names}", failed.len(), table.len()))
}

fn fmt() -> Result<()> {
    process::show(process::command("cargo").args(["fmt", "--all", "--check"]))
        .map_err(|why| format!("{why}\n  `cargo fmt --all` does it."))
}

fn clippy() -> Result<()> {
    let native = ["clippy", "--locked", "--workspace", "--all-targets", "--", "--deny", "warnings"];
    process::show(process::command("cargo").args(native))?;
    // The faces to JavaScript are compiled for wasm only.
    let mut wasm = setup::for_build()?.command("cargo");
    wasm.args(["clippy", "--locked", "--no-default-features", "--target", "wasm32-unknown-unknown"]);
    process::show(wasm.args(["--lib", "--test", "wasm_node", "--test", "wasm_browser", "--", "--deny", "warnings"]))
}

fn native() -> Result<()> {
    process::show(process::command("cargo").args(["test", "--locked", "--workspace"]))
}

fn wasm_node() -> Result<()> {
    let wasm = setup::for_wasm_tests()?;
    process::show(wasm_pack(&wasm, &["--node"])?.args(WASM_FEATURES))
}

fn wasm_chrome() -> Result<()> {
    let wasm = setup::for_wasm_tests()?;
    let browser = browser::ready()?;
    let mut wasm_pack = wasm_pack(&wasm, &["--headless", "--chrome", "--chromedriver"])?;
    wasm_pack.arg(&browser.driver).args(WASM_FEATURES);
    process::show(wasm_pack.env("WASM_BINDGEN_TEST_WEBDRIVER_JSON", capabilities(&browser)?))
}

const WASM_FEATURES: [&str; 3] = ["--", "--locked", "--no-default-features"];

fn wasm_pack(wasm: &Wasm, args: &[&str]) -> Result<Command> {
    let mut command = wasm.command(paths::tool("wasm-pack")?);
    // wasm-pack looks for wasm-bindgen's test runner on PATH before it tries to fetch one.
    process::path_first(&mut command, paths::tool("wasm-pack")?.parent().expect("a folder"))?;
    command.arg("test").args(args);
    Ok(command)
}

/// Says which browser to start and how; returns the file.
fn capabilities(browser: &browser::Browser) -> Result<PathBuf> {
    let flags = [
        "headless",
        "no-sandbox",
        "disable-gpu",
        "disable-quic",
        "disable-dev-shm-usage",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
    ];
    let flags = flags.map(|flag| format!("\"{flag}\"")).join(", ");
    let chrome = browser.chrome.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
    let json = format!("{{\"goog:chromeOptions\": {{\"binary\": \"{chrome}\", \"args\": [{flags}]}}}}\n");
    let path = paths::target().join("webdriver.json");
    paths::write(&path, json)?;
    Ok(path)
}

fn node() -> Result<()> {
    javascript(Node::OnPath)
}

fn node24() -> Result<()> {
    javascript(Node::TwentyFour)
}

fn javascript(which: Node) -> Result<()> {
    module::ready()?;
    println!("Node {}", process::capture(setup::node(which).arg("--version"))?);
    process::show(&mut node_test(which, &paths::js().join("node"))?)
}

/// A command that runs every test file of a folder.
fn node_test(which: Node, dir: &Path) -> Result<Command> {
    // Node 20 does not expand patterns.
    let mut files = paths::files_in(dir)?;
    files.retain(|path| path.to_string_lossy().ends_with(".test.mjs"));
    let mut command = setup::node(which);
    // One after the other: they measure times, and each starts programs of its own.
    command.args(["--test", "--test-reporter=spec", "--test-concurrency=1"]).args(files);
    Ok(command)
}

/// The tools that drive the hosts want Node 24; the machine's own is one of the hosts.
fn hosts() -> Result<()> {
    module::ready()?;
    setup::for_hosts()?;
    let chrome = browser::ready()?.chrome;
    let firefox = browser::firefox();
    let mut tests = node_test(Node::TwentyFour, &paths::hosts())?;
    tests.env("FOREWORD_CHROME", chrome);
    match &firefox {
        Ok(path) => tests.env("FOREWORD_FIREFOX", path),
        Err(_) => tests.env("FOREWORD_FIREFOX", ""),
    };
    let passed = process::show(&mut tests);
    if let Err(why) = firefox {
        println!("\n!!! FIREFOX WAS NOT TESTED: {why}");
    }
    passed
}

/// miniflare wants Node 22 or newer.
fn integrations() -> Result<()> {
    module::ready()?;
    setup::for_integrations()?;
    process::show(&mut node_test(Node::TwentyFour, &paths::integrations())?)
}

fn check_size() -> Result<()> {
    module::ready()?;
    size::check()
}
