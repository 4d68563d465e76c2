//! Starting other programs: each in a process group of its own, so that a Ctrl-C reaches us alone
//! and we stop them in order.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::signals;

const POLL: Duration = Duration::from_millis(25);
const PATIENCE: Duration = Duration::from_secs(10);

/// Says what is being done, on stderr and at once.
pub fn say(what: impl std::fmt::Display) {
    eprintln!("xtask: {what}");
}

/// A command that runs in `folder`, without input.
pub fn command(program: impl AsRef<std::ffi::OsStr>, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// Cargo in the workspace's root. What cargo told *us* about our own package, and what Leptos looks
/// at while it is compiled, is taken out of the environment: it would have crates built again.
pub fn cargo(root: &Path) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), root);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let watched =
            ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_NAME", "LEPTOS_OUTPUT_NAME", "LEPTOS_WATCH"];
        if watched.iter().any(|start| text.starts_with(start)) {
            command.env_remove(&name);
        }
    }
    command
}

/// Starts a command in a process group of its own.
pub fn start(command: &mut Command) -> Result<Child> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.process_group(0).spawn().with_context(|| format!("{program} cannot be started"))
}

/// Waits until the child has ended; stops it when we are asked to stop.
pub fn wait(child: &mut Child) -> Result<ExitStatus> {
    loop {
        if let Some(status) = child.try_wait().context("a child process cannot be waited for")? {
            return Ok(status);
        }
        if signals::stop_asked() {
            stop(child);
            return Err(signals::stopped());
        }
        sleep(POLL);
    }
}

/// Runs a command with our own output; an error unless it succeeds.
pub fn run(command: &mut Command) -> Result<()> {
    let status = wait(&mut start(command)?)?;
    if !status.success() {
        bail!("`{}` failed: {}", line(command), ending(status));
    }
    Ok(())
}

/// Runs a command that should be quick and gives its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command
        .stderr(Stdio::inherit())
        .process_group(0)
        .output()
        .with_context(|| format!("{program} cannot be started"))?;
    if !output.status.success() {
        bail!("`{}` failed: {}", line(command), ending(output.status));
    }
    String::from_utf8(output.stdout).with_context(|| format!("{program} printed something that is not UTF-8"))
}

/// Ends a child and whatever it started: SIGTERM first, SIGKILL after ten seconds.
pub fn stop(child: &mut Child) {
    if matches!(child.try_wait(), Ok(Some(_))) {
        return;
    }
    signal_group(child, Signal::SIGTERM);
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if matches!(child.try_wait(), Ok(Some(_))) {
            return;
        }
        sleep(POLL);
    }
    signal_group(child, Signal::SIGKILL);
    // It is dead: this only collects it.
    let _ = child.wait();
}

fn signal_group(child: &Child, signal: Signal) {
    if let Ok(pid) = i32::try_from(child.id()) {
        // It may be gone by now, which is what we want.
        let _ = killpg(Pid::from_raw(pid), signal);
    }
}

/// How a process ended, in words.
pub fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(number)) => match Signal::try_from(number) {
            Ok(signal) => format!("killed by {signal}"),
            Err(_) => format!("killed by signal {number}"),
        },
        (None, None) => "ended".to_owned(),
    }
}

fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let mut words = vec![program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}

/// A program's place on the PATH.
pub fn on_path(program: &str) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_killed_process_is_told_from_one_that_left() {
        let left = command("sh", Path::new("/")).args(["-c", "exit 3"]).status().expect("sh runs");
        assert_eq!(ending(left), "exit status 3");
        let killed = command("sh", Path::new("/")).args(["-c", "kill -9 $$"]).status().expect("sh runs");
        assert_eq!(ending(killed), "killed by SIGKILL");
    }

    #[test]
    fn stop_ends_the_grandchildren_too() {
        let mut child =
            start(command("sh", Path::new("/")).args(["-c", "sleep 60 & wait"])).expect("sh starts");
        let group = Pid::from_raw(i32::try_from(child.id()).expect("a small pid"));
        stop(&mut child);
        for _ in 0..200 {
            if killpg(group, None).is_err() {
                return;
            }
            sleep(POLL);
        }
        panic!("the process group still lives");
    }
}
