//! Amounts in minor units with their currency, and the sums that a trip shows. Currencies
//! stand side by side and are never added up across.

use serde::{Deserialize, Serialize};

/// An amount: `minor` units of `currency` (ISO 4217), of which `digits` are decimals.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    /// The amount in the currency's smallest unit, for example cents.
    pub minor: i64,
    /// The ISO 4217 code, for example `EUR`.
    pub currency: String,
    /// The currency's number of decimals, for example 2.
    pub digits: u8,
}

impl std::fmt::Display for Money {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let scale = 10_i64.pow(u32::from(self.digits.min(9)));
        let (sign, minor) = if self.minor < 0 { ("-", -self.minor) } else { ("", self.minor) };
        if self.digits == 0 {
            return write!(f, "{sign}{minor} {}", self.currency);
        }
        write!(
            f,
            "{sign}{}.{:0width$} {}",
            minor / scale,
            minor % scale,
            self.currency,
            width = usize::from(self.digits)
        )
    }
}

/// What one currency adds up to within one trip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MoneyLine {
    /// The ISO 4217 code.
    pub currency: String,
    /// The currency's number of decimals.
    pub digits: u8,
    /// Prices of bookings that the records confirm and that stand.
    pub held: i64,
    /// What undone bookings gave back: price less fee.
    pub refunded: i64,
    /// Fees kept for undone bookings.
    pub fees: i64,
    /// Prices of bookings whose present state is not known.
    pub in_doubt: i64,
}

impl MoneyLine {
    /// A line of zeros.
    pub fn empty(currency: &str, digits: u8) -> Self {
        Self { currency: currency.to_owned(), digits, held: 0, refunded: 0, fees: 0, in_doubt: 0 }
    }
}
