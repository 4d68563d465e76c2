//! The form of the list of cases: check several now. Each is an action of its own, with its own
//! result; what came of them is read from the journal again by the page that follows, so a reload
//! shows what is true then.

use super::{Fields, Sender, about, encoded};
use crate::error_page::unavailable;
use crate::state::AppState;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use engine::support::{ActionError, CaseAction};

/// How many cases are taken at once: their ids must fit into the address of the page that follows.
const MOST: usize = app::pages::support::desk::MOST_AT_ONCE;
/// The longest id taken; ours are shorter.
const LONGEST_ID: usize = 64;

/// `POST /desk` with `case` for each chosen one, or `all=yes` and `shown` for each, and `reason`.
pub async fn check_several(State(state): State<AppState>, sender: Sender, fields: Fields) -> Response {
    if !sender.viewer.role.sees_all() {
        return sender.not_found().await;
    }
    let wrong = StatusCode::UNPROCESSABLE_ENTITY;
    let chosen = chosen(&fields);
    let refusal = match chosen.len() {
        0 => Some("Choose at least one case.".to_owned()),
        number if number > MOST => Some(format!("Choose at most {MOST} cases at once; these are {number}.")),
        _ => None,
    };
    if let Some(message) = refusal {
        let form = fields.came_back(&["shown"], about("case", message));
        return sender.again(wrong, form, None).await;
    }
    let since = state.engine.now().0;
    let action = CaseAction::CheckNow { reason: fields.first("reason").unwrap_or_default().to_owned() };
    let mut failed = 0;
    for id in &chosen {
        match state.engine.act_on_case(&sender.viewer, id, &action).await {
            // The reason is the same for all: it is refused at the first one, before anything is written.
            Err(ActionError::Invalid { field, message }) => {
                let form = fields.came_back(&["shown"], about(field, message));
                return sender.again(wrong, form, None).await;
            }
            Err(ActionError::Store(error)) => {
                tracing::error!(%error, case = %id, "a check could not be recorded");
                failed += 1;
            }
            Ok(_) | Err(ActionError::NotFound | ActionError::MovedOn) => {}
        }
    }
    if failed == chosen.len() {
        return unavailable();
    }
    let ids: Vec<String> = chosen.iter().map(|id| encoded(id)).collect();
    sender.on_to(&format!("/desk/checked?since={since}&cases={}", ids.join(",")), "").await
}

/// The cases chosen, each once. What cannot be an id of ours is none.
fn chosen(fields: &Fields) -> Vec<String> {
    let name = if fields.first("all") == Some("yes") { "shown" } else { "case" };
    let mut chosen: Vec<String> = Vec::new();
    for id in fields.all(name) {
        let sound = !id.is_empty() && id.len() <= LONGEST_ID && !id.contains([',', '\0']);
        if sound && !chosen.contains(&id) {
            chosen.push(id);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_chosen_once_and_all_means_those_that_were_shown() {
        let pairs = [("case", "a"), ("case", "a"), ("case", "x,y"), ("shown", "a"), ("shown", "b")];
        let mut fields = Fields(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec());
        assert_eq!(chosen(&fields), ["a"]);
        fields.0.push(("all".to_owned(), "yes".to_owned()));
        assert_eq!(chosen(&fields), ["a", "b"]);
    }
}
