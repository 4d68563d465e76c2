//! Which network addresses we connect to (DESIGN.md §13, faults.md F-39).
//!
//! Every URL that came from outside — cards, agents' interfaces, booking systems — is checked
//! twice: its form and a literal address by [`AddressPolicy::check_url`], and a name at the
//! moment of connecting by [`GuardedResolver`], so that the address actually connected to is the
//! one that was judged. Redirects are off everywhere and proxies are not taken from the
//! environment, so there is no second hop to check.

use ipnet::IpNet;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use url::{Host, Url};

/// Which addresses may be connected to: all public ones, and those that the operator allows.
#[derive(Clone, Debug, Default)]
pub struct AddressPolicy {
    allowed: Arc<Vec<IpNet>>,
}

impl AddressPolicy {
    /// Public addresses only.
    pub fn public_only() -> Self {
        Self::default()
    }

    /// Public addresses and these networks.
    pub fn allowing(networks: Vec<IpNet>) -> Self {
        Self { allowed: Arc::new(networks) }
    }

    /// The demo's policy: public addresses and loopback.
    pub fn demo() -> Self {
        Self::default().with_loopback()
    }

    /// This policy, with loopback addresses allowed too.
    #[must_use]
    pub fn with_loopback(&self) -> Self {
        let mut networks = self.allowed.as_ref().clone();
        networks.extend(IpNet::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 0)), 8));
        networks.extend(IpNet::new(IpAddr::V6(Ipv6Addr::LOCALHOST), 128));
        Self::allowing(networks)
    }

    /// The networks that are allowed beside the public ones, for the admin's system page.
    pub fn allowed_networks(&self) -> Vec<String> {
        self.allowed.iter().map(ToString::to_string).collect()
    }

    /// Whether this address may be connected to. An IPv4 address inside an IPv6 one (mapped,
    /// NAT64, 6to4) is judged as the IPv4 address that it leads to.
    pub fn allows(&self, address: IpAddr) -> bool {
        let judged = unwrapped(address);
        let listed = |ip: &IpAddr| self.allowed.iter().any(|network| network.contains(ip));
        listed(&judged) || listed(&address) || is_public(judged)
    }

    /// Checks a URL as typed in a form or found in a card: its scheme, its host, and the
    /// address where the host is one. A name is checked again when it is resolved.
    pub fn check_url(&self, url: &Url) -> Result<(), String> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("the address must begin with https:// or http://, not {}:", url.scheme()));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err("the address must not hold a user name or password: use a credential".to_owned());
        }
        let address: IpAddr = match url.host() {
            Some(Host::Ipv4(ip)) => ip.into(),
            Some(Host::Ipv6(ip)) => ip.into(),
            Some(Host::Domain(name)) if is_local_name(name) => Ipv4Addr::LOCALHOST.into(),
            Some(Host::Domain(_)) => return Ok(()),
            None => return Err("the address has no host".to_owned()),
        };
        if self.allows(address) {
            return Ok(());
        }
        Err(refusal(url.host_str().unwrap_or_default()))
    }
}

/// The sentence that names a refused host.
fn refusal(host: &str) -> String {
    format!(
        "{host} is a private address, which is not allowed here: \
         use a public one, or let the operator allow its network"
    )
}

/// `localhost` and what lies under it; resolvers answer them with loopback (RFC 6761).
fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost")
}

/// The IPv4 address that an IPv6 one leads to, where it does.
fn unwrapped(address: IpAddr) -> IpAddr {
    let IpAddr::V6(ip) = address else { return address };
    let s = ip.segments();
    let v4 = |high: u16, low: u16| {
        let (a, b) = (high.to_be_bytes(), low.to_be_bytes());
        IpAddr::V4(Ipv4Addr::new(a[0], a[1], b[0], b[1]))
    };
    if let Some(mapped) = ip.to_ipv4_mapped() {
        return mapped.into();
    }
    match s {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => v4(high, low),
        [0x2002, high, low, ..] => v4(high, low),
        [0, 0, 0, 0, 0, 0, high, low] if high != 0 => v4(high, low),
        _ => address,
    }
}

