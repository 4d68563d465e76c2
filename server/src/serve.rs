//! `holdfast serve`: takes the port, opens the journal, takes the trips, serves; and at a signal
//! gives everything back.

use crate::auth::session_store::EngineSessions;
use crate::config::Config;
use crate::router::router;
use crate::shutdown::{EndSignals, GRACE};
use crate::state::AppState;
use engine::{Engine, LoopHandle, OpenError};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// How long the database may take to close.
const LAST_WRITES: Duration = Duration::from_millis(200);

/// Why the server did not start, or ended badly.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address is taken or not ours.
    #[error("cannot listen on {address}: {}", in_words(.source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The journal could not be opened, or its trips not taken.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The process was paused, or cut off from the database, for longer than its heartbeat is good.
    #[error("the right to drive trips was lost: the heartbeat ran out; start again to take them back")]
    TripsLost,
    /// Signals could not be listened to, or the listening socket failed.
    #[error("the system refused: {0}")]
    System(#[from] io::Error),
}

fn in_words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            "another program uses this port; end it, or choose another port with --listen or HOLDFAST_LISTEN"
                .to_owned()
        }
        io::ErrorKind::AddrNotAvailable => "this machine has no such address; give one of its own".to_owned(),
        io::ErrorKind::PermissionDenied => "this port takes more rights; choose one above 1023".to_owned(),
        _ => error.to_string(),
    }
}

/// Serves until a signal.
///
/// # Errors
/// Why it did not start. Nothing is driven before the port is ours.
pub async fn serve(config: &Config) -> Result<(), ServeError> {
    let address = config.listen;
    let signals = EndSignals::listen()?;
    let listener =
        TcpListener::bind(address).await.map_err(|source| ServeError::Listen { address, source })?;
    let address = listener.local_addr()?;
    let engine = Engine::open(config.engine_options(true)).await?;
    let trips = engine.serve_loop().await?;

    let end = CancellationToken::new();
    tokio::spawn(signals.cancel_on_signal(end.clone()));
    tokio::spawn(EngineSessions::new(engine.clone()).sweep(end.clone()));
    let state = AppState::new(engine.clone(), config, end.clone());
    let serving = axum::serve(listener, router(state)).with_graceful_shutdown(end.clone().cancelled_owned());
    let serving = tokio::spawn(serving.into_future());
    let at = config.public_url.clone().unwrap_or_else(|| format!("http://{address}"));
    tracing::info!(%address, demo = config.demo, "Holdfast serves at {at}");

    let ended = until_the_end(&end, serving, trips).await;
    if tokio::time::timeout(LAST_WRITES, engine.close()).await.is_err() {
        tracing::warn!("the database did not close in time");
    }
    ended
}

/// Waits for a signal, or for the loop to lose its trips; then ends what is open.
async fn until_the_end(
    end: &CancellationToken,
    serving: JoinHandle<io::Result<()>>,
    mut trips: LoopHandle,
) -> Result<(), ServeError> {
    let lost = tokio::select! {
        () = end.cancelled() => false,
        () = trips.ended() => true,
    };
    end.cancel();
    let closing = async {
        if !matches!(serving.await, Ok(Ok(()))) {
            tracing::warn!("the server did not end cleanly");
        }
    };
    let giving_back = async {
        if !lost {
            trips.stop().await;
        }
    };
    // Both at once: a request that hangs must not keep trips from being given back.
    if tokio::time::timeout(GRACE, async { tokio::join!(closing, giving_back) }).await.is_err() {
        tracing::warn!("not everything ended within the grace; it is picked up at the next start");
    }
    if lost { Err(ServeError::TripsLost) } else { Ok(()) }
}
