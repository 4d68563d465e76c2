//! Signing in.

use crate::components::field::{ErrorSummary, Field, Kind};
use crate::components::page_title::PageTitle;
use crate::format::own_path;
use crate::request::{self, FormRead, RequestContext};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

const DEMO_ACCOUNTS: [(&str, &str, &str); 3] = [
    ("Traveller", "traveller@example.org", "traveller-demo"),
    ("Support", "support@example.org", "support-demo"),
    ("Admin", "admin@example.org", "admin-demo"),
];

/// The page `/login`.
#[component]
pub fn LoginPage() -> impl IntoView {
    let request = request::current();
    let asked = use_query_map().read_untracked().get("next");
    let next = request.form.typed("next").or(asked).and_then(|next| own_path(&next));
    view! {
        <PageTitle text="Sign in" />
        <LoginView request=request next=next />
    }
}

/// The form.
#[component]
pub fn LoginView(
    /// The request.
    request: RequestContext,
    /// Where to go afterwards.
    next: Option<String>,
) -> impl IntoView {
    let form = request.form;
    view! {
        <div class="page page-narrow login">
            <ErrorSummary form=form.clone() />
            <h1>"Sign in"</h1>
            <p class="lead">"See where your trips stand, answer questions, and cancel what you no longer need."</p>
            <form method="post" action="/login" novalidate class="stack">
                <input type="hidden" name="next" value=next.unwrap_or_default() />
                <Field
                    name="email"
                    label="E-mail"
                    kind=Kind::Email
                    required=true
                    value=form.typed("email")
                    wrong=form.wrong("email")
                />
                <Field name="password" label="Password" kind=Kind::Password required=true wrong=form.wrong("password") />
                <button class="button" type="submit">"Sign in"</button>
            </form>
            {request.demo.then(demo_accounts)}
        </div>
    }
}

fn demo_accounts() -> impl IntoView {
    let rows = DEMO_ACCOUNTS
        .map(|(role, email, password)| {
            view! {
                <li><strong>{role}</strong><code>{email}</code><code>{password}</code></li>
            }
        })
        .to_vec();
    view! {
        <section class="panel demo-accounts" aria-labelledby="demo-accounts">
            <h2 id="demo-accounts">"Accounts of the demo"</h2>
            <p class="quiet">"Who, e-mail, password:"</p>
            <ul>{rows}</ul>
        </section>
    }
}
