//! Amounts, instants, links and outside text, made ready to be shown. Pure, and the same in both
//! halves: what the server rendered is what the island renders first.

use domain::money::{Money, MoneyLine};
use domain::view::UndoPreview;

/// Most characters of one outside text that a page shows.
const LONGEST_TEXT: usize = 8_000;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// An amount with its currency, thousands apart, on one line: `1,249.00 EUR`.
pub fn amount(minor: i64, digits: u8, currency: &str) -> String {
    let digits = usize::from(digits.min(9));
    let figures = format!("{:0>width$}", minor.unsigned_abs(), width = digits + 1);
    let (whole, part) = figures.split_at(figures.len() - digits);
    let mut text = if minor < 0 { "\u{2212}".to_owned() } else { String::new() };
    for (place, figure) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(figure);
    }
    if digits > 0 {
        text.push('.');
        text.push_str(part);
    }
    text.push('\u{a0}');
    text.extend(outside(currency).chars().take(3));
    text
}

/// An amount as the records show it.
pub fn money(money: &Money) -> String {
    amount(money.minor, money.digits, &money.currency)
}

/// One sum of a currency's line.
pub fn sum(line: &MoneyLine, minor: i64) -> String {
    amount(minor, line.digits, &line.currency)
}

/// The sums of what comes back, one for each currency, or `None` where one of them is not known.
pub fn refunds(undo: &[UndoPreview]) -> Option<Vec<Money>> {
    let mut sums: Vec<Money> = Vec::new();
    for booking in undo {
        let refund = booking.refund.as_ref()?;
        match sums.iter_mut().find(|sum| sum.currency == refund.currency && sum.digits == refund.digits) {
            Some(sum) => sum.minor = sum.minor.saturating_add(refund.minor),
            None => sums.push(refund.clone()),
        }
    }
    Some(sums)
}

/// Year, month, day, hour, minute and second of UTC milliseconds.
fn civil(at: i64) -> (i64, usize, i64, i64, i64, i64) {
    let seconds = at.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 0000-03-01, in eras of 400 years: a year then ends with its leap day.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, usize::try_from(month).unwrap_or(1), day, second / 3600, second / 60 % 60, second % 60)
}

/// An instant for machines: `2027-03-01T14:02:11Z`.
pub fn iso(at: i64) -> String {
    let (year, month, day, hour, minute, second) = civil(at);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// An instant for people, zone included: `1 Mar 2027, 14:02 UTC`.
pub fn utc(at: i64) -> String {
    let (year, month, day, hour, minute, _) = civil(at);
    format!("{day} {} {year}, {hour:02}:{minute:02} UTC", MONTHS[month - 1])
}

/// A calendar date of the inputs (`2027-03-01`) for people: `1 Mar 2027`. Anything else as it is.
pub fn date(text: &str) -> String {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return outside(text) };
    match (month.parse::<usize>(), day.parse::<u8>()) {
        (Ok(month @ 1..=12), Ok(day @ 1..=31))
            if year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()) =>
        {
            format!("{day} {} {year}", MONTHS[month - 1])
        }
        _ => outside(text),
    }
}

/// Whether this is a day of the calendar, as a date input writes it: `2027-03-01`.
pub fn is_day(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let plain = |part: &str, digits: usize| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit());
    if !(plain(year, 4) && plain(month, 2) && plain(day, 2)) {
        return false;
    }
    let number = |part: &str| part.parse::<u32>().unwrap_or(0);
    let year = number(year);
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let last = match number(month) {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=last).contains(&number(day))
}

/// Outside text as a page may hold it: not without end, without control characters, which a
/// browser drops or changes when it reads the page, and without those that turn text around, which
/// can make it read as something else. Text that is written from right to left needs none of them.
pub fn outside(text: &str) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let kept = |c: &char| (!c.is_control() || matches!(c, '\n' | '\t')) && !turns(*c);
    let mut shown: String = text.chars().filter(kept).take(LONGEST_TEXT + 1).collect();
    if shown.chars().count() > LONGEST_TEXT {
        shown.pop();
        shown.push('…');
    }
    shown
}

/// A title for the document's head, where text is not escaped for us.
pub fn head_title(text: &str) -> String {
    let text: String = outside(text).chars().take(200).collect();
    escaped(&text)
}

/// Text as HTML, for the few places where nobody escapes it for us.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// An agent's link and the host that it leads to; `None` unless it is plain http or https.
pub fn web_link(link: &str) -> Option<(String, String)> {
    let scheme = link.get(..8).filter(|s| s.eq_ignore_ascii_case("https://")).map(|_| 8);
    let rest =
        &link[scheme.or_else(|| link.get(..7).filter(|s| s.eq_ignore_ascii_case("http://")).map(|_| 7))?..];
    if link.chars().any(|c| c.is_control() || c.is_whitespace() || c == '\\') {
        return None;
    }
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next().filter(|host| !host.is_empty())?;
    Some((link.to_owned(), host.to_owned()))
}

