//! The API while its server is killed again and again: whoever asks waits for a door that is open.

use anyhow::{Context as _, Result};
use reqwest::Method;
use serde_json::Value;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long one request may take before it counts as unanswered.
const REQUEST: Duration = Duration::from_secs(8);
/// How long somebody tries before the soak gives up.
const PATIENCE: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(25);

/// Where each instance answers in its present life, and the traveller's token.
pub struct Doors {
    addresses: Mutex<Vec<Option<String>>>,
    token: Mutex<String>,
    http: reqwest::Client,
}

/// An answer. Where an earlier try was left without one, that try may have been taken.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The body; null where it is no JSON.
    pub body: Value,
}

impl Answer {
    /// Whether it says that it was done.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }
}

impl Doors {
    /// Doors of so many instances, all shut.
    pub fn new(instances: usize) -> Self {
        Self {
            addresses: Mutex::new(vec![None; instances]),
            token: Mutex::default(),
            http: reqwest::Client::new(),
        }
    }

    /// Whose requests these are from now on.
    pub fn hold_token(&self, token: &str) {
        token.clone_into(&mut self.token.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Opens or shuts a door.
    pub fn set(&self, instance: usize, address: Option<String>) {
        if let Some(place) = self.addresses.lock().unwrap_or_else(PoisonError::into_inner).get_mut(instance) {
            *place = address;
        }
    }

    /// An open door: the `turn`th in a row of those that are open.
    fn open(&self, turn: usize) -> Option<String> {
        let all = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        let open: Vec<&String> = all.iter().flatten().collect();
        open.get(turn.checked_rem(open.len())?).map(|address| (*address).clone())
    }

    /// Whether a server answers at an address.
    pub async fn is_healthy(&self, address: &str) -> bool {
        let answer = self.http.get(format!("{address}/healthz")).timeout(REQUEST).send().await;
        answer.is_ok_and(|answer| answer.status().is_success())
    }

    /// Asks until there is an answer: the same request again where the server was killed meanwhile.
    ///
    /// # Errors
    /// Nobody answered for as long as anybody would wait.
    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
    ) -> Result<Answer> {
        let begun = Instant::now();
        for turn in 0.. {
            if let Some(address) = self.open(turn) {
                let token = self.token.lock().unwrap_or_else(PoisonError::into_inner).clone();
                let mut request = self.http.request(method.clone(), format!("{address}/api/v1{path}"));
                request = request.bearer_auth(token).timeout(REQUEST);
                if let Some(key) = key {
                    request = request.header("Idempotency-Key", key);
                }
                if let Some(body) = body {
                    request = request.json(body);
                }
                if let Some((status, body)) = answer(request).await
                    && status < 500
                {
                    return Ok(Answer { status, body });
                }
            }
            if begun.elapsed() > PATIENCE {
                break;
            }
            tokio::time::sleep(PAUSE).await;
        }
        anyhow::bail!("{method} {path}: no answer for {PATIENCE:?}")
    }

    /// GET that must succeed.
    ///
    /// # Errors
    /// It does not, or nobody answers.
    pub async fn read<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<T> {
        let answer = self.ask(Method::GET, path, None, None).await?;
        anyhow::ensure!(answer.status == 200, "GET {path}: {}: {}", answer.status, answer.body);
        serde_json::from_value(answer.body).with_context(|| format!("GET {path}"))
    }
}

async fn answer(request: reqwest::RequestBuilder) -> Option<(u16, Value)> {
    let answer = request.send().await.ok()?;
    let status = answer.status().as_u16();
    // An answer that breaks off is none.
    let bytes = answer.bytes().await.ok()?;
    Some((status, serde_json::from_slice(&bytes).unwrap_or_default()))
}
