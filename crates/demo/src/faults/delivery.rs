//! How an answer's bytes come: whole, half, slowly, or without end.

use super::content::{DEEP, HUGE};
use super::{Fault, FaultChoice, chosen, content, is_chosen};
use crate::requests::Call;
use crate::site::Connection;
use anyhow::{Context, Result};
use axum::body::{Body, Bytes, to_bytes};
use axum::http::header;
use axum::response::Response;
use futures::StreamExt;
use futures::stream::{self, Stream};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// What an agent's own answer may weigh.
const LIMIT: usize = 64 * 1024 * 1024;
const CHUNK: usize = 64 * 1024;

/// Plays the faults of content and delivery on an answer that is no stream.
pub async fn play(
    answer: Response,
    call: &Call,
    faults: &[FaultChoice],
    connection: &Connection,
) -> Result<Response> {
    let (mut head, body) = answer.into_parts();
    let bytes = to_bytes(body, LIMIT).await.context("the agent's answer broke off")?;
    let Ok(mut json) = serde_json::from_slice::<Value>(&bytes) else {
        return Ok(Response::from_parts(head, Body::from(bytes)));
    };
    if let Some(payload) = content::payload(&mut json, call) {
        content::edit(payload, call, faults);
    }
    head.headers.remove(header::CONTENT_LENGTH);
    let mut pieces = pieces(&json.to_string(), faults);
    let half = pieces.iter().map(Bytes::len).sum::<usize>() / 2;
    let reset = is_chosen(faults, Fault::ResetMidAnswer);
    if reset || is_chosen(faults, Fault::TruncatedJson) {
        pieces = cut(pieces, half);
    }
    let pace = chosen(faults, Fault::Drip).map(|drip| (drip.size_or(1).max(1), drip.ms_or(20)));
    let body = if reset || pace.is_some() {
        Body::from_stream(paced(pieces, pace, reset.then(|| connection.clone())))
    } else if let [only] = pieces.as_slice() {
        Body::from(only.clone())
    } else {
        Body::from_stream(stream::iter(pieces.into_iter().map(Ok::<_, io::Error>)))
    };
    Ok(Response::from_parts(head, body))
}

/// A JSON text in pieces; what it only stands for is put in, shared and not copied.
pub fn pieces(text: &str, faults: &[FaultChoice]) -> Vec<Bytes> {
    let mut pieces = vec![Bytes::from(text.to_owned())];
    if let Some(deep) = chosen(faults, Fault::DeepJson) {
        let depth = deep.size_or(10_000);
        pieces = put_in(pieces, DEEP, &[fill(b'[', depth), fill(b']', depth)].concat());
    }
    if let Some(huge) = chosen(faults, Fault::HugeBody) {
        pieces = put_in(pieces, HUGE, &fill(b'x', huge.size_or(20_000_000)));
    }
    pieces
}

fn put_in(pieces: Vec<Bytes>, mark: &str, inside: &[Bytes]) -> Vec<Bytes> {
    let mut whole = Vec::new();
    for piece in pieces {
        let at = std::str::from_utf8(&piece).ok().and_then(|text| text.find(mark));
        match at {
            Some(at) => {
                whole.push(piece.slice(..at));
                whole.extend_from_slice(inside);
                whole.push(piece.slice(at + mark.len()..));
            }
            None => whole.push(piece),
        }
    }
    whole
}

fn fill(byte: u8, length: usize) -> Vec<Bytes> {
    let chunk = Bytes::from(vec![byte; CHUNK.min(length)]);
    let mut pieces = vec![chunk.clone(); length / CHUNK];
    pieces.push(chunk.slice(..length % CHUNK.max(1)));
    if length < CHUNK {
        pieces = vec![chunk];
    }
    pieces
}

fn cut(pieces: Vec<Bytes>, length: usize) -> Vec<Bytes> {
    let mut left = length;
    let mut kept = Vec::new();
    for piece in pieces {
        let piece = piece.slice(..piece.len().min(left));
        left -= piece.len();
        kept.push(piece);
    }
    kept
}

/// Pieces at a pace; in the end the connection is cut where one is given.
fn paced(
    pieces: Vec<Bytes>,
    pace: Option<(usize, Duration)>,
    cuts: Option<Connection>,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let size = pace.map_or(usize::MAX, |(size, _)| size);
    let parts = stream::iter(pieces).flat_map(move |piece| stream::iter(split(&piece, size)));
    let slow = parts.then(move |part| async move {
        if let Some((_, every)) = pace {
            tokio::time::sleep(every).await;
        }
        Ok(part)
    });
    slow.chain(stream::iter(cuts).then(|connection| async move { break_off(&connection).await }))
}

fn split(piece: &Bytes, size: usize) -> Vec<Bytes> {
    let starts = (0..piece.len()).step_by(size.min(piece.len().max(1)));
    starts.map(|at| piece.slice(at..at.saturating_add(size).min(piece.len()))).collect()
}

/// Cuts a connection when what was said before has gone out.
pub async fn break_off<T>(connection: &Connection) -> T {
    tokio::time::sleep(Duration::from_millis(30)).await;
    connection.cut();
    std::future::pending().await
}
