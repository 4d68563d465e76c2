//! The whole router over a real engine on an SQLite file of its own. No loop runs: these tests
//! are about who gets in, what is refused, and in what words.

mod api;
mod browser;
mod desk;
mod live;

use crate::cli::Options;
use crate::config::Config;
use crate::router::router;
use crate::state::AppState;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::response::Response;
use engine::Engine;
use engine::accounts::Role;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

const PASSWORD: &str = "correct horse battery staple";

struct World {
    router: Router,
    engine: Engine,
    end: CancellationToken,
    folder: PathBuf,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn location(&self) -> &str {
        self.headers[header::LOCATION].to_str().unwrap()
    }
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap_or_else(|_| panic!("no JSON: {}", self.text))
    }
}

/// With two travellers, `a@` and `b@`, and an admin, all of `example.org`.
async fn world() -> World {
    let (config, folder) = settings();
    let engine = Engine::open(config.engine_options(true)).await.unwrap();
    let people = [("a", Role::Traveller), ("b", Role::Traveller), ("admin", Role::Admin)];
    world_around(engine, &config, folder, &people).await
}

/// A configuration of its own, with a folder.
fn settings() -> (Config, PathBuf) {
    static WORLDS: AtomicU64 = AtomicU64::new(0);
    let number = WORLDS.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("holdfast-server-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let options = Options {
        database_url: format!("sqlite:{}", folder.join("journal.db").display()),
        listen: "127.0.0.1:0".into(),
        demo: "1".into(),
        site_root: Some(folder.display().to_string()),
        ..Options::default()
    };
    (Config::from_options(&options, []).unwrap(), folder)
}

async fn world_around(engine: Engine, config: &Config, folder: PathBuf, people: &[(&str, Role)]) -> World {
    for (name, role) in people {
        engine.add_user(&format!("{name}@example.org"), PASSWORD, *role).await.unwrap();
    }
    let end = CancellationToken::new();
    let router = router(AppState::new(engine.clone(), config, end.clone()));
    World { router, engine, end, folder }
}

fn form(pairs: &[(&str, &str)]) -> String {
    let encode = |text: &str| -> String { text.bytes().map(|byte| format!("%{byte:02X}")).collect() };
    let pairs: Vec<_> =
        pairs.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    pairs.join("&")
}

impl World {
    async fn raw(&self, request: Request<Body>) -> Response {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.raw(request).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let body = axum::body::to_bytes(response.into_body(), 10_000_000).await.unwrap();
        Answer { status, headers, text: String::from_utf8_lossy(&body).into_owned() }
    }

    async fn get(&self, path: &str, cookie: &str) -> Answer {
        let request = Request::get(path).header(header::COOKIE, cookie).header(header::HOST, "localhost");
        self.send(request.body(Body::empty()).unwrap()).await
    }

    async fn post(&self, path: &str, cookie: &str, pairs: &[(&str, &str)]) -> Answer {
        let request = Request::post(path)
            .header(header::COOKIE, cookie)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header("sec-fetch-site", "same-origin");
        self.send(request.body(form(pairs).into()).unwrap()).await
    }

    /// The session's cookie of `name@example.org`.
    async fn sign_in(&self, name: &str) -> String {
        let email = format!("{name}@example.org");
        let answer = self.post("/login", "", &[("email", &email), ("password", PASSWORD)]).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        let cookie = answer.headers[header::SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    }

    async fn token(&self, name: &str, role: Role) -> String {
        self.engine.create_token(&format!("{name}@example.org"), role).await.unwrap()
    }

    async fn call(&self, method: Method, path: &str, token: &str, body: Option<&str>) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        if body.is_some() {
            request = request.header(header::CONTENT_TYPE, "application/json");
        }
        self.send(request.body(body.unwrap_or_default().to_owned().into()).unwrap()).await
    }

    /// A trip of the signed-in person; its path.
    async fn trip(&self, cookie: &str) -> String {
        let answer = self.post("/trips/new", cookie, &NEW_TRIP).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.text);
        answer.location().to_owned()
    }
}

const NEW_TRIP: [(&str, &str); 8] = [
    ("workflow", "travel"),
    ("title", "To the fjords"),
    ("steps", "flight"),
    ("origin", "Hamburg"),
    ("destination", "Bergen"),
    ("start", "2027-03-01"),
    ("end", "2027-03-08"),
    ("travellers", "2"),
];
