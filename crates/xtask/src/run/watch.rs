//! Watching both processes: an end that nobody asked for is told, and the process starts again on
//! Enter. Under `--chaos` the app is killed on purpose, again and again.

use std::io::BufRead;
use std::num::NonZeroU32;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::process::{ending, say};
use crate::run::app::App;
use crate::run::service::Service;
use crate::signals;

const POLL: Duration = Duration::from_millis(50);
/// How long to wait before starting again where nobody can press Enter.
const ALONE: Duration = Duration::from_secs(3);

/// Returns when we are told to stop.
pub fn until_told(
    app: &App,
    running: &mut Service,
    demo: &mut Service,
    chaos: Option<NonZeroU32>,
) -> Result<()> {
    let enters = read_enters();
    let mut next_kill = chaos.map(|seconds| Kill::after(seconds, 0));
    while !signals::stop_asked() {
        sleep(POLL);
        if let Some(Kill { every, count: number, .. }) = next_kill.take_if(|kill| kill.is_due()) {
            next_kill = Some(Kill::after(every, number));
            if running.ended()?.is_none() {
                let pid = running.pid();
                running.kill()?;
                say(format_args!("kill {number}: the app (pid {pid}) was killed; starting it again"));
                again(app, running)?;
                continue;
            }
        }
        if let Some(status) = running.ended()? {
            say(format_args!("the app (pid {}) is gone: {}", running.pid(), ending(status)));
            say("the demo world lives on: agents work, booking systems book");
            if wait_for_enter(&enters, "start the app again", ALONE) {
                again(app, running)?;
            }
        } else if let Some(status) = demo.ended()? {
            say(format_args!("the demo world (pid {}) is gone: {}", demo.pid(), ending(status)));
            if wait_for_enter(&enters, "start the demo world again", ALONE) {
                demo.start_again()?;
                say(format_args!("the demo world is started again, with pid {}", demo.pid()));
            }
        }
    }
    Ok(())
}

/// Starts the app again. That it fails to come up is told and not the end: the next round sees it gone.
fn again(app: &App, running: &mut Service) -> Result<()> {
    let begun = Instant::now();
    match app.start_again(running) {
        Ok(()) => say(format_args!(
            "the app is up again after {} ms, with pid {}",
            begun.elapsed().as_millis(),
            running.pid()
        )),
        Err(_) if signals::stop_asked() => {}
        Err(error) => say(format_args!("{error:#}")),
    }
    Ok(())
}

/// The next kill on purpose.
struct Kill {
    every: NonZeroU32,
    count: u32,
    begun: Instant,
    pause: Duration,
}

impl Kill {
    fn after(every: NonZeroU32, killed: u32) -> Self {
        Self { every, count: killed + 1, begun: Instant::now(), pause: pause(every, killed) }
    }

    fn is_due(&self) -> bool {
        self.begun.elapsed() >= self.pause
    }
}

/// From three to five quarters of the time asked for, so that kills do not fall into step with timers.
fn pause(every: NonZeroU32, killed: u32) -> Duration {
    let percent = 75 + killed.wrapping_mul(37) % 51;
    Duration::from_secs(u64::from(every.get())) * percent / 100
}

/// A line for every Enter; closed when there is no input any more.
fn read_enters() -> Receiver<()> {
    let (enter, enters) = channel();
    spawn(move || {
        for line in std::io::stdin().lock().lines() {
            if line.is_err() || enter.send(()).is_err() {
                return;
            }
        }
    });
    enters
}

/// Waits for an Enter that comes from now on; false if we are told to stop instead.
fn wait_for_enter(enters: &Receiver<()>, then: &str, patience: Duration) -> bool {
    while enters.try_recv().is_ok() {}
    let alone = enters.try_recv() == Err(TryRecvError::Disconnected);
    if alone {
        say(format_args!("nobody can press Enter here: will {then} in {} s", patience.as_secs()));
    } else {
        say(format_args!("press Enter to {then}"));
    }
    let begun = Instant::now();
    while !signals::stop_asked() {
        match enters.try_recv() {
            Ok(()) => return true,
            Err(TryRecvError::Disconnected) if begun.elapsed() >= patience => return true,
            Err(_) => sleep(POLL),
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_stay_near_what_was_asked() {
        let every = NonZeroU32::new(8).expect("not zero");
        for killed in 0..200 {
            let pause = pause(every, killed);
            assert!(pause >= Duration::from_secs(6) && pause <= Duration::from_secs(10), "{pause:?}");
        }
    }

    #[test]
    fn where_nobody_can_press_enter_it_goes_on_alone() {
        let (enter, enters) = channel::<()>();
        drop(enter);
        assert!(wait_for_enter(&enters, "go on", Duration::from_millis(1)));
    }
}
