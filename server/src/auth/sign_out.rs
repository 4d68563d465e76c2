//! Tells open streams of this process that their session has ended, at once; those of other
//! processes notice when they next look.

use tokio::sync::broadcast;
use tower_sessions::session::Id;

/// How many sign-outs may be waiting for a slow stream; one that lags behind looks for itself.
const WAITING: usize = 64;

/// The line on which sign-outs are told.
#[derive(Clone)]
pub struct SignOuts {
    sender: broadcast::Sender<Id>,
}

impl Default for SignOuts {
    fn default() -> Self {
        Self { sender: broadcast::channel(WAITING).0 }
    }
}

impl SignOuts {
    /// Tells that this session has ended. Nobody may be listening.
    pub fn tell(&self, session: Id) {
        let _ = self.sender.send(session);
    }
    /// Listens from now on.
    pub fn listen(&self) -> SignOutListener {
        SignOutListener { receiver: self.sender.subscribe() }
    }
}

/// One listener.
pub struct SignOutListener {
    receiver: broadcast::Receiver<Id>,
}

impl SignOutListener {
    /// Resolves when `session` may have ended. Without a session it never does.
    pub async fn ended(&mut self, session: Option<Id>) {
        let Some(session) = session else {
            return std::future::pending().await;
        };
        loop {
            match self.receiver.recv().await {
                Ok(ended) if ended != session => {}
                Ok(_) | Err(broadcast::error::RecvError::Lagged(_)) => return,
                Err(broadcast::error::RecvError::Closed) => return std::future::pending().await,
            }
        }
    }
}
