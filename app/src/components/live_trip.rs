//! The island that is a trip's page: rendered by the server, then kept in step with the trip.

#[cfg(feature = "hydrate")]
use crate::components::decode;
use crate::components::live_stream::{Link, LinkState};
use crate::components::trip_body::TripBody;
use domain::view::{QuestionView, TripView};
use leptos::prelude::*;

/// Where the first view waits for the island: beside it, and not in its props, because those
/// would bring a JSON parser into the module.
const FIRST: &str = "first-view";

/// One trip's page.
#[component]
pub fn TripPageView(
    /// The trip.
    view: TripView,
) -> impl IntoView {
    #[cfg(feature = "ssr")]
    let text = serde_json::to_string(&view).unwrap_or_default();
    #[cfg(not(feature = "ssr"))]
    let text = String::new();
    provide_context(view);
    view! {
        <div id=FIRST hidden data-view=text></div>
        <LiveTrip />
    }
}

/// The view that the server rendered: given by the page there, and found on the page here.
fn first_view() -> Option<TripView> {
    #[cfg(feature = "hydrate")]
    return document()
        .get_element_by_id(FIRST)?
        .get_attribute("data-view")
        .and_then(|text| decode::trip(&text));
    #[cfg(not(feature = "hydrate"))]
    use_context()
}

/// One trip, alive.
///
/// All of it is drawn again with every view; what did not change is left alone in the document,
/// element by element. One place that reacts, and not one for each part, keeps the module small.
#[island]
pub fn LiveTrip() -> impl IntoView {
    let view = first_view()?;
    let title = crate::format::outside(&view.title);
    let cards = StoredValue::new(Vec::new());
    let trip = RwSignal::new(view);
    let link = RwSignal::new(Link::Snapshot);
    #[cfg(feature = "hydrate")]
    crate::components::live_stream::follow(trip, link);
    let body = move || {
        let trip = trip.get();
        let cards = with_cards(&trip, cards);
        view! { <TripBody trip=trip cards=cards /> }
    };
    Some(view! {
        <div class="page trip">
            <h1 dir="auto">{title}</h1>
            <LinkState link=link />
            {body}
        </div>
    })
}

/// The questions that have a card. They only become more, and keep their places: a card stays when
/// its question closes, with what was typed in it.
fn with_cards(trip: &TripView, kept: StoredValue<Vec<QuestionView>>) -> Vec<QuestionView> {
    let mut cards = kept.get_value();
    for card in &mut cards {
        match trip.questions.iter().find(|now| now.id == card.id) {
            Some(now) => card.clone_from(now),
            None => "withdrawn".clone_into(&mut card.state),
        }
    }
    for question in &trip.questions {
        if question.state == "open" && cards.iter().all(|card| card.id != question.id) {
            cards.push(question.clone());
        }
    }
    kept.set_value(cards.clone());
    cards
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_card_keeps_its_place_and_outlives_its_question() {
        Owner::new().with(|| {
            let kept = StoredValue::new(Vec::new());
            let ids = |trip: &TripView| {
                with_cards(trip, kept).into_iter().map(|card| (card.id, card.state)).collect::<Vec<_>>()
            };
            let pair = |id: &str, state: &str| (id.to_owned(), state.to_owned());
            assert_eq!(ids(&samples::asking()), [pair("q-hotel", "open")]);
            // The car's question comes first in the view, and second on the page.
            assert_eq!(ids(&samples::deciding()), [pair("q-hotel", "answered"), pair("q-car", "open")]);
            let mut silent = samples::undoing();
            silent.questions.clear();
            assert_eq!(ids(&silent), [pair("q-hotel", "withdrawn"), pair("q-car", "withdrawn")]);
        });
    }
}
