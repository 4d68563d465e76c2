//! The control page: everything that the JSON side can do, as plain forms without a script.

use super::{Problem, api, catalogue};
use crate::agents::behaviour::{self, Behaviour, Kind};
use crate::bookings::behaviour::{self as system_behaviour, Cancel, Lookup, SystemBehaviour};
use crate::bookings::ledger::Ledger;
use crate::requests;
use crate::world::World;
use axum::extract::rejection::FormRejection;
use axum::extract::{Path, State};
use axum::response::{Html, Redirect};
use axum::routing::{get, post};
use axum::{Form, Router};
use serde::Deserialize;
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

type Shared = State<Arc<World>>;
type Done = Result<Redirect, Problem>;

const STYLE: &str = "
:root{color-scheme:light dark;font:15px/1.5 system-ui,sans-serif}
body{max-width:72rem;margin:0 auto;padding:1.5rem}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid #8884;vertical-align:top}
th{font-weight:600}form{display:inline-flex;gap:.4rem;flex-wrap:wrap;align-items:center;margin:.1rem 0}
input[type=number]{width:6rem}button,select,input{font:inherit;box-sizing:border-box;height:2rem}
input[type=checkbox]{width:1.2rem;height:1.2rem;vertical-align:text-bottom}label{white-space:nowrap}button{white-space:nowrap}
td:first-child{min-width:10rem}
small,.quiet{opacity:.75}code{font-size:.9em;overflow-wrap:anywhere}.scroll{overflow-x:auto}
";

/// The routes of the page and of its forms.
pub fn routes() -> Router<Arc<World>> {
    Router::new()
        .route("/", get(page))
        .route("/page/agents/{name}/behaviour", post(choose_behaviour))
        .route("/page/agents/{name}/up", post(put_up))
        .route("/page/agents/{name}/release", post(release))
        .route("/page/booking-systems/{name}/behaviour", post(choose_system_behaviour))
        .route("/page/reset", post(reset))
        .route("/authorise/{agent}/{task}", get(permission).post(give_permission))
}

async fn page(State(world): Shared) -> Result<Html<String>, Problem> {
    let mut html = String::new();
    write!(
        html,
        "<h1>The demo world</h1><p class=quiet>What its agents and booking systems do next. A choice \
         holds for new tasks.</p><h2>Agents</h2>"
    )?;
    agents(&world, &mut html).await?;
    write!(html, "<h2>Booking systems</h2>")?;
    systems(&world, &mut html).await?;
    for place in &world.systems {
        let ledger = Ledger::new(world.store.clone(), place.who).whole().await?;
        ledger_table(&ledger, &mut html)?;
    }
    write!(html, "<h2>Latest requests to agents</h2>")?;
    request_table(&requests::latest(&world.store, 40).await?, &mut html)?;
    catalogue::table(&world, &mut html).await?;
    write!(
        html,
        "<h2>Begin again</h2><form method=post action=/page/reset><button>Forget all tasks, bookings, \
         requests and choices</button></form>"
    )?;
    Ok(document("The demo world", &html))
}

fn document(title: &str, body: &str) -> Html<String> {
    Html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content=\"width=device-width\">\
         <link rel=icon href=\"data:,\"><title>{title}</title><style>{STYLE}</style><body><main>{body}</main>"
    ))
}

