//! The browser's half: wasm and its JavaScript by wasm-bindgen, the style sheet, their hashed names
//! and, for a release, their compressed copies. Everything is moved into the site at once.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use wasm_bindgen_cli_support::Bindgen;

use crate::compress;
use crate::process::{cargo, run, say};
use crate::style;
use crate::tools::{self, WASM};
use crate::workspace::{Mode, OUTPUT_NAME, PKG_DIR, Workspace};

/// Counts up whenever this file makes something else of the same input.
const RECIPE: &str = "1";
const STAMP: &str = ".built-from";

/// The files that carry a hash in their name: how `hash.txt` calls them, and their ending.
const KINDS: [&str; 3] = ["js", "wasm", "css"];

/// Builds the site, or leaves it as it is if nothing changed.
pub fn build(workspace: &Workspace, mode: Mode) -> Result<()> {
    tools::wasm_target(workspace)?;
    say("building the browser's half");
    let mut cargo = cargo(&workspace.root);
    cargo.args([
        "build",
        "--locked",
        "-p",
        "frontend",
        "--lib",
        "--target",
        WASM,
        "--profile",
        mode.wasm_profile(),
    ]);
    run(&mut cargo)?;

    let wasm = workspace.target.join(WASM).join(mode.wasm_profile()).join("frontend.wasm");
    let css = style::sheet(&workspace.root.join("style"))?;
    let wasm_bytes = fs::read(&wasm).with_context(|| format!("{} cannot be read", wasm.display()))?;
    let stamp = stamp(&wasm_bytes, css.as_bytes());
    if is_fresh(workspace, mode, &stamp) {
        return Ok(());
    }

    let site = workspace.site(mode);
    let fresh = site.join(format!("{PKG_DIR}.new-{}", std::process::id()));
    empty(&fresh)?;
    bind(&wasm, &fresh, mode)?;
    fs::write(fresh.join(format!("{OUTPUT_NAME}.css")), css)?;
    let hashes = give_hashed_names(&fresh)?;
    if mode == Mode::Release {
        say("compressing the site's files");
        compress::folder(&fresh)?;
    }
    fs::write(fresh.join(STAMP), format!("{stamp}\n{hashes}"))?;
    put_in_place(workspace, mode, &fresh, &hashes)
}

/// The hashed files of a built site.
pub fn files(workspace: &Workspace, mode: Mode) -> Result<Vec<PathBuf>> {
    let hashes = workspace.hash_file(mode);
    let hashes =
        fs::read_to_string(&hashes).with_context(|| format!("{} cannot be read", hashes.display()))?;
    Ok(names(&hashes).map(|name| workspace.site(mode).join(PKG_DIR).join(name)).collect())
}

fn stamp(wasm: &[u8], css: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(RECIPE);
    hash.update(wasm);
    hash.update(css);
    hex::encode(hash.finalize())
}

/// Whether the site was made of the same input, and is whole.
fn is_fresh(workspace: &Workspace, mode: Mode, stamp: &str) -> bool {
    let pkg = workspace.site(mode).join(PKG_DIR);
    let Ok(before) = fs::read_to_string(pkg.join(STAMP)) else { return false };
    let Some((made_from, hashes)) = before.split_once('\n') else { return false };
    made_from == stamp
        && fs::read_to_string(workspace.hash_file(mode)).is_ok_and(|now| now == hashes)
        && names(hashes).all(|name| pkg.join(name).is_file())
}

/// The file names that `hash.txt` stands for.
fn names(hashes: &str) -> impl Iterator<Item = String> {
    hashes
        .lines()
        .filter_map(|line| line.split_once(": "))
        .map(|(kind, hash)| format!("{OUTPUT_NAME}.{hash}.{kind}"))
}

fn bind(wasm: &Path, into: &Path, mode: Mode) -> Result<()> {
    let release = mode == Mode::Release;
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(wasm)
        .out_name(OUTPUT_NAME)
        .web(true)?
        .typescript(false)
        .debug(!release)
        .remove_name_section(release)
        .remove_producers_section(true)
        .omit_default_module_path(true);
    bindgen.generate(into).context("wasm-bindgen failed")?;
    fs::rename(into.join(format!("{OUTPUT_NAME}_bg.wasm")), into.join(format!("{OUTPUT_NAME}.wasm")))
        .context("wasm-bindgen left no wasm")
}

/// Renames `holdfast.js` to `holdfast.<hash>.js`, and so on, and gives the content of `hash.txt`.
fn give_hashed_names(folder: &Path) -> Result<String> {
    let mut hashes = String::new();
    for kind in KINDS {
        let plain = folder.join(format!("{OUTPUT_NAME}.{kind}"));
        let bytes = fs::read(&plain).with_context(|| format!("{} cannot be read", plain.display()))?;
        let mut hash = hex::encode(Sha256::digest(&bytes));
        hash.truncate(20);
        fs::rename(&plain, folder.join(format!("{OUTPUT_NAME}.{hash}.{kind}")))?;
        writeln!(hashes, "{kind}: {hash}")?;
    }
    Ok(hashes)
}

fn put_in_place(workspace: &Workspace, mode: Mode, fresh: &Path, hashes: &str) -> Result<()> {
    let pkg = workspace.site(mode).join(PKG_DIR);
    let old = pkg.with_extension("old");
    remove(&old)?;
    if pkg.exists() {
        fs::rename(&pkg, &old)?;
    }
    fs::rename(fresh, &pkg)?;
    let hash_file = workspace.hash_file(mode);
    fs::create_dir_all(workspace.binaries(mode))?;
    let beside = hash_file.with_extension("txt.new");
    fs::write(&beside, hashes)?;
    fs::rename(&beside, &hash_file)?;
    remove(&old)
}

fn empty(folder: &Path) -> Result<()> {
    remove(folder)?;
    fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))
}

fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be deleted", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_hash_file() {
        let all: Vec<String> = names("js: a1\nwasm: b2\ncss: c3\n").collect();
        assert_eq!(all, ["holdfast.a1.js", "holdfast.b2.wasm", "holdfast.c3.css"]);
    }

    #[test]
    fn the_stamp_follows_both_inputs() {
        assert_ne!(stamp(b"wasm", b"css"), stamp(b"wasm", b"other"));
        assert_ne!(stamp(b"wasm", b"css"), stamp(b"other", b"css"));
    }
}
