//! Debian's packages, where the ordinary road is closed.

use std::time::Duration;

use crate::process::{Step, capture, command};
use crate::{Result, paths};

/// Installs packages; `what_for` completes "needed for …" in the sentence shown when that is impossible.
pub fn install(packages: &[&str], what_for: &str) -> Result<()> {
    let by_hand = format!("apt-get install --no-install-recommends {}", packages.join(" "));
    if paths::on_path("apt-get").is_none() {
        return Err(format!("{what_for} could not be had, and this is not a Debian system to install it from"));
    }
    let root = capture(command("id").arg("-u")).is_ok_and(|id| id == "0");
    if !root && capture(command("sudo").args(["-n", "true"])).is_err() {
        return Err(format!("{what_for} needs Debian packages. Run `sudo {by_hand}`, then this again."));
    }
    let apt_get = |args: &[&str]| {
        let mut apt = if root { command("apt-get") } else { command("sudo") };
        if !root {
            apt.args(["-n", "apt-get"]);
        }
        apt.env("DEBIAN_FRONTEND", "noninteractive").arg("--yes").args(args);
        apt
    };
    let update = Step { what: "apt-get update", usually: "10 s", give_up: Duration::from_secs(600) };
    update.run(&mut apt_get(&["update"]))?;
    let what = format!("apt-get install {}", packages.join(" "));
    let install = Step { what: &what, usually: "1 minute", give_up: Duration::from_secs(1800) };
    install.run(apt_get(&["install", "--no-install-recommends"]).args(packages))?;
    Ok(())
}
