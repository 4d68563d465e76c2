//! The two binaries: the app and the demo world.

use anyhow::Result;

use crate::process::{cargo, run, say};
use crate::workspace::{Mode, Workspace};

/// Builds `holdfast` and `holdfast-demo`.
pub fn build(workspace: &Workspace, mode: Mode) -> Result<()> {
    say("building the app and the demo world");
    let mut cargo = cargo(&workspace.root);
    cargo.args(["build", "--locked", "-p", "server", "-p", "demo"]);
    if mode == Mode::Release {
        cargo.arg("--release");
    }
    run(&mut cargo)
}
