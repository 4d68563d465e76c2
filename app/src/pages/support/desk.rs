//! The support desk: what is stuck, longest first.

use crate::api;
use crate::components::instant::Instant;
use crate::components::loaded::loaded;
use crate::components::outside::Outside;
use crate::components::page_title::PageTitle;
use crate::format;
use domain::view::CaseView;
use leptos::prelude::*;

/// The page `/desk`.
#[component]
pub fn DeskPage() -> impl IntoView {
    loaded(api::cases::cases(), |cases| {
        view! {
            <PageTitle text="Desk" />
            <DeskView cases=cases />
        }
    })
}

/// The queue.
#[component]
pub fn DeskView(
    /// The stuck cases, longest first.
    cases: Vec<CaseView>,
) -> impl IntoView {
    let body = if cases.is_empty() {
        view! { <p class="empty">"Nothing is stuck. A case comes up here when no rule may decide alone."</p> }
            .into_any()
    } else {
        let heading = format!("{}, longest first", format::count(cases.len(), "case"));
        let rows = cases.into_iter().map(|case| view! { <Row case=case /> }).collect_view();
        view! {
            <div class="scroll" tabindex="0" role="region" aria-label="Cases">
                <table class="dense">
                    <caption>{heading}</caption>
                    <thead>
                        <tr>
                            <th scope="col">"Trip"</th>
                            <th scope="col">"Step"</th>
                            <th scope="col">"Why it is stuck"</th>
                            <th scope="col">"Since"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        }
        .into_any()
    };
    view! {
        <div class="page page-wide desk">
            <h1>"Desk"</h1>
            {body}
        </div>
    }
}

#[component]
fn Row(
    /// The case.
    case: CaseView,
) -> impl IntoView {
    view! {
        <tr id=format!("case-{}", case.id)>
            <th scope="row"><a href=format!("/trips/{}", case.trip)><Outside text=case.trip_title /></a></th>
            <td><Outside text=case.step_title /></td>
            <td dir="auto">{format::outside(&case.reason)}</td>
            <td class="nowrap"><Instant at=case.since /></td>
        </tr>
    }
}
