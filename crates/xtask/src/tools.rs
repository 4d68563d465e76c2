//! What a build or a test run needs beyond cargo: looked for, and installed where it is missing.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::process::{command, on_path, output, run, say};
use crate::workspace::Workspace;

/// The target of the browser's half.
pub const WASM: &str = "wasm32-unknown-unknown";

/// Makes sure that rustc can build for the browser.
pub fn wasm_target(workspace: &Workspace) -> Result<()> {
    let mut rustc = command("rustc", &workspace.root);
    let folder = output(rustc.args(["--print", "target-libdir", "--target", WASM]))?;
    if Path::new(folder.trim()).is_dir() {
        return Ok(());
    }
    say(format_args!("installing the target {WASM}"));
    run(command("rustup", &workspace.root).args(["target", "add", WASM]))
}

/// Chromium's binary, installed if there is none.
pub fn chromium() -> Result<PathBuf> {
    if let Some(given) = std::env::var_os("CHROMIUM") {
        let given = PathBuf::from(given);
        if !given.is_file() {
            bail!("CHROMIUM names {}, which is no file", given.display());
        }
        return Ok(given);
    }
    if let Some(found) = find_chromium() {
        return Ok(found);
    }
    install(&["chromium", "fonts-liberation"])?;
    find_chromium().context("Chromium was installed but is not on the PATH")
}

fn find_chromium() -> Option<PathBuf> {
    let usual = PathBuf::from("/usr/bin/chromium");
    if usual.is_file() {
        return Some(usual);
    }
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find_map(on_path)
}

/// The folder with PostgreSQL's own programs, installed if there is none.
pub fn postgres() -> Result<PathBuf> {
    if let Some(found) = find_postgres() {
        return Ok(found);
    }
    install(&["postgresql"])?;
    find_postgres().context("PostgreSQL was installed but its programs are not where they should be")
}

fn find_postgres() -> Option<PathBuf> {
    let complete =
        |folder: &PathBuf| ["postgres", "initdb", "pg_ctl"].iter().all(|name| folder.join(name).is_file());
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin")))
        })
        .filter(|(_, folder)| complete(folder))
        .collect();
    versions.sort();
    versions.pop().map(|(_, folder)| folder).or_else(|| {
        let folder = on_path("postgres")?.parent()?.to_owned();
        Some(folder).filter(complete)
    })
}

/// Makes sure that the browser tests' npm packages are those of the lock file.
pub fn npm_packages(workspace: &Workspace) -> Result<()> {
    let folder = workspace.end2end();
    let lock = std::fs::read(folder.join("package-lock.json"))
        .context("end2end/package-lock.json cannot be read")?;
    let stamp = folder.join("node_modules/.installed-from");
    if std::fs::read(&stamp).is_ok_and(|before| before == lock) {
        return Ok(());
    }
    if on_path("npm").is_none() {
        install(&["nodejs", "npm"])?;
    }
    say("installing the browser tests' npm packages");
    let mut npm = command("npm", &folder);
    npm.args(["ci", "--no-audit", "--no-fund"]).env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
    run(&mut npm)?;
    std::fs::write(&stamp, lock).context("node_modules cannot be written")
}

fn install(packages: &[&str]) -> Result<()> {
    let names = packages.join(" ");
    if on_path("apt-get").is_none() {
        bail!("this needs {names}, and there is no apt-get to install it with: please install it by hand");
    }
    say(format_args!("installing {names}"));
    let apt = |arguments: &[&str]| {
        let mut apt = if nix::unistd::geteuid().is_root() {
            command("apt-get", Path::new("/"))
        } else {
            let mut sudo = command("sudo", Path::new("/"));
            sudo.args(["-n", "--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
            sudo
        };
        run(apt.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    let hint = || format!("{names} could not be installed: please install it by hand");
    apt(&["-qq", "update"]).with_context(hint)?;
    let mut arguments = vec!["-qq", "install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    apt(&arguments).with_context(hint)
}
