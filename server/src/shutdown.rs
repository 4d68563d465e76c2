//! The end: a signal stops the taking of connections, ends every stream, gives the trips back, and
//! the process is gone within its grace, whatever a browser still holds open (F-33).

use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;

/// How long open requests and the loop get after a signal. Five seconds from signal to exit are
/// promised; the rest is for the process's own end.
pub const GRACE: Duration = Duration::from_millis(4300);

/// The signals that end the process, listened to from the moment this is made.
pub struct EndSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl EndSignals {
    /// Starts listening.
    ///
    /// # Errors
    /// Where the system refuses the listening.
    pub fn listen() -> std::io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    /// Waits for SIGTERM or SIGINT and then cancels `token`.
    pub async fn cancel_on_signal(mut self, token: CancellationToken) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        tracing::info!("asked to end: closing connections and giving the trips back");
        token.cancel();
    }
}