/// Text as HTML shows it.
pub(super) fn text(raw: &str) -> String {
    raw.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

fn field(value: &Value, name: &str) -> String {
    match &value[name] {
        Value::Null => "–".to_owned(),
        Value::String(value) => text(value),
        other => text(&other.to_string()),
    }
}

fn options<T: serde::Serialize + PartialEq>(all: &[T], chosen: &T) -> Result<String, Problem> {
    let mut html = String::new();
    for one in all {
        let name = serde_json::to_value(one)?;
        let selected = if one == chosen { " selected" } else { "" };
        write!(html, "<option{selected}>{}</option>", text(name.as_str().unwrap_or_default()))?;
    }
    Ok(html)
}

async fn agents(world: &World, html: &mut String) -> Result<(), Problem> {
    write!(html, "<div class=scroll><table><tr><th>Agent<th>New tasks<th>Wire")?;
    for place in &world.agents {
        let agent = &place.who;
        let (name, title) = (agent.profile.name, text(agent.profile.title));
        let now = behaviour::current(&world.store, agent.profile).await?;
        let kinds = options(Kind::ALL, &now.behaviour)?;
        let left = now.times.map_or(String::new(), |times| format!(" <small>{times} more</small>"));
        let held_box = if now.hold_answer { " checked" } else { "" };
        let (label, to) = if place.site.is_open().await { ("Put down", "false") } else { ("Put up", "true") };
        write!(
            html,
            "<tr><td><strong>{title}</strong><br><small><code>{name}</code> <a href=\"{card}\">card</a> \
             <a href=/agents/{name}/tasks>tasks</a> <a href=/agents/{name}/requests>requests</a></small>\
             <td><form method=post action=/page/agents/{name}/behaviour>\
             <select name=behaviour aria-label=\"What {title} does\">{kinds}</select>\
             <label>ms <input type=number name=delay_ms min=0 value={delay}></label>\
             <label>times <input type=number name=times min=1 placeholder=all></label>\
             <label><input type=checkbox name=hold_answer value=true{held_box}> hold the answer</label>\
             <button>Choose</button></form>{left}\
             <td><form method=post action=/page/agents/{name}/up><input type=hidden name=up value={to}>\
             <button>{label}</button></form>{held}",
            card = text(&agent.card_url()),
            delay = now.delay_ms(),
            held = release_form(name, agent.gate.held()),
        )?;
    }
    write!(html, "</table></div>")?;
    Ok(())
}

fn release_form(agent: &str, held: usize) -> String {
    if held == 0 {
        return String::new();
    }
    format!(
        " <form method=post action=/page/agents/{agent}/release><button>Let {held} held answers go</button></form>"
    )
}

async fn systems(world: &World, html: &mut String) -> Result<(), Problem> {
    write!(html, "<div class=scroll><table><tr><th>System<th>Answers")?;
    for place in &world.systems {
        let (name, title) = (place.who.name, text(place.who.title));
        let now = system_behaviour::current(&world.store, place.who).await?;
        write!(
            html,
            "<tr><td><strong>{title}</strong><br><small><code>{name}</code></small>\
             <td><form method=post action=/page/booking-systems/{name}/behaviour>\
             <label>lookups <select name=lookup>{lookups}</select></label>\
             <label>cancels <select name=cancel>{cancels}</select></label>\
             <label>lag ms <input type=number name=lag_ms min=0 value={lag}></label>\
             <label>times <input type=number name=times min=1 placeholder=all></label>\
             <button>Choose</button></form>",
            lookups = options(Lookup::ALL, &now.lookup)?,
            cancels = options(Cancel::ALL, &now.cancel)?,
            lag = now.lag_ms,
        )?;
    }
    write!(html, "</table></div>")?;
    Ok(())
}

fn ledger_table(ledger: &Value, html: &mut String) -> Result<(), Problem> {
    write!(html, "<h2>Ledger of {}</h2>", field(ledger, "title"))?;
    let bookings = ledger["bookings"].as_array().map_or(&[][..], Vec::as_slice);
    if bookings.is_empty() {
        write!(html, "<p class=quiet>No bookings.</p>")?;
        return Ok(());
    }
    write!(
        html,
        "<div class=scroll><table><tr><th>Confirmation<th>Booking<th>Reference<th>Price<th>Fee<th>Status"
    )?;
    for booking in bookings {
        write!(
            html,
            "<tr><td><code>{}</code><td>{}<br><small>by {} at {}</small><td><code>{}</code><td>{}<td>{}<td>{}",
            field(booking, "id"),
            field(booking, "title"),
            field(booking, "booked_by"),
            field(booking, "booked_at"),
            field(booking, "reference"),
            field(&booking["total"], "amount"),
            field(&booking["fee"], "amount"),
            field(booking, "status"),
        )?;
    }
    write!(html, "</table></div>")?;
    Ok(())
}

fn request_table(requests: &[Value], html: &mut String) -> Result<(), Problem> {
    if requests.is_empty() {
        write!(html, "<p class=quiet>None yet.</p>")?;
        return Ok(());
    }
    write!(html, "<div class=scroll><table><tr><th>At<th>Agent<th>Method<th>Message<th>Task<th>Answered")?;
    for request in requests {
        write!(
            html,
            "<tr><td>{}<td>{}<td>{}<td><code>{}</code><td><code>{}</code><td>{}",
            field(request, "at"),
            field(request, "agent"),
            field(request, "method"),
            field(request, "message_id"),
            field(request, "task_id"),
            field(request, "answered_at"),
        )?;
    }
    write!(html, "</table></div>")?;
    Ok(())
}

#[derive(Debug, Deserialize)]
struct BehaviourForm {
    behaviour: Kind,
    #[serde(default)]
    delay_ms: String,
    #[serde(default)]
    times: String,
    #[serde(default)]
    hold_answer: bool,
}

async fn choose_behaviour(
    State(world): Shared,
    Path(name): Path<String>,
    form: Result<Form<BehaviourForm>, FormRejection>,
) -> Done {
    let place = api::agent(&world, &name)?;
    let Form(form) = form?;
    // The field shows the delay of the behaviour that was; another one comes with its own.
    let now = behaviour::current(&world.store, place.who.profile).await?;
    let delay_ms = form.delay_ms.parse().ok();
    let kept = now.behaviour != form.behaviour && delay_ms == Some(now.delay_ms());
    let chosen = Behaviour {
        behaviour: form.behaviour,
        delay_ms: if kept { None } else { delay_ms },
        hold_answer: form.hold_answer,
        reason: now.reason.filter(|_| now.behaviour == form.behaviour),
        times: form.times.parse().ok(),
        late_ms: now.late_ms.filter(|_| now.behaviour == form.behaviour),
        also: now.also,
    };
    behaviour::choose(&world.store, place.who.profile, &chosen).await?;
    Ok(Redirect::to("/"))
}

#[derive(Debug, Deserialize)]
struct UpForm {
    up: bool,
}

async fn put_up(
    State(world): Shared,
    Path(name): Path<String>,
    form: Result<Form<UpForm>, FormRejection>,
) -> Done {
    let Form(form) = form?;
    world.set_up(api::agent(&world, &name)?, form.up).await?;
    Ok(Redirect::to("/"))
}

async fn release(State(world): Shared, Path(name): Path<String>) -> Done {
    api::agent(&world, &name)?.who.gate.release();
    Ok(Redirect::to("/"))
}

#[derive(Debug, Deserialize)]
struct SystemForm {
    lookup: Lookup,
    cancel: Cancel,
    #[serde(default)]
    lag_ms: String,
    #[serde(default)]
    times: String,
}

async fn choose_system_behaviour(
    State(world): Shared,
    Path(name): Path<String>,
    form: Result<Form<SystemForm>, FormRejection>,
) -> Done {
    let place = world.system(&name).ok_or_else(|| Problem::unknown("booking system", &name))?;
    let Form(form) = form?;
    let chosen = SystemBehaviour {
        lookup: form.lookup,
        cancel: form.cancel,
        lag_ms: form.lag_ms.parse().unwrap_or(0),
        times: form.times.parse().ok(),
        ..SystemBehaviour::default()
    };
    system_behaviour::choose(&world.store, place.who, &chosen).await?;
    Ok(Redirect::to("/"))
}

async fn reset(State(world): Shared) -> Done {
    world.reset().await?;
    Ok(Redirect::to("/"))
}

/// Where the link of a task that waits for an authorisation leads.
async fn permission(
    State(world): Shared,
    Path((name, task)): Path<(String, String)>,
) -> Result<Html<String>, Problem> {
    let agent = &api::agent(&world, &name)?.who;
    let title = text(agent.profile.title);
    Ok(document(
        "Permission",
        &format!(
            "<h1>{title} wants to book in your name</h1><p>It books one thing, for the trip that you \
             asked for.</p><form method=post action=\"/authorise/{}/{}\"><button>Allow it</button></form>",
            text(&name),
            text(&task)
        ),
    ))
}

async fn give_permission(
    State(world): Shared,
    Path((name, task)): Path<(String, String)>,
) -> Result<Html<String>, Problem> {
    api::authorise_task(&world, &name, &task).await?;
    Ok(document("Permission given", "<h1>Permission given</h1><p>You can close this page.</p>"))
}