/// Where to go after signing in: a path of ours, or nothing.
pub fn own_path(next: &str) -> Option<String> {
    let plain = next.starts_with('/') && !next.starts_with("//") && !next.contains(['\\', '\n', '\r', '\t']);
    plain.then(|| next.to_owned())
}

/// A count with its noun: `1 question`, `2 questions`.
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// How long something has lasted, in its largest unit: `3 min`, `10 h`, `2 days`.
pub fn age(seconds: i64) -> String {
    match seconds {
        ..60 => "under 1 min".to_owned(),
        60..3600 => format!("{} min", seconds / 60),
        3600..172_800 => format!("{} h", seconds / 3600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_their_decimals_and_their_sign() {
        assert_eq!(amount(124_900, 2, "EUR"), "1,249.00\u{a0}EUR");
        assert_eq!(amount(5, 2, "EUR"), "0.05\u{a0}EUR");
        assert_eq!(amount(-1_000_000, 0, "JPY"), "\u{2212}1,000,000\u{a0}JPY");
        assert_eq!(amount(1234, 3, "KWD"), "1.234\u{a0}KWD");
        assert!(amount(i64::MIN, 2, "EUR").starts_with('\u{2212}'));
    }

    #[test]
    fn instants_are_read_in_utc() {
        assert_eq!(iso(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso(951_782_399_999), "2000-02-28T23:59:59Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00Z");
        assert_eq!(iso(-1), "1969-12-31T23:59:59Z");
        assert_eq!(utc(1_803_909_731_000), "1 Mar 2027, 14:02 UTC");
    }

    #[test]
    fn ages_are_told_in_one_unit() {
        let ages = [-5, 59, 60, 3599, 3600, 172_799, 172_800].map(age);
        assert_eq!(ages, ["under 1 min", "under 1 min", "1 min", "59 min", "1 h", "47 h", "2 days"]);
    }

    #[test]
    fn dates_are_written_out_and_nonsense_stays() {
        assert_eq!(date("2027-03-01"), "1 Mar 2027");
        assert_eq!(date("2027-13-01"), "2027-13-01");
        assert_eq!(date("soon"), "soon");
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for day in ["2027-03-01", "2028-02-29", "2000-02-29", "2027-12-31"] {
            assert!(is_day(day), "{day}");
        }
        for odd in
            ["2027-02-29", "1900-02-29", "2027-13-01", "2027-04-31", "2027-3-1", "soon", "", "2027-03-00"]
        {
            assert!(!is_day(odd), "{odd}");
        }
    }

    #[test]
    fn links_show_their_real_host() {
        let host = |link| web_link(link).map(|(_, host)| host);
        assert_eq!(host("https://pay.example/a?b#c").as_deref(), Some("pay.example"));
        assert_eq!(host("HTTPS://bank.example@evil.example/x").as_deref(), Some("evil.example"));
        for bad in [
            "javascript:alert(1)",
            "data:text/html,x",
            "http://",
            "https://a\\b",
            "https://a b",
            "ftp://a",
            "ä",
        ] {
            assert_eq!(host(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_own_paths_are_returned_to() {
        assert_eq!(own_path("/trips/1?a=b").as_deref(), Some("/trips/1?a=b"));
        for bad in ["//evil.example", "https://evil.example", "/\\evil.example", ""] {
            assert_eq!(own_path(bad), None, "{bad}");
        }
    }

    #[test]
    fn outside_text_loses_controls_and_has_an_end() {
        assert_eq!(outside("a\0b\u{7}\nc\u{202e}d"), "ab\ncd");
        assert_eq!(outside(&"x".repeat(1_000_000)).chars().count(), LONGEST_TEXT + 1);
        assert_eq!(head_title("</title><script>"), "&lt;/title&gt;&lt;script&gt;");
    }

    #[test]
    fn refunds_are_unknown_as_soon_as_one_is() {
        let euro = |minor| Some(Money { minor, currency: "EUR".into(), digits: 2 });
        let line = |refund| UndoPreview {
            step_title: "Hotel".into(),
            confirmation: None,
            booking_system: None,
            price: None,
            fee: None,
            refund,
        };
        assert_eq!(refunds(&[line(euro(100)), line(euro(50))]).map(|sums| sums[0].minor), Some(150));
        assert_eq!(refunds(&[line(euro(100)), line(None)]), None);
    }
}
