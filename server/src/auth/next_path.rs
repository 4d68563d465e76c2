//! Where a sign-in leads. Only to a path of this site: a `next` that leads elsewhere is how
//! people are sent to a copy of the sign-in page.

use std::fmt::Write as _;

/// Where a sign-in leads without a usable `next`.
pub const HOME: &str = "/trips";

/// The longest path taken along.
const LONGEST: usize = 1024;

/// `next` if it is a path of this site, else [`HOME`].
pub fn local_or_home(next: Option<&str>) -> &str {
    next.filter(|path| is_local(path)).unwrap_or(HOME)
}

/// Whether `path` begins with exactly one slash and holds nothing that a browser could read as
/// the start of another host. Browsers take `\` for `/` and drop tabs and line ends.
fn is_local(path: &str) -> bool {
    let mut bytes = path.bytes();
    path.len() <= LONGEST
        && bytes.next() == Some(b'/')
        && bytes.next() != Some(b'/')
        && path.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\')
        && path != "/login"
        && !path.starts_with("/login?")
        && path != "/logout"
}

/// The sign-in page's address, with `path` to come back to.
pub fn login_with(path: &str) -> String {
    if !is_local(path) || path == "/" || path == HOME {
        return "/login".to_owned();
    }
    let mut address = "/login?next=".to_owned();
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            address.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_this_site_are_taken() {
        for path in ["/trips/1", "/trips/new?from=x&to=y", "/inbox"] {
            assert_eq!(local_or_home(Some(path)), path);
        }
    }

    #[test]
    fn nothing_leads_to_another_site() {
        for path in [
            "",
            "trips",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "/\t/evil.example",
            "/x\r\nSet-Cookie: a=b",
            "javascript:alert(1)",
            " /trips",
            "/tr\u{ef}ps",
            "/login",
            "/login?next=/login",
            "/logout",
        ] {
            assert_eq!(local_or_home(Some(path)), HOME, "{path:?}");
        }
        assert_eq!(local_or_home(Some(&format!("/{}", "a".repeat(5000)))), HOME);
        assert_eq!(local_or_home(None), HOME);
    }

    #[test]
    fn the_way_back_survives_the_query() {
        assert_eq!(login_with("/trips/new?a=b&c=d"), "/login?next=/trips/new%3Fa%3Db%26c%3Dd");
        assert_eq!(login_with("/trips"), "/login");
        assert_eq!(login_with("//evil.example"), "/login");
    }
}
