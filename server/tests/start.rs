//! Starts that cannot be: each says why in one clear line, by its exit code, and touches nothing.

use serde_json::json;
use testkit::process::{App, PASSWORD, Service, TRAVELLER};
use testkit::{Database, Kind};

const PROGRAM: &str = env!("CARGO_BIN_EXE_holdfast");

/// Runs `serve` where it must refuse to: its exit code and its one line.
async fn refused(app: &App, arguments: &[&str]) -> (Option<i32>, String) {
    let output = app.output(&[arguments, &["serve"]].concat()).await;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("holdfast: ")).collect();
    assert_eq!(lines.len(), 1, "one clear line: {said}");
    assert!(!said.contains("panicked"), "{said}");
    (output.status.code(), lines[0].to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_cannot_be_says_why_in_one_line() {
    let mut service = Service::new(PROGRAM, Kind::Sqlite).await;
    service.app.start(&[]).await;
    service.register(true).await;
    let trip = service.new_trip(&["flight"]).await;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("file"), "text").expect("a file");
    let place = |path: &str| format!("sqlite:{}", folder.path().join(path).display());
    let address = service.app.address();
    let port = address.trim_start_matches("http://");
    let cases = [
        ("a port in use", vec!["--listen", port], 1, "another program uses this port"),
        ("held by another process", vec![], 1, "held by another running holdfast"),
        ("a folder", vec!["--database-url", &place("")], 1, "cannot open the database"),
        ("below a file", vec!["--database-url", &place("file/x.db")], 1, "cannot open the database"),
        ("no database at all", vec!["--database-url", &place("file")], 1, "file is not a database"),
        ("nobody there", vec!["--database-url", "postgres://x@127.0.0.1:1/x"], 1, "Connection refused"),
        ("no such scheme", vec!["--database-url", "mysql://x/y"], 2, "HOLDFAST_DATABASE_URL"),
        ("no address", vec!["--listen", "here"], 2, "HOLDFAST_LISTEN"),
        (
            "no network",
            vec!["--allow-private-addresses", "10.0.0.0/99"],
            2,
            "HOLDFAST_ALLOW_PRIVATE_ADDRESSES",
        ),
        ("a short key", vec!["--secret-key", "short"], 2, "HOLDFAST_SECRET_KEY"),
        ("no such wait", vec!["--wait", "coffee=1"], 2, "coffee"),
        ("waits that do not go together", vec!["--wait", "heartbeat=1"], 2, "heartbeat"),
    ]
    .map(|(what, arguments, code, says)| {
        (what, arguments.into_iter().map(str::to_owned).collect::<Vec<_>>(), code, says)
    });
    for (what, arguments, code, says) in cases {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (got, line) = refused(&service.app, &arguments).await;
        assert_eq!(got, Some(code), "{what}: {line}");
        assert!(line.contains(says), "{what}: {line}");
    }
    // The one that runs has not been disturbed.
    let view = service.until(&trip, "the end", |view| view["closed_at"].is_i64()).await;
    assert_eq!(view["state"], "done");
    service.app.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_of_a_newer_version_is_left_alone() {
    for (kind, bytes) in [(Kind::Sqlite, "X'00'"), (Kind::Postgres, "'\\x00'")] {
        let database = Database::new(kind);
        let mut app = App::new(PROGRAM, &database.url);
        app.add_user(TRAVELLER, "traveller", PASSWORD).await;
        database.sql(&format!(
            "INSERT INTO _sqlx_migrations (version, description, installed_on, success, checksum, execution_time) \
             VALUES (9999, 'from the future', CURRENT_TIMESTAMP, TRUE, {bytes}, 0)"
        ));
        let (code, line) = refused(&app, &[]).await;
        assert_eq!(code, Some(1), "{line}");
        assert!(line.contains("newer version"), "{line}");
        assert!(!line.contains("error returned"), "no raw error: {line}");
        let output = app.output(&["check"]).await;
        assert_eq!(output.status.code(), Some(1));
        database.sql("DELETE FROM _sqlx_migrations WHERE version = 9999");
        app.start(&[]).await;
        let trips = app.api(TRAVELLER, "traveller").await.read("/trips").await;
        assert_eq!(trips, json!({ "trips": [] }), "what was recorded is there");
        app.stop().await;
    }
}
