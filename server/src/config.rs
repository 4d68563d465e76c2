//! What the options mean. Everything is checked here, before anything opens: a wrong option is an
//! error that names the option, says what is wrong, and what would be right.

use crate::cli::Options;
use domain::waits::Waits;
use ipnet::IpNet;
use secrecy::SecretString;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// The prefix of a wait's setting in the environment.
const WAIT_PREFIX: &str = "HOLDFAST_WAIT_";
/// The fewest characters that a secret key may have.
const SECRET_KEY_CHARS: usize = 32;

/// One option that cannot be used as given.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{option}: {problem}; right would be {right}")]
pub struct ConfigError {
    /// The option, by environment name and flag.
    pub option: String,
    /// What is wrong with it.
    pub problem: String,
    /// What would be right.
    pub right: String,
}

impl ConfigError {
    fn new(option: &str, problem: impl Into<String>, right: impl Into<String>) -> Self {
        Self { option: option.to_owned(), problem: problem.into(), right: right.into() }
    }
}

/// The checked options.
#[derive(Clone, Debug)]
pub struct Config {
    /// Which database.
    pub database_url: String,
    /// Where to serve.
    pub listen: SocketAddr,
    /// Scheme and authority that browsers use, without a slash at the end.
    pub public_url: Option<String>,
    /// Protects credentials at rest.
    pub secret_key: Option<SecretString>,
    /// Private networks that may be called.
    pub allow_private: Vec<IpNet>,
    /// Demo mode.
    pub demo: bool,
    /// Where the site's files are.
    pub site_root: PathBuf,
    /// All waits.
    pub waits: Waits,
}

impl Config {
    /// Checks `options` and the waits among the environment's `variables`.
    ///
    /// # Errors
    /// The first option that cannot be used as given.
    pub fn from_options(
        options: &Options,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let demo = read_demo(&options.demo)?;
        Ok(Self {
            database_url: read_database_url(&options.database_url)?,
            listen: read_listen(&options.listen)?,
            public_url: options.public_url.as_deref().map(read_public_url).transpose()?,
            secret_key: options.secret_key.as_deref().map(read_secret_key).transpose()?,
            allow_private: read_networks(options.allow_private_addresses.as_deref().unwrap_or_default())?,
            demo,
            site_root: read_site_root(options.site_root.as_deref())?,
            waits: read_waits(demo, variables, &options.waits)?,
        })
    }

    /// Whether browsers reach us over https, so that cookies must not travel in the clear.
    pub fn is_https(&self) -> bool {
        self.public_url.as_deref().is_some_and(|url| url.starts_with("https://"))
    }

    /// What the engine is opened with. Only commands that begin something make a database.
    pub fn engine_options(&self, make_database: bool) -> engine::Options {
        engine::Options {
            database_url: self.database_url.clone(),
            make_database,
            waits: self.waits,
            demo: self.demo,
            allow_private: self.allow_private.clone(),
            public_url: self.public_url.clone(),
            secret_key: self.secret_key.clone(),
        }
    }
}

fn read_demo(text: &str) -> Result<bool, ConfigError> {
    match text.to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" | "on" => Ok(true),
        "0" | "false" | "no" | "off" | "" => Ok(false),
        _ => Err(ConfigError::new(
            "HOLDFAST_DEMO (--demo)",
            format!("{text:?} is neither yes nor no"),
            "1 or 0",
        )),
    }
}

/// The value itself is never repeated: it may hold a password.
fn read_database_url(text: &str) -> Result<String, ConfigError> {
    let wrong = |problem: &str| {
        ConfigError::new(
            "HOLDFAST_DATABASE_URL (--database-url)",
            problem,
            "sqlite:PATH or postgres://USER:PASSWORD@HOST/NAME",
        )
    };
    if let Some(path) = text.strip_prefix("sqlite:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return if path.is_empty() { Err(wrong("it names no file")) } else { Ok(text.to_owned()) };
    }
    let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
    match rest {
        Some("") => Err(wrong("it names no host")),
        Some(_) => Ok(text.to_owned()),
        None => Err(wrong("it names neither an SQLite file nor a PostgreSQL server")),
    }
}

fn read_listen(text: &str) -> Result<SocketAddr, ConfigError> {
    text.parse().map_err(|_| {
        ConfigError::new(
            "HOLDFAST_LISTEN (--listen)",
            format!("{text:?} is not an IP address with a port"),
            "for example 127.0.0.1:7000 or [::]:7000",
        )
    })
}

