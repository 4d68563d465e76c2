//! Browser sessions in the journal's database. The cookie's value never reaches it: a session is
//! filed under the SHA-256 of its id, so that a copy of the database signs nobody in.

use async_trait::async_trait;
use engine::Engine;
use engine::accounts::AccountError;
use sha2::{Digest, Sha256};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tower_sessions::SessionStore;
use tower_sessions::cookie::time::OffsetDateTime;
use tower_sessions::session::{Id, Record};
use tower_sessions::session_store::{Error, Result};

/// How often expired sessions are forgotten.
const SWEEP_EVERY: Duration = Duration::from_secs(3600);

/// Sessions kept by the engine.
#[derive(Clone)]
pub struct EngineSessions {
    engine: Engine,
}

impl EngineSessions {
    /// Sessions in this engine's database.
    pub fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Forgets expired sessions, again and again until `stop`.
    pub async fn sweep(self, stop: CancellationToken) {
        loop {
            if let Err(error) = self.engine.delete_expired_sessions().await {
                tracing::warn!(%error, "expired sessions are still there");
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(SWEEP_EVERY) => {}
            }
        }
    }
}

impl std::fmt::Debug for EngineSessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EngineSessions")
    }
}

fn filed_under(id: &Id) -> String {
    hex::encode(Sha256::digest(id.to_string()))
}

fn failed(error: AccountError) -> Error {
    Error::Backend(error.to_string())
}

#[async_trait]
impl SessionStore for EngineSessions {
    async fn create(&self, record: &mut Record) -> Result<()> {
        // Ids are random; one that is taken is drawn again all the same.
        while self.load(&record.id).await?.is_some() {
            record.id = Id::default();
        }
        self.save(record).await
    }

    async fn save(&self, record: &Record) -> Result<()> {
        let data = serde_json::to_string(&record.data).map_err(|error| Error::Encode(error.to_string()))?;
        let expires_at = record.expiry_date.unix_timestamp().saturating_mul(1000);
        self.engine.save_session(&filed_under(&record.id), &data, expires_at).await.map_err(failed)
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let Some((data, expires_at)) = self.engine.load_session(&filed_under(id)).await.map_err(failed)?
        else {
            return Ok(None);
        };
        let decode = |error: &dyn std::fmt::Display| Error::Decode(error.to_string());
        let data = serde_json::from_str(&data).map_err(|error| decode(&error))?;
        let expiry_date = OffsetDateTime::from_unix_timestamp(expires_at.div_euclid(1000))
            .map_err(|error| decode(&error))?;
        Ok(Some(Record { id: *id, data, expiry_date }))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        self.engine.delete_session(&filed_under(id)).await.map_err(failed)
    }
}
