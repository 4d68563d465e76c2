//! What the agents sell: routes, rooms and cars with believable prices, and what they ask.

use super::order::Order;
use serde_json::{Value, json};

/// What an agent sells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trade {
    /// Return flights.
    Flight,
    /// Hotel stays.
    Hotel,
    /// Rental cars, with the daily price in cents, the cancellation fee in cents and the model.
    Car(i64, i64, &'static str),
}

/// Something that can be booked.
#[derive(Clone, Debug)]
pub struct Offer {
    /// In one line.
    pub title: String,
    /// The details that the booking system keeps.
    pub details: Value,
    /// Its price in cents.
    pub total_cents: i64,
    /// What is kept of it when it is cancelled, in cents.
    pub fee_cents: i64,
    /// When it may be cancelled.
    pub rule: &'static str,
}

/// A question with its choices: value and label.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// What is asked.
    pub text: &'static str,
    /// What may be answered.
    pub choices: &'static [(&'static str, &'static str)],
}

impl Question {
    /// The data part that goes with its text.
    pub fn data(&self) -> Value {
        let choices: Vec<_> =
            self.choices.iter().map(|(value, label)| json!({ "value": value, "label": label })).collect();
        json!({ "choices": choices })
    }

    /// The value that an answer means; the answer itself where it is none of the choices.
    pub fn value_of(&self, answer: &str) -> String {
        let same = |text: &str| text.eq_ignore_ascii_case(answer);
        let choice = self.choices.iter().find(|(value, label)| same(value) || same(label));
        choice.map_or(answer, |(value, _)| value).to_owned()
    }
}

/// From, to, flight number out and back, times out and back, price of a return in cents.
type Route = (&'static str, &'static str, &'static str, &'static str, &'static str, &'static str, i64);

const ROUTES: [Route; 16] = [
    ("Lisbon", "Berlin", "NW 402", "NW 405", "07:25–12:00", "18:40–21:25", 20_600),
    ("London", "Paris", "NW 118", "NW 123", "08:10–10:25", "19:05–19:20", 13_400),
    ("London", "Barcelona", "NW 264", "NW 267", "09:35–12:45", "17:20–18:40", 17_800),
    ("Berlin", "Rome", "NW 731", "NW 734", "10:15–12:20", "20:05–22:10", 18_900),
    ("Amsterdam", "Copenhagen", "NW 552", "NW 557", "07:50–09:15", "18:15–19:45", 15_200),
    ("Madrid", "Vienna", "NW 346", "NW 349", "11:05–13:55", "16:30–19:30", 22_300),
    ("Dublin", "Lisbon", "NW 190", "NW 193", "06:40–09:30", "20:15–22:55", 19_100),
    ("Paris", "Prague", "NW 618", "NW 621", "12:20–14:00", "15:10–16:55", 16_700),
    ("Oslo", "Athens", "NW 870", "NW 873", "08:00–12:55", "14:05–17:20", 31_200),
    ("Stockholm", "London", "NW 284", "NW 289", "07:15–09:00", "18:55–22:25", 20_900),
    ("Zurich", "Barcelona", "NW 475", "NW 478", "13:10–14:55", "19:40–21:20", 17_300),
    ("Warsaw", "Milan", "NW 529", "NW 532", "09:45–12:00", "17:55–20:05", 16_100),
    ("London", "New York", "NW 020", "NW 021", "11:25–14:20", "21:30–09:40", 52_400),
    ("Paris", "Tokyo", "NW 068", "NW 069", "13:30–09:25", "11:05–18:10", 89_600),
    ("Frankfurt", "Singapore", "NW 076", "NW 077", "21:55–16:10", "23:45–06:05", 78_300),
    ("Lisbon", "São Paulo", "NW 054", "NW 055", "10:40–17:05", "18:45–08:20", 69_800),
];

