//! The app's pages: what each is given, and how one is rendered again with a form that came back.

use crate::state::AppState;
use app::RequestContext;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{Method, StatusCode, Uri};
use axum::response::Response;
use domain::view::{FormState, ViewerView};
use engine::accounts::Viewer;
use engine::clock::random_secret;
use leptos::prelude::{provide_context, use_context};
use leptos_axum::ResponseOptions;

/// What a page is to be rendered with: an extension of the request, put there by the middleware
/// and by the form that comes back.
#[derive(Clone, Default)]
pub struct PageInput {
    /// Who is signed in.
    pub viewer: Option<Viewer>,
    /// What the previous request left to be said.
    pub flash: Option<String>,
    /// The form that came back.
    pub form: Option<FormState>,
    /// The answer's status, where it is not 200; a page that finds nothing to show overrides it.
    pub status: Option<StatusCode>,
    /// The idempotency key to keep; a new one where there is none.
    pub form_key: Option<String>,
}

/// The closure that gives every page, and every server function, its contexts.
pub fn contexts(state: &AppState) -> impl Fn() + Clone + Send + Sync + 'static {
    let (engine, demo) = (state.engine.clone(), state.demo);
    move || {
        let input = use_context::<Parts>()
            .and_then(|parts| parts.extensions.get::<PageInput>().cloned())
            .unwrap_or_default();
        if let (Some(status), Some(options)) = (input.status, use_context::<ResponseOptions>()) {
            options.set_status(status);
        }
        provide_context(engine.clone());
        provide_context(input.viewer.map(viewer_view));
        provide_context(RequestContext {
            demo,
            form: input.form,
            flash: input.flash,
            form_key: input.form_key.unwrap_or_else(random_secret),
        });
    }
}

fn viewer_view(viewer: Viewer) -> ViewerView {
    ViewerView { id: viewer.user.to_string(), email: viewer.email, role: viewer.role.word().to_owned() }
}

/// Renders the page at `uri`, as a GET of it would.
pub async fn render(state: &AppState, uri: Uri, input: PageInput) -> Response {
    let mut request = Request::new(Body::empty());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = uri;
    request.extensions_mut().insert(input);
    render_request(state, request).await
}

/// What has no route: the app's own "not found", with the person's menu around it.
pub async fn not_found(State(state): State<AppState>, mut request: Request) -> Response {
    let mut input = request.extensions_mut().remove::<PageInput>().unwrap_or_default();
    input.status = Some(StatusCode::NOT_FOUND);
    render(&state, request.uri().clone(), input).await
}

async fn render_request(state: &AppState, request: Request) -> Response {
    let options = state.leptos.clone();
    let shell = move || app::shell(options.clone());
    leptos_axum::render_app_async_with_context(contexts(state), shell)(request).await
}
