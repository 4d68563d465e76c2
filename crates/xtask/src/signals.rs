//! Ctrl-C and its relatives. A signal only sets a flag; whoever waits looks at it, stops what it
//! started and returns, so that nothing is left running.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

static ASKED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// Catches SIGINT, SIGTERM and SIGHUP from now on.
pub fn catch() -> Result<()> {
    let flag = ASKED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(flag)).context("a signal cannot be caught")?;
    }
    Ok(())
}

/// Whether somebody asked us to stop.
pub fn stop_asked() -> bool {
    ASKED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// The error that says so.
pub fn stopped() -> anyhow::Error {
    anyhow::anyhow!("stopped as asked")
}