/// Whether the whole internet may reach this address (IANA's special-purpose registries).
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(ip) => {
            let [a, b, c, _] = ip.octets();
            let special = ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_multicast()
                || ip.is_documentation()
                || a == 0
                || a >= 240
                || (a == 100 && (64..128).contains(&b))
                || (a == 192 && b == 0 && c == 0)
                || (a == 198 && (18..20).contains(&b));
            !special
        }
        IpAddr::V6(ip) => {
            let s = ip.segments();
            // Global unicast is 2000::/3; documentation, benchmarking and Teredo lie inside it.
            let documentation = (s[0] == 0x2001 && s[1] == 0xdb8) || s[0] == 0x3fff;
            let protocol = s[0] == 0x2001 && s[1] < 0x200;
            s[0] & 0xe000 == 0x2000 && !documentation && !protocol
        }
    }
}

/// Resolves names and lets through only the addresses that the policy allows, at the moment of
/// connecting: a name that resolves publicly at the check and privately now is refused now.
pub struct GuardedResolver {
    policy: AddressPolicy,
}

impl GuardedResolver {
    /// A resolver under this policy.
    pub fn new(policy: AddressPolicy) -> Self {
        Self { policy }
    }
}

/// A name resolved to nothing that may be connected to.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AddressRefused(String);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let policy = self.policy.clone();
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let allowed: Vec<SocketAddr> =
                found.iter().copied().filter(|address| policy.allows(address.ip())).collect();
            if allowed.is_empty() && !found.is_empty() {
                return Err(AddressRefused(refusal(name.as_str())).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(policy: &AddressPolicy, url: &str) -> Result<(), String> {
        policy.check_url(&Url::parse(url).expect(url))
    }

    #[test]
    fn private_addresses_are_refused_in_every_spelling() {
        for url in [
            "http://127.0.0.1/",
            "http://169.254.169.254/latest",
            "http://[::ffff:10.0.0.1]/",
            "http://[64:ff9b::a00:1]/",
            "http://[2002:a00:1::]/",
            "http://[::1]/",
            "http://[::]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://0x7f000001/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://0.0.0.0:8080/",
            "http://localhost/",
            "http://agent.localhost./",
            "http://10.1.2.3/",
            "http://172.16.0.1/",
            "http://192.168.0.1/",
            "http://100.64.0.1/",
            "http://255.255.255.255/",
        ] {
            let refused = check(&AddressPolicy::public_only(), url).expect_err(url);
            assert!(refused.contains("private address"), "{url}: {refused}");
        }
    }

    #[test]
    fn other_schemes_and_secrets_in_the_address_are_refused() {
        for url in ["ftp://agent.example/", "file:///etc/passwd", "http://u:p@agent.example/"] {
            check(&AddressPolicy::public_only(), url).expect_err(url);
        }
    }

    #[tokio::test]
    async fn a_name_is_judged_by_what_it_resolves_to_when_connecting() {
        let resolve = |policy| GuardedResolver::new(policy).resolve("localhost".parse().expect("a name"));
        let refused = resolve(AddressPolicy::public_only()).await.err().expect("loopback");
        assert!(refused.to_string().starts_with("localhost is a private address"), "{refused}");
        assert!(resolve(AddressPolicy::demo()).await.expect("allowed").count() > 0);
    }

    #[test]
    fn public_and_allowed_addresses_pass() {
        let public = AddressPolicy::public_only();
        for url in ["https://agent.example/a2a", "http://93.184.216.34/", "http://[2606:4700::1111]/"] {
            check(&public, url).expect(url);
        }
        let demo = AddressPolicy::demo();
        for url in [
            "http://127.0.0.1:9000/",
            "http://localhost:9000/",
            "http://[::1]/",
            "http://[::ffff:127.0.0.1]/",
        ] {
            check(&demo, url).expect(url);
        }
        check(&demo, "http://10.0.0.1/").expect_err("loopback only");
        let own = AddressPolicy::allowing(vec!["10.0.0.0/8".parse().expect("network")]);
        check(&own, "http://10.0.0.1/").expect("allowed network");
        check(&own, "http://[::ffff:10.0.0.1]/").expect("the same address");
        check(&own, "http://127.0.0.1/").expect_err("not listed");
    }
}
