//! `cargo xtask build`: the release binaries with their site beside them, and the budget for what a
//! browser loads.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::process::say;
use crate::workspace::{Mode, Workspace};
use crate::{binaries, frontend};

/// What JavaScript and wasm may weigh together, packed by brotli.
const BUDGET: u64 = 130_000;

/// Builds everything for use and fails above the budget.
pub fn build(workspace: &Workspace) -> Result<()> {
    frontend::build(workspace, Mode::Release)?;
    binaries::build(workspace, Mode::Release)?;
    let folder = workspace.binaries(Mode::Release);
    say(format_args!("holdfast, holdfast-demo, hash.txt and site/ are in {}", workspace.show(&folder)));

    let mut loaded = 0;
    for file in frontend::files(workspace, Mode::Release)? {
        let packed = size(&file.with_extension(format!("{}.br", extension(&file))))?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        say(format_args!("{:>9} bytes, {packed:>7} by brotli  {name}", size(&file)?));
        if matches!(extension(&file), "js" | "wasm") {
            loaded += packed;
        }
    }
    say(format_args!("js + wasm by brotli: {} kB of {} kB", kilobytes(loaded), kilobytes(BUDGET)));
    within_budget(loaded)
}

fn within_budget(loaded: u64) -> Result<()> {
    if loaded > BUDGET {
        bail!("js + wasm are {} bytes over the budget", loaded - BUDGET);
    }
    Ok(())
}

fn size(file: &Path) -> Result<u64> {
    Ok(fs::metadata(file).with_context(|| format!("{} is missing", file.display()))?.len())
}

fn extension(file: &Path) -> &str {
    file.extension().and_then(|text| text.to_str()).unwrap_or_default()
}

fn kilobytes(bytes: u64) -> String {
    format!("{}.{}", bytes / 1000, bytes % 1000 / 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_is_held() {
        assert!(within_budget(BUDGET).is_ok());
        assert!(within_budget(BUDGET + 1).is_err());
        assert_eq!(kilobytes(74_560), "74.5");
    }
}
