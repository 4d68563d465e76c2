//! `register` tells an app of everything, and says what the app did not take.

use crate::support::Demo;
use anyhow::{Context, Result};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::{Json, Router};
use serde_json::Value;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

type Seen = Arc<Mutex<Vec<(String, Value)>>>;

/// An app that knows the second thing that it is told already, and takes nothing with a certain
/// word in it.
async fn app(seen: Seen, refuses: &'static str) -> Result<String> {
    let take = move |uri: Uri, headers: HeaderMap, Json(body): Json<Value>| async move {
        assert_eq!(headers["authorization"], "Bearer secret");
        let text = body.to_string();
        if let Ok(mut seen) = seen.lock() {
            seen.push((uri.path().to_owned(), body));
            if seen.len() == 2 {
                return (StatusCode::CONFLICT, "there already");
            }
        }
        if !refuses.is_empty() && text.contains(refuses) {
            return (StatusCode::UNPROCESSABLE_ENTITY, "skills: name one that a workflow uses");
        }
        (StatusCode::CREATED, "{}")
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, Router::new().fallback(take)).into_future());
    Ok(format!("http://{address}"))
}

#[tokio::test]
async fn booking_systems_come_first_and_conflicts_are_fine() -> Result<()> {
    let demo = Demo::start().await?;
    let seen = Seen::default();
    let url = app(seen.clone(), "").await?;
    let output = demo.register(&url, "secret").await?;
    assert!(output.status.success());
    let paths: Vec<_> = seen.lock().ok().context("poisoned")?.iter().map(|(path, _)| path.clone()).collect();
    let (systems, agents) = ("/api/v1/booking-systems", "/api/v1/agents");
    assert_eq!(paths, [systems, systems, systems, systems, agents, agents, agents, agents]);
    Ok(())
}

#[tokio::test]
async fn a_refusal_is_shown_and_ends_it() -> Result<()> {
    let demo = Demo::start().await?;
    let url = app(Seen::default(), "book-car").await?;
    let output = demo.register(&url, "secret").await?;
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr)?;
    assert!(said.contains("citycar was not registered: 422"), "{said}");
    assert!(said.contains("name one that a workflow uses"), "{said}");
    Ok(())
}
