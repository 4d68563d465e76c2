//! What a client's message asks for. Whatever is missing gets a believable default.

use a2a::{Message, Part, PartContent};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A trip's part to be booked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// The client's reference, passed on to the booking system; empty where none was given.
    pub reference: String,
    /// From where.
    pub origin: String,
    /// To where.
    pub destination: String,
    /// First day, YYYY-MM-DD.
    pub start: String,
    /// Last day, YYYY-MM-DD.
    pub end: String,
    /// How many people.
    pub travellers: u32,
    /// What else the traveller said.
    pub notes: String,
}

impl Order {
    /// Reads a message.
    pub fn read(message: &Message) -> Self {
        let data = message.parts.iter().find_map(|part| match &part.content {
            PartContent::Data(value) => Some(value.get("inputs").unwrap_or(value)),
            _ => None,
        });
        let inputs = data.unwrap_or(&Value::Null);
        let text = |name: &str, default: &str| match inputs[name].as_str().map(str::trim) {
            Some(value) if !value.is_empty() => value.to_owned(),
            _ => default.to_owned(),
        };
        let reference = message.metadata.as_ref().and_then(|metadata| metadata.get("reference"));
        let start = text("start", "2027-03-01");
        let end = text("end", &start);
        Self {
            reference: reference.and_then(Value::as_str).unwrap_or_default().to_owned(),
            origin: text("origin", "Lisbon"),
            destination: text("destination", "Berlin"),
            start,
            end,
            travellers: travellers(&inputs["travellers"]),
            notes: text("notes", ""),
        }
    }

    /// How many nights lie between its days; one at least.
    pub fn nights(&self) -> i64 {
        let days = |start: &str, end: &str| -> Option<i64> {
            let (start, end) = (start.parse::<Date>().ok()?, end.parse::<Date>().ok()?);
            Some(i64::from(end.since(start).ok()?.get_days()))
        };
        days(&self.start, &self.end).unwrap_or(1).clamp(1, 365)
    }
}

/// Numbers may come as doubles or as text.
fn travellers(value: &Value) -> u32 {
    let number = match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_f64(),
    };
    let whole = number.unwrap_or(2.0).clamp(1.0, 20.0);
    (1..=20).take_while(|count| f64::from(*count) <= whole).last().unwrap_or(1)
}

/// What a reply says: a choice in its data part, else its text.
pub fn reply_text(message: &Message) -> String {
    let choice = message.parts.iter().find_map(|part| match &part.content {
        PartContent::Data(value) => ["choice", "value", "answer", "text"]
            .iter()
            .find_map(|name| value.get(name).and_then(Value::as_str))
            .map(str::to_owned),
        _ => None,
    });
    choice
        .or_else(|| message.parts.iter().find_map(Part::as_text).map(str::to_owned))
        .unwrap_or_default()
        .trim()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use a2a::Role;
    use serde_json::json;

    #[test]
    fn a_message_with_nothing_in_it_still_asks_for_something() {
        let order = Order::read(&Message::new(Role::User, vec![Part::text("hello")]));
        assert_eq!((order.origin.as_str(), order.travellers, order.nights()), ("Lisbon", 2, 1));
    }

    #[test]
    fn inputs_are_read_and_numbers_may_be_doubles() {
        let inputs = json!({"inputs": {"origin": "Oslo", "destination": "Rome", "start": "2027-03-01",
            "end": "2027-03-05", "travellers": 3.0}});
        let order = Order::read(&Message::new(Role::User, vec![Part::data(inputs)]));
        assert_eq!((order.origin.as_str(), order.travellers, order.nights()), ("Oslo", 3, 4));
    }
}
