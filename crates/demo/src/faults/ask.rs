//! What faults do to a request before it is taken: change it, or answer in the agent's place.

use super::{Fault, FaultChoice, errors, list};
use crate::clock;
use crate::requests::Call;
use crate::site::Connection;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::Response;
use serde_json::{Map, Value};
use std::time::Duration;

/// A request that is not taken yet.
#[derive(Debug)]
pub struct Ask {
    /// What it asks.
    pub call: Call,
    head: Parts,
    body: Bytes,
}

impl Ask {
    /// A request with what was read of it.
    pub fn new(call: Call, head: Parts, body: Bytes) -> Self {
        Self { call, head, body }
    }

    /// The request as it goes on.
    pub fn into_request(mut self) -> Request {
        self.head.headers.remove(header::CONTENT_LENGTH);
        Request::from_parts(self.head, Body::from(self.body))
    }

    /// Changes its parameters: of a JSON body, or of a query where there is none.
    pub fn change(&mut self, edit: impl FnOnce(&mut Map<String, Value>)) {
        if self.call.rest && self.body.is_empty() {
            self.change_query(edit);
            return;
        }
        let Ok(mut body) = serde_json::from_slice::<Value>(&self.body) else { return };
        let params = if self.call.rest { Some(&mut body) } else { body.get_mut("params") };
        if let Some(Value::Object(params)) = params {
            edit(params);
            self.body = Bytes::from(body.to_string());
        }
    }

    /// Makes the true ids of odd ones again.
    fn straighten_ids(&mut self) {
        let straighten = |params: &mut Map<String, Value>| {
            for name in ["id", "taskId"] {
                if let Some(Value::String(id)) = params.get_mut(name) {
                    *id = id.rsplit('/').next().unwrap_or_default().to_owned();
                }
            }
        };
        if !self.body.is_empty() {
            self.change(|params| {
                straighten(params);
                if let Some(Value::Object(message)) = params.get_mut("message") {
                    straighten(message);
                }
            });
        }
        // In a path, an id's own slashes are escaped, and no others are behind them.
        let whole = self.head.uri.to_string();
        let true_id = whole.rfind("%2F").or_else(|| whole.rfind("%2f")).map(|at| &whole[at + 3..]);
        if let (Some(true_id), true) = (true_id, whole.starts_with("/rest/tasks/"))
            && let Ok(uri) = format!("/rest/tasks/{true_id}").parse()
        {
            self.head.uri = uri;
        }
    }

    fn change_query(&mut self, edit: impl FnOnce(&mut Map<String, Value>)) {
        let Ok(mut url) = reqwest::Url::parse(&format!("http://agent{}", self.head.uri)) else { return };
        let mut params: Map<String, Value> =
            url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned().into())).collect();
        edit(&mut params);
        url.query_pairs_mut().clear().extend_pairs(params.iter().map(|(name, value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            (name.clone(), text)
        }));
        let whole = url.as_str().strip_prefix("http://agent").unwrap_or_default();
        if let Ok(uri) = whole.parse() {
            self.head.uri = uri;
        }
    }
}

/// What a fault does before the request is taken: an answer of its own, or nothing.
pub async fn act(choice: &FaultChoice, ask: &mut Ask, connection: &Connection) -> Option<Response> {
    match choice.fault {
        Fault::DropBefore => {
            connection.cut();
            std::future::pending().await
        }
        Fault::StatusBefore => Some(errors::status(choice, StatusCode::SERVICE_UNAVAILABLE)),
        Fault::HangBefore => Some(hang(choice).await),
        Fault::ErrorBefore => Some(errors::protocol(&ask.call, choice.code.unwrap_or(-32603), choice.status)),
        Fault::Unsupported => Some(errors::protocol(&ask.call, choice.code.unwrap_or(-32004), choice.status)),
        Fault::NotFound => Some(errors::protocol(&ask.call, choice.code.unwrap_or(-32001), choice.status)),
        Fault::RefusesContext if ask.call.context_id.is_some() && ask.call.task_id.is_none() => {
            Some(errors::protocol(&ask.call, choice.code.unwrap_or(-32602), choice.status))
        }
        Fault::SwapsContext if ask.call.task_id.is_none() => {
            ask.change(|params| {
                if let Some(Value::Object(message)) = params.get_mut("message") {
                    message.insert("contextId".to_owned(), clock::new_id().into());
                }
            });
            None
        }
        Fault::OddIds => {
            ask.straighten_ids();
            None
        }
        fault if fault.is_of_list() || matches!(fault, Fault::ClockSkew) => {
            ask.change(|params| list::ask(choice, params));
            None
        }
        _ => None,
    }
}

/// How long the request waits before it is taken.
pub fn wait(faults: &[FaultChoice]) -> Duration {
    let waits = faults.iter().filter(|choice| matches!(choice.fault, Fault::LandsLate | Fault::SlowRequest));
    waits.map(|choice| choice.ms_or(1_000)).sum()
}

/// No answer, or a gateway's 504 in the end.
pub async fn hang(choice: &FaultChoice) -> Response {
    match choice.ms {
        None => std::future::pending().await,
        Some(_) => {
            tokio::time::sleep(choice.ms_or(0)).await;
            errors::status(choice, StatusCode::GATEWAY_TIMEOUT)
        }
    }
}
