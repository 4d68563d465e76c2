//! What every request may need.

use crate::auth::sign_out::SignOuts;
use crate::config::Config;
use axum::extract::FromRef;
use engine::Engine;
use leptos::prelude::LeptosOptions;
use std::path::Path;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Shared by all requests; cheap to clone.
#[derive(Clone, FromRef)]
pub struct AppState {
    /// The engine.
    pub engine: Engine,
    /// What the app's shell asks for the names of the site's files.
    pub leptos: LeptosOptions,
    /// Cancelled when the process ends: streams end with it.
    pub shutdown: CancellationToken,
    /// Sign-outs, told to open streams.
    pub sign_outs: SignOuts,
    /// Demo mode.
    #[from_ref(skip)]
    pub demo: bool,
    /// Whether browsers reach us over https.
    #[from_ref(skip)]
    pub secure: bool,
    /// The origin that browsers use, where it was configured.
    #[from_ref(skip)]
    pub public_url: Option<Arc<str>>,
}

impl AppState {
    /// The state of one server.
    pub fn new(engine: Engine, config: &Config, shutdown: CancellationToken) -> Self {
        Self {
            engine,
            leptos: leptos_options(config),
            shutdown,
            sign_outs: SignOuts::default(),
            demo: config.demo,
            secure: config.is_https(),
            public_url: config.public_url.as_deref().map(Arc::from),
        }
    }
}

/// Set from our own configuration, so that the program runs without any `LEPTOS_` variable. The
/// names of the site's files carry hashes where the build left their list beside the program.
fn leptos_options(config: &Config) -> LeptosOptions {
    let hashes = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("hash.txt")));
    LeptosOptions::builder()
        .output_name("holdfast")
        .site_root(config.site_root.to_string_lossy().into_owned())
        .site_pkg_dir("pkg")
        .site_addr(config.listen)
        .env(leptos::config::Env::PROD)
        .hash_files(hashes.as_deref().is_some_and(Path::is_file))
        .build()
}