fn read_public_url(text: &str) -> Result<String, ConfigError> {
    let wrong = |problem: String| {
        ConfigError::new(
            "HOLDFAST_PUBLIC_URL (--public-url)",
            problem,
            "scheme and host alone, for example https://trips.example.org",
        )
    };
    let uri: http::Uri = text.parse().map_err(|_| wrong(format!("{text:?} is not a URL")))?;
    let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(wrong(format!("{text:?} has no scheme or no host")));
    };
    if scheme != "http" && scheme != "https" {
        return Err(wrong(format!("its scheme is {scheme}, not http or https")));
    }
    if authority.as_str().contains('@') {
        return Err(wrong("it holds a user name".to_owned()));
    }
    if uri.path() != "/" || uri.query().is_some() || text.contains('#') {
        return Err(wrong(format!("{text:?} has more than scheme and host")));
    }
    Ok(format!("{scheme}://{}", authority.as_str().to_ascii_lowercase()))
}

/// The value itself is never repeated.
fn read_secret_key(text: &str) -> Result<SecretString, ConfigError> {
    let chars = text.chars().count();
    if chars < SECRET_KEY_CHARS {
        return Err(ConfigError::new(
            "HOLDFAST_SECRET_KEY (--secret-key)",
            format!("it has {chars} characters"),
            format!("at least {SECRET_KEY_CHARS}, for example the output of `openssl rand -hex 32`"),
        ));
    }
    Ok(SecretString::from(text.to_owned()))
}

fn read_networks(text: &str) -> Result<Vec<IpNet>, ConfigError> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(read_network).collect()
}

fn read_network(text: &str) -> Result<IpNet, ConfigError> {
    let single = || text.parse::<IpAddr>().map(IpNet::from);
    text.parse::<IpNet>().or_else(|_| single()).map_err(|_| {
        ConfigError::new(
            "HOLDFAST_ALLOW_PRIVATE_ADDRESSES (--allow-private-addresses)",
            format!("{text:?} is not a network"),
            "networks in CIDR notation, comma-separated, for example 10.1.0.0/16,fd00::/8",
        )
    })
}

fn read_site_root(given: Option<&str>) -> Result<PathBuf, ConfigError> {
    let Some(given) = given else {
        let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("site")));
        return Ok(beside.filter(|folder| folder.is_dir()).unwrap_or_else(|| PathBuf::from("target/site")));
    };
    let path = Path::new(given);
    if path.is_dir() {
        return Ok(path.to_owned());
    }
    Err(ConfigError::new(
        "HOLDFAST_SITE_ROOT (--site-root)",
        format!("{given:?} is not a folder"),
        "the folder of the built site, for example target/site",
    ))
}

/// Defaults, then the environment, then flags: the later wins.
fn read_waits(
    demo: bool,
    variables: impl IntoIterator<Item = (String, String)>,
    flags: &[String],
) -> Result<Waits, ConfigError> {
    let mut waits = if demo { Waits::demo() } else { Waits::default() };
    for (variable, value) in variables {
        if let Some(name) = variable.strip_prefix(WAIT_PREFIX) {
            set_wait(&mut waits, &variable, name, &value)?;
        }
    }
    for flag in flags {
        let option = format!("--wait {flag}");
        let Some((name, value)) = flag.split_once('=') else {
            return Err(ConfigError::new(
                &option,
                "it has no =",
                "NAME=SECONDS, for example landing_grace=60",
            ));
        };
        set_wait(&mut waits, &option, name, value)?;
    }
    let wrong = |problem| ConfigError::new("the waits", problem, "a longer or shorter one of these");
    waits.check().map_err(wrong)?;
    Ok(waits)
}

fn set_wait(waits: &mut Waits, option: &str, name: &str, value: &str) -> Result<(), ConfigError> {
    let right = "one of the known waits with a number of seconds, for example 2.5";
    let seconds: f64 = value
        .trim()
        .parse()
        .map_err(|_| ConfigError::new(option, format!("{value:?} is not a number of seconds"), right))?;
    waits.set(name, seconds).map_err(|problem| ConfigError::new(option, problem, right))
}

#[cfg(test)]
mod tests;
