//! The site map as the server gets it, and whole documents with their status and protection.

use crate::{App, shell};
use axum::body::{Body, to_bytes};
use axum::http::{Request, Response, header};
use leptos::prelude::*;

async fn get(path: &str) -> (Response<()>, String) {
    leptos_axum::generate_route_list(App);
    let options = LeptosOptions::builder().output_name("holdfast").build();
    let render = leptos_axum::render_app_async(move || shell(options.clone()));
    let request = Request::builder().uri(path).body(Body::empty()).expect("a request");
    let (parts, body) = render(request).await.into_parts();
    let bytes = to_bytes(body, usize::MAX).await.expect("a whole page");
    (Response::from_parts(parts, ()), String::from_utf8(bytes.to_vec()).expect("text"))
}

#[tokio::test]
async fn every_page_waits_for_what_it_shows() {
    let routes = leptos_axum::generate_route_list(App);
    let paths: Vec<&str> = routes.iter().map(|route| route.path()).collect();
    for path in [
        "/login",
        "/trips",
        "/trips/new",
        "/trips/{id}",
        "/trips/{id}/questions/{q}",
        "/trips/{id}/cancel",
        "/inbox",
        "/desk",
        "/desk/checked",
        "/desk/cases/{id}",
    ] {
        assert!(paths.contains(&path), "{path} is not among {paths:?}");
    }
    assert!(routes.iter().all(|route| *route.mode() == leptos_router::SsrMode::Async));
}

#[tokio::test]
async fn an_unknown_address_is_a_whole_page_with_status_404() {
    let (response, html) = get("/nowhere").await;
    assert_eq!(response.status(), 404);
    assert!(html.starts_with("<!DOCTYPE html><html lang=\"en\">"));
    assert!(html.contains("href=\"#main\"") && html.contains("<main id=\"main\""));
    assert!(html.contains("<title>There is nothing here · Holdfast</title>"));
}

#[tokio::test]
async fn scripts_run_by_the_nonce_of_the_policy_only() {
    let (response, html) = get("/login").await;
    assert_eq!(response.status(), 200);
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
    let nonce = policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).expect("a nonce");
    assert_eq!(html.matches("<script").count(), html.matches(&format!("nonce=\"{nonce}\"")).count());
    assert!(html.contains("<script") && !html.contains(" style="));
}

#[tokio::test]
async fn pages_of_signed_in_people_show_nothing_to_others() {
    for path in [
        "/trips",
        "/trips/new",
        "/trips/t-1",
        "/trips/t-1/questions/q-1",
        "/trips/t-1/cancel",
        "/inbox",
        "/desk",
        "/desk/checked",
        "/desk/cases/c-1",
    ] {
        let (response, html) = get(path).await;
        assert_eq!(response.status(), 401, "{path}");
        assert!(html.contains("href=\"/login\"") && !html.contains("/logout"), "{path}");
    }
}
