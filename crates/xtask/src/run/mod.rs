//! `cargo xtask run`: the app and the demo world. The demo world is a process of its own, so that
//! its agents and booking systems live on when the app is killed.

mod app;
mod health;
mod service;
mod watch;

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process::{self, command, say};
use crate::run::service::Service;
use crate::workspace::{Mode, Workspace};
use crate::{binaries, frontend, signals};

/// The demo's control page; its agents and booking systems take the ports after it.
const DEMO_PORT: u16 = 7100;
const START_LIMIT: Duration = Duration::from_secs(60);

/// Builds and starts everything, and stays until it is told to stop.
pub fn run(workspace: &Workspace, mode: Mode, chaos: Option<NonZeroU32>) -> Result<()> {
    frontend::build(workspace, mode)?;
    binaries::build(workspace, mode)?;
    let data = workspace.root.join("data");
    let world = data.join("demo/world.json");
    fs::create_dir_all(data.join("demo")).with_context(|| format!("{} cannot be made", data.display()))?;

    say("starting the demo world");
    let mut demo = start_demo(workspace, mode, &world)?;
    let control = control_page(&world)?;

    let app = app::App::prepare(workspace, mode, &data)?;
    say("starting the app");
    let mut running = app.start()?;
    register(workspace, mode, &world, &app.token)?;

    print_block(&control, running.pid(), chaos);
    watch::until_told(&app, &mut running, &mut demo, chaos)?;
    say("stopping the app and the demo world; data/ keeps what they know");
    running.stop();
    demo.stop();
    Ok(())
}

/// Starts the demo world and waits until it has written where its parts are.
fn start_demo(workspace: &Workspace, mode: Mode, world: &Path) -> Result<Service> {
    if world.exists() {
        fs::remove_file(world).with_context(|| format!("{} cannot be deleted", world.display()))?;
    }
    let binary = workspace.demo(mode);
    let root = workspace.root.clone();
    let mut demo = Service::start("the demo world", move || {
        let mut demo = command(&binary, &root);
        demo.args(["serve", "--data", "data/demo", "--base-port", &DEMO_PORT.to_string()]);
        demo
    })?;
    let up = health::wait_for(START_LIMIT, || Ok(world.exists() || demo.ended()?.is_some()))?;
    if let Some(status) = demo.ended()? {
        bail!("the demo world did not start: {}", process::ending(status));
    }
    if !up {
        bail!("the demo world is not up after {} s", START_LIMIT.as_secs());
    }
    Ok(demo)
}

/// The address of the demo's control page.
fn control_page(world: &Path) -> Result<String> {
    let text = fs::read_to_string(world).with_context(|| format!("{} cannot be read", world.display()))?;
    let world: serde_json::Value =
        serde_json::from_str(&text).context("the demo's world.json is not JSON")?;
    let control = world.get("control").and_then(serde_json::Value::as_str);
    Ok(control.map_or_else(|| format!("http://127.0.0.1:{DEMO_PORT}"), str::to_owned))
}

/// Tells the app of the demo's agents and booking systems; what it knows already is left alone.
fn register(workspace: &Workspace, mode: Mode, world: &Path, token: &str) -> Result<()> {
    let mut register = command(workspace.demo(mode), &workspace.root);
    register.args(["register", "--world"]).arg(world).args(["--app", app::ADDRESS, "--token", token]);
    process::run(&mut register).map_err(|error| match signals::stop_asked() {
        true => error,
        false => anyhow::anyhow!("the demo's agents could not be registered with the app (see above)"),
    })
}

fn print_block(control: &str, pid: u32, chaos: Option<NonZeroU32>) {
    let mut lines = vec![
        String::new(),
        format!("  Holdfast          {}", app::ADDRESS),
        format!("  demo's controls   {control}"),
        String::new(),
        "  sign in as".to_owned(),
    ];
    for account in app::ACCOUNTS {
        lines.push(format!("    {:<31} {:<15} {}", account.email, account.password, account.role));
    }
    lines.push(String::new());
    lines.push(match chaos {
        Some(seconds) => format!("  The app is killed and started again about every {seconds} s."),
        None => format!("  The app's pid is {pid}. Try `kill -9 {pid}` in the middle of a trip."),
    });
    lines.push("  Ctrl-C stops both.".to_owned());
    lines.push(String::new());
    println!("{}", lines.join("\n"));
}

/// A path in `data/`, for messages.
fn file(data: &Path, name: &str) -> PathBuf {
    data.join(name)
}
