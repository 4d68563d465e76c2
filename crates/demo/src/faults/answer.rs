//! What faults do with the answer to a request that was taken.

use super::gate::Gate;
use super::{Fault, FaultChoice, ask, chosen, delivery, errors, stream};
use crate::clock;
use crate::requests::Call;
use crate::site::Connection;
use anyhow::Result;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use jiff::SignedDuration;

/// Plays all chosen faults on an answer.
pub async fn play(
    gate: &Gate,
    mut answer: Response,
    call: &Call,
    faults: &[FaultChoice],
    connection: &Connection,
) -> Result<Response> {
    for choice in faults {
        answer = one(gate, choice, call, connection, answer).await;
    }
    // A task may be in a state that only the wire shows: no answer passes unread.
    let mut answer = if stream::is_stream(&answer) {
        stream::play(answer, call.clone(), faults.to_vec(), connection.clone())
    } else {
        delivery::play(answer, call, faults, connection).await?
    };
    if let Some(date) = chosen(faults, Fault::ClockSkew).and_then(date) {
        answer.headers_mut().insert(header::DATE, date);
    }
    Ok(answer)
}

async fn one(
    gate: &Gate,
    choice: &FaultChoice,
    call: &Call,
    connection: &Connection,
    answer: Response,
) -> Response {
    match choice.fault {
        Fault::DropAfter => {
            connection.cut();
            std::future::pending().await
        }
        Fault::StatusAfter => errors::status(choice, StatusCode::SERVICE_UNAVAILABLE),
        Fault::ErrorAfter => errors::protocol(call, choice.code.unwrap_or(-32603), choice.status),
        Fault::Html => errors::html(),
        Fault::Hang => ask::hang(choice).await,
        Fault::Slow => {
            tokio::time::sleep(choice.ms_or(1_000)).await;
            answer
        }
        Fault::HoldAnswer => {
            gate.hold().await;
            answer
        }
        _ => answer,
    }
}

/// The Date header of a clock that is wrong.
fn date(choice: &FaultChoice) -> Option<HeaderValue> {
    let at = clock::now().checked_add(SignedDuration::from_secs(choice.seconds.unwrap_or(120))).ok()?;
    HeaderValue::from_str(&at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()).ok()
}
