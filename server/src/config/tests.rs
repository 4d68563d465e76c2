//! Options as text, and what becomes of them.

use super::*;
use domain::time::Span;

fn options() -> Options {
    Options {
        database_url: "sqlite:holdfast.db".into(),
        listen: "127.0.0.1:7000".into(),
        demo: "0".into(),
        ..Options::default()
    }
}

fn read(options: &Options, variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
    Config::from_options(options, variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())))
}

#[test]
fn the_defaults_are_fine() {
    let config = read(&options(), &[("HOME", "x")]).unwrap();
    assert_eq!(config.listen.port(), 7000);
    assert!(!config.demo && !config.is_https());
    assert_eq!(config.waits, Waits::default());
}

#[test]
fn a_wrong_option_says_which_and_what_would_be_right() {
    let wrong = [
        (Options { listen: "here".into(), ..options() }, "HOLDFAST_LISTEN"),
        (Options { database_url: "mysql://x".into(), ..options() }, "HOLDFAST_DATABASE_URL"),
        (Options { database_url: "sqlite:".into(), ..options() }, "HOLDFAST_DATABASE_URL"),
        (Options { public_url: Some("ftp://x".into()), ..options() }, "HOLDFAST_PUBLIC_URL"),
        (Options { public_url: Some("https://x/y".into()), ..options() }, "HOLDFAST_PUBLIC_URL"),
        (Options { secret_key: Some("short".into()), ..options() }, "HOLDFAST_SECRET_KEY"),
        (
            Options { allow_private_addresses: Some("10.0.0.0/8,x".into()), ..options() },
            "HOLDFAST_ALLOW_PRIVATE",
        ),
        (Options { demo: "maybe".into(), ..options() }, "HOLDFAST_DEMO"),
        (Options { site_root: Some("/no/such/folder".into()), ..options() }, "HOLDFAST_SITE_ROOT"),
        (Options { waits: vec!["poll".into()], ..options() }, "--wait poll"),
    ];
    for (options, name) in wrong {
        let error = read(&options, &[]).unwrap_err().to_string();
        assert!(error.starts_with(name), "{error}");
        assert!(error.contains("right would be"), "{error}");
    }
}

#[test]
fn an_error_never_repeats_a_secret() {
    let bad = Options { secret_key: Some("hunter2".into()), ..options() };
    assert!(!read(&bad, &[]).unwrap_err().to_string().contains("hunter2"));
    let bad = Options { database_url: "pg://u:hunter2@h/n".into(), ..options() };
    assert!(!read(&bad, &[]).unwrap_err().to_string().contains("hunter2"));
}

#[test]
fn waits_come_from_the_environment_and_flags_win() {
    let given = Options { waits: vec!["poll=3".into()], ..options() };
    let config = read(&given, &[("HOLDFAST_WAIT_POLL", "2"), ("HOLDFAST_WAIT_SETTLE", "0.5")]).unwrap();
    assert_eq!(config.waits.poll, Span::seconds(3));
    assert_eq!(config.waits.settle, Span(500));
}

#[test]
fn unknown_and_impossible_waits_are_errors() {
    for (name, value) in [
        ("HOLDFAST_WAIT_COFFEE", "1"),
        ("HOLDFAST_WAIT_POLL", "soon"),
        ("HOLDFAST_WAIT_POLL", "-1"),
        ("HOLDFAST_WAIT_HEARTBEAT", "1"),
    ] {
        assert!(read(&options(), &[(name, value)]).is_err(), "{name}={value}");
    }
}

#[test]
fn demo_has_short_waits_and_https_is_noticed() {
    let given =
        Options { demo: "1".into(), public_url: Some("https://Trips.example.org/".into()), ..options() };
    let config = read(&given, &[]).unwrap();
    assert_eq!(config.waits, Waits::demo());
    assert!(config.is_https());
    assert_eq!(config.public_url.as_deref(), Some("https://trips.example.org"));
}
