//! Prices as booking systems write them, read without floats (DESIGN.md §8, §11).
//!
//! A price is a decimal text or number in major units. JSON numbers would become doubles, so
//! [`quote_numbers`] turns them into texts before the answer is read.

use domain::money::Money;
use iso_currency::Currency;
use rust_decimal::Decimal;

/// An amount in a currency, scaled by the currency's ISO 4217 exponent; what is negative, has
/// an exponent, or has more decimals than the currency is refused with the reason.
pub(crate) fn money(price: &str, currency: &str) -> Result<Money, String> {
    let known =
        Currency::from_code(currency).ok_or_else(|| format!("{currency:?} is no ISO 4217 currency"))?;
    let exponent = known.exponent().ok_or_else(|| format!("{currency} has no smallest unit"))?;
    let digits = u8::try_from(exponent).map_err(|error| error.to_string())?;
    let plain = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = price.split_once('.').unwrap_or((price, "0"));
    if !plain(whole) || !plain(decimals) {
        return Err(format!("{price:?} is no price: digits with a point are expected"));
    }
    let too_large = || format!("{price} {currency} is too large an amount");
    let major = Decimal::from_str_exact(price).map_err(|_| too_large())?;
    let scale = Decimal::from(10_i64.pow(u32::from(digits)));
    let minor = major.checked_mul(scale).ok_or_else(too_large)?;
    if !minor.fract().is_zero() {
        return Err(format!("{price} {currency} has more decimals than the currency"));
    }
    let minor = i64::try_from(minor.trunc()).map_err(|_| too_large())?;
    Ok(Money { minor, currency: currency.to_owned(), digits })
}

/// The same JSON with every number as a text. The input must be valid JSON.
pub(crate) fn quote_numbers(json: &str) -> String {
    let mut quoted = String::with_capacity(json.len() + json.len() / 8);
    let (mut in_text, mut escaped, mut in_number) = (false, false, false);
    for character in json.chars() {
        let numeric = matches!(character, '0'..='9' | '-' | '+' | '.' | 'e' | 'E');
        if in_number && !numeric {
            quoted.push('"');
            in_number = false;
        }
        match character {
            _ if in_text && escaped => escaped = false,
            '\\' if in_text => escaped = true,
            '"' => in_text = !in_text,
            // Outside of texts only numbers begin with these.
            '0'..='9' | '-' if !in_text && !in_number => {
                quoted.push('"');
                in_number = true;
            }
            _ => {}
        }
        quoted.push(character);
    }
    if in_number {
        quoted.push('"');
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_are_scaled_by_the_currencys_own_exponent() {
        for (price, currency, minor, digits) in [
            ("412.50", "EUR", 41_250, 2),
            ("412.5", "EUR", 41_250, 2),
            ("412.500", "EUR", 41_250, 2),
            ("0", "EUR", 0, 2),
            ("12000", "JPY", 12_000, 0),
            ("12000.0", "JPY", 12_000, 0),
            ("1.234", "KWD", 1_234, 3),
            ("0.1", "USD", 10, 2),
            ("92233720368547758.07", "USD", i64::MAX, 2),
        ] {
            let expected = Money { minor, currency: currency.to_owned(), digits };
            assert_eq!(money(price, currency), Ok(expected), "{price} {currency}");
        }
    }

    #[test]
    fn what_is_no_plain_amount_is_refused() {
        for (price, currency) in [
            ("-1", "EUR"),
            ("+1", "EUR"),
            ("1e3", "EUR"),
            ("412,50", "EUR"),
            ("1_000", "EUR"),
            ("412.505", "EUR"),
            (".5", "EUR"),
            ("5.", "EUR"),
            ("", "EUR"),
            ("NaN", "EUR"),
            ("1.5", "JPY"),
            ("1", "EURO"),
            ("1", "XAU"),
            ("92233720368547758.08", "USD"),
            ("99999999999999999999999999999999", "USD"),
        ] {
            money(price, currency).expect_err(&format!("{price} {currency}"));
        }
    }

    #[test]
    fn numbers_become_texts_and_nothing_else_changes() {
        let json = r#"{"a":412.50,"b":[-1,1e3, 0 ],"c":"7 \" 8","d":true,"e":null,"9":2.5E-3}"#;
        let expected = r#"{"a":"412.50","b":["-1","1e3", "0" ],"c":"7 \" 8","d":true,"e":null,"9":"2.5E-3"}"#;
        assert_eq!(quote_numbers(json), expected);
        assert_eq!(quote_numbers("17"), "\"17\"");
    }
}
