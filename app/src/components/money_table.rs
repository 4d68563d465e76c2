//! What a trip costs: a line for each sum, a column for each currency.

use crate::format;
use domain::money::MoneyLine;
use leptos::either::Either;
use leptos::prelude::*;

type Sum = (&'static str, &'static str, fn(&MoneyLine) -> i64);

const SUMS: [Sum; 4] = [
    ("Booked", "confirmed by the records", |line| line.held),
    ("Refunded", "from what was undone", |line| line.refunded),
    ("Fees", "kept for what was undone", |line| line.fees),
    ("In doubt", "booked or not, nobody can say yet", |line| line.in_doubt),
];

/// The sums of a trip.
#[component]
pub fn MoneyTable(
    /// A line for each currency.
    lines: Vec<MoneyLine>,
) -> impl IntoView {
    if lines.is_empty() {
        return Either::Left(view! { <p class="quiet">"Nothing is booked, so nothing is owed."</p> });
    }
    let rows = SUMS
        .iter()
        .enumerate()
        .filter(|(place, (_, _, sum))| *place == 0 || lines.iter().any(|line| sum(line) != 0))
        .map(|(_, (label, hint, sum))| {
            let cells =
                lines.iter().map(|line| view! { <td>{format::sum(line, sum(line))}</td> }).collect_view();
            view! { <tr><th scope="row">{*label}<span class="quiet">{*hint}</span></th>{cells}</tr> }
        })
        .collect_view();
    Either::Right(view! { <table class="money"><tbody>{rows}</tbody></table> })
}