/// City, hotel, price of a room and night in cents.
const HOTELS: [(&str, &str, i64); 12] = [
    ("Berlin", "Harbour Hotel Spreebogen", 12_400),
    ("Paris", "Harbour Hotel Canal Saint-Martin", 16_900),
    ("Barcelona", "Harbour Hotel Port Vell", 14_800),
    ("Rome", "Harbour Hotel Trastevere", 14_200),
    ("Copenhagen", "Harbour Hotel Nyhavn", 17_300),
    ("Vienna", "Harbour Hotel Donaukanal", 13_100),
    ("Lisbon", "Harbour Hotel Cais do Sodré", 11_800),
    ("Prague", "Harbour Hotel Vltava", 9_900),
    ("Athens", "Harbour Hotel Piraeus", 10_600),
    ("London", "Harbour Hotel St Katharine", 19_800),
    ("New York", "Harbour Hotel Seaport", 24_900),
    ("Tokyo", "Harbour Hotel Sumida", 17_600),
];

/// A number that depends on a text alone.
fn number_of(text: &str) -> i64 {
    let hash = text.to_lowercase().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    i64::from(u32::try_from(hash >> 33).unwrap_or_default())
}

fn same(left: &str, right: &str) -> bool {
    left.trim().to_lowercase() == right.to_lowercase()
}

impl Trade {
    /// The offer for an order, with the answers that were given.
    pub fn offer(self, order: &Order, answers: &[String]) -> Offer {
        match self {
            Self::Flight => flight(order, answers),
            Self::Hotel => hotel(order, answers),
            Self::Car(per_day, fee_cents, model) => car(order, answers, per_day, fee_cents, model),
        }
    }

    /// Its questions, the usual one first.
    pub fn questions(self) -> [Question; 2] {
        match self {
            Self::Flight => [
                Question {
                    text: "Seats together or the cheapest seats?",
                    choices: &[("together", "Seats together"), ("cheapest", "Cheapest seats")],
                },
                Question {
                    text: "One checked bag each, or hand luggage only?",
                    choices: &[("checked", "One checked bag each"), ("hand", "Hand luggage only")],
                },
            ],
            Self::Hotel => [
                Question { text: "Two rooms or one?", choices: &[("one", "One room"), ("two", "Two rooms")] },
                Question {
                    text: "With breakfast?",
                    choices: &[("yes", "With breakfast"), ("no", "Without")],
                },
            ],
            Self::Car(..) => [
                Question {
                    text: "Manual or automatic?",
                    choices: &[("manual", "Manual"), ("automatic", "Automatic")],
                },
                Question {
                    text: "Full insurance or the basic cover?",
                    choices: &[("full", "Full insurance"), ("basic", "Basic cover")],
                },
            ],
        }
    }

    /// What it says first.
    pub fn searching(self, order: &Order) -> String {
        match self {
            Self::Flight => format!("Looking for flights {} – {}.", order.origin, order.destination),
            Self::Hotel => format!("Looking for a hotel in {}.", order.destination),
            Self::Car(..) => format!("Looking for a car in {}.", order.destination),
        }
    }
}

fn flight(order: &Order, answers: &[String]) -> Offer {
    let pair = |route: &&Route| same(&order.origin, route.0) && same(&order.destination, route.1);
    let back = |route: &&Route| same(&order.origin, route.1) && same(&order.destination, route.0);
    let (out, home, out_times, home_times, fare) = if let Some(route) = ROUTES.iter().find(pair) {
        (route.2.to_owned(), route.3.to_owned(), route.4.to_owned(), route.5.to_owned(), route.6)
    } else if let Some(route) = ROUTES.iter().find(back) {
        (route.3.to_owned(), route.2.to_owned(), route.5.to_owned(), route.4.to_owned(), route.6)
    } else {
        let n = number_of(&format!("{}>{}", order.origin, order.destination));
        let hour = 6 + n % 12;
        (
            format!("NW {}", 900 + n % 90),
            format!("NW {}", 901 + n % 90),
            format!("{hour:02}:15–{:02}:50", hour + 2),
            format!("{:02}:40–{:02}:05", hour + 3, hour + 6),
            9_900 + n % 420 * 100,
        )
    };
    let travellers = i64::from(order.travellers);
    let extra = if answers.iter().any(|answer| answer == "checked") { 3_500 * travellers } else { 0 };
    Offer {
        title: format!(
            "{out} {} – {} on {}, back with {home} on {}, {} travellers",
            order.origin, order.destination, order.start, order.end, order.travellers
        ),
        details: json!({
            "kind": "flight", "carrier": "Northwind Air", "origin": order.origin,
            "destination": order.destination, "travellers": order.travellers, "wishes": answers,
            "outbound": { "flight": out, "date": order.start, "times": out_times },
            "inbound": { "flight": home, "date": order.end, "times": home_times },
        }),
        total_cents: fare * travellers + extra,
        fee_cents: 2_500,
        rule: "May be cancelled until departure; 25.00 EUR are kept.",
    }
}

