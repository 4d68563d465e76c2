//! The site's files: what lies in the site root is served as it is, precompressed where a
//! compressed file lies beside it. Names that carry a hash are kept for ever.

use crate::state::AppState;
use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use std::path::Path;
use tower_http::services::{ServeDir, ServeFile};

/// The routes of everything that lies in the site root now: a folder as a whole, a file by name.
pub fn routes(root: &Path) -> Router<AppState> {
    let entries = std::fs::read_dir(root).inspect_err(|error| {
        tracing::warn!(folder = %root.display(), %error, "no site: pages come without style and script");
    });
    let mut router = Router::new();
    for entry in entries.into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let path = entry.path();
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
        if !plain || name.starts_with('.') || name.ends_with(".br") || name.ends_with(".gz") {
            continue;
        }
        router = if path.is_dir() {
            let files = ServeDir::new(path).append_index_html_on_directories(false);
            router.nest_service(&format!("/{name}"), files.precompressed_br().precompressed_gzip())
        } else {
            router.route_service(
                &format!("/{name}"),
                ServeFile::new(path).precompressed_br().precompressed_gzip(),
            )
        };
    }
    router.layer(from_fn(set_caching))
}

async fn set_caching(request: Request, next: Next) -> Response {
    let for_ever = has_hash(request.uri().path());
    let mut response = next.run(request).await;
    let served =
        [StatusCode::OK, StatusCode::NOT_MODIFIED, StatusCode::PARTIAL_CONTENT].contains(&response.status());
    let caching = match (served, for_ever) {
        (true, true) => "public, max-age=31536000, immutable",
        (true, false) => "no-cache",
        (false, _) => "no-store",
    };
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static(caching));
    response
}

/// `NAME.<hash>.EXT`, with a hash of at least eight letters and digits.
fn has_hash(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    let mut parts = file.rsplit('.').skip(1);
    let hash = parts.next().unwrap_or_default();
    let named = parts.next().is_some_and(|name| !name.is_empty());
    named && hash.len() >= 8 && hash.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashed_names_are_kept_for_ever() {
        assert!(has_hash("/pkg/holdfast.9f8a7b6c5d4e3f2a.wasm"));
        assert!(has_hash("/pkg/holdfast.Ab_d-1234.css"));
        for name in ["/pkg/holdfast.wasm", "/pkg/holdfast.min.js", "/robots.txt", "/pkg/.12345678.js", "/"] {
            assert!(!has_hash(name), "{name}");
        }
    }
}