fn hotel(order: &Order, answers: &[String]) -> Offer {
    let known = HOTELS.iter().find(|(city, ..)| same(&order.destination, city));
    let (house, rate) = known.map_or_else(
        || {
            let n = number_of(&order.destination);
            (format!("Harbour Hotel {}", order.destination), 8_400 + n % 90 * 100)
        },
        |(_, house, rate)| ((*house).to_owned(), *rate),
    );
    let rooms = if answers.iter().any(|answer| answer == "two") { 2 } else { 1 };
    let breakfast = answers.iter().any(|answer| answer == "yes");
    let breakfasts = if breakfast { 1_400 * i64::from(order.travellers) } else { 0 };
    let named = if rooms == 2 { "two rooms" } else { "one room" };
    Offer {
        title: format!("{house}, {named}, {} to {} ({} nights)", order.start, order.end, order.nights()),
        details: json!({
            "kind": "hotel", "house": house, "city": order.destination, "check_in": order.start,
            "check_out": order.end, "nights": order.nights(), "rooms": rooms,
            "guests": order.travellers, "breakfast": breakfast, "wishes": answers,
        }),
        total_cents: (rate * rooms + breakfasts) * order.nights(),
        fee_cents: 0,
        rule: "Free cancellation until the day of arrival.",
    }
}

fn car(order: &Order, answers: &[String], per_day: i64, fee_cents: i64, model: &str) -> Offer {
    let automatic = answers.iter().any(|answer| answer == "automatic");
    let full = answers.iter().any(|answer| answer == "full");
    let rate = per_day + if automatic { 600 } else { 0 } + if full { 1_200 } else { 0 };
    Offer {
        title: format!("{model} in {}, {} to {}", order.destination, order.start, order.end),
        details: json!({
            "kind": "car", "model": model, "pick_up": order.destination, "from": order.start,
            "until": order.end, "days": order.nights(), "gearbox": if automatic { "automatic" } else { "manual" },
            "insurance": if full { "full" } else { "basic" }, "wishes": answers,
        }),
        total_cents: rate * order.nights(),
        fee_cents,
        rule: if fee_cents == 0 {
            "Free cancellation until pick-up."
        } else {
            "May be cancelled until pick-up; a fee is kept."
        },
    }
}

/// Cents as a decimal string.
pub fn amount(cents: i64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::{Message, Part, Role};

    #[test]
    fn two_travellers_fly_from_lisbon_to_berlin_for_412() {
        let order = Order::read(&Message::new(Role::User, vec![Part::text("fly")]));
        let offer = Trade::Flight.offer(&order, &[]);
        assert_eq!((amount(offer.total_cents), amount(offer.fee_cents)), ("412.00".into(), "25.00".into()));
    }

    #[test]
    fn other_pairs_have_a_price_that_stays_the_same() {
        let mut order = Order::read(&Message::new(Role::User, vec![Part::text("fly")]));
        order.origin = "Ulaanbaatar".into();
        let first = Trade::Flight.offer(&order, &[]);
        assert_eq!(first.title, Trade::Flight.offer(&order, &[]).title);
        assert!(first.total_cents >= 2 * 9_900);
    }

    #[test]
    fn an_answer_may_be_a_value_or_a_label() {
        let rooms = Trade::Hotel.questions()[0];
        assert_eq!((rooms.value_of("Two rooms"), rooms.value_of("ONE")), ("two".into(), "one".into()));
        assert_eq!(rooms.value_of("three please"), "three please");
    }
}
