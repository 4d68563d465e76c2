//! The binary itself: its exit codes, its words, and its end.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on says so")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn folder() -> Folder {
    static FOLDERS: AtomicU64 = AtomicU64::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("holdfast-cli-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&path).unwrap();
    Folder(path)
}

fn holdfast(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_holdfast"));
    let settings = std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("HOLDFAST_"));
    for (name, _) in settings {
        command.env_remove(name);
    }
    command.env("HOLDFAST_DATABASE_URL", format!("sqlite:{}", folder.join("journal.db").display()));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_wrong_option_is_one_line_and_nothing_is_opened() {
    let folder = folder();
    for (name, value) in
        [("HOLDFAST_LISTEN", "here"), ("HOLDFAST_WAIT_COFFEE", "1"), ("HOLDFAST_DATABASE_URL", "x")]
    {
        let output = holdfast(&folder.0, &["serve"]).env(name, value).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(
            said(&output).contains(name) && said(&output).trim().lines().count() == 1,
            "{}",
            said(&output)
        );
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn accounts_and_tokens_are_made_beside_each_other() {
    let folder = folder();
    let add = ["user", "add", "--email", "a@example.org", "--role", "traveller"];
    let mut child = holdfast(&folder.0, &add).stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"correct horse battery staple\n").unwrap();
    assert!(child.wait().unwrap().success());
    let again = [&add[..], &["--password", "correct horse battery staple"]].concat();
    let output = holdfast(&folder.0, &again).output().unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("exists already"));
    let output = holdfast(&folder.0, &["token", "create", "--role", "traveller", "--user", "a@example.org"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output));
    assert_eq!(String::from_utf8(output.stdout).unwrap().split_whitespace().count(), 1);
    let output = holdfast(&folder.0, &["token", "create", "--role", "king", "--user", "a@example.org"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let output = holdfast(&folder.0, &["check"]).output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "no violation in 0 trips and 0 delegations\n");
}

#[test]
fn a_port_in_use_and_a_database_that_cannot_be_written_are_one_line() {
    let folder = folder();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = holdfast(&folder.0, &["serve", "--listen", &address]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(said(&output).contains("another program uses this port"), "{}", said(&output));
    let nowhere = format!("sqlite:{}", folder.0.join("no/such/folder/x.db").display());
    let serve = ["--database-url", &nowhere, "serve", "--listen", "127.0.0.1:0"];
    let output = holdfast(&folder.0, &serve).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        said(&output).lines().filter(|line| line.starts_with("holdfast: ")).count(),
        1,
        "{}",
        said(&output)
    );
}

struct Server {
    child: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn serve(folder: &Path) -> Server {
    let mut command = holdfast(folder, &["serve", "--demo", "--listen", "127.0.0.1:0"]);
    let mut child =
        command.env("RUST_LOG", "info").env("NO_COLOR", "1").stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("serves at")).expect("the line that says where");
    std::thread::spawn(move || lines.for_each(drop));
    let address = line.rsplit("http://").next().unwrap().split_whitespace().next().unwrap().to_owned();
    Server { child, address }
}

/// Sends a request as a program would, and reads until `wanted` has come.
fn request(address: &str, head: &str, body: &str, wanted: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let length = body.len();
    write!(
        stream,
        "{head}\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let (mut text, mut chunk) = (String::new(), [0; 4096]);
    while !text.contains(wanted) {
        let count = stream.read(&mut chunk).unwrap();
        assert!(count > 0, "ended before {wanted:?}: {text}");
        text.push_str(&String::from_utf8_lossy(&chunk[..count]));
    }
    (stream, text)
}

/// A live view of a new trip, with nothing more to come for now.
fn live_view(folder: &Path, address: &str) -> TcpStream {
    let email = "a@example.org";
    let add = [
        "user",
        "add",
        "--email",
        email,
        "--role",
        "traveller",
        "--password",
        "correct horse battery staple",
    ];
    assert!(holdfast(folder, &add).stdout(Stdio::null()).status().unwrap().success());
    let output =
        holdfast(folder, &["token", "create", "--role", "traveller", "--user", email]).output().unwrap();
    let token = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let trip = r#"{"workflow":"travel","steps":["flight"],"inputs":{"origin":"Hamburg","destination":"Bergen",
        "start":"2027-03-01","end":"2027-03-08","travellers":2}}"#;
    let head = format!("POST /api/v1/trips HTTP/1.1\r\nauthorization: Bearer {token}");
    let (_, made) = request(address, &head, trip, "\r\n\r\n");
    let path =
        made.lines().find_map(|line| line.strip_prefix("location: ")).unwrap_or_else(|| panic!("{made}"));
    let head = format!("GET {path}/events HTTP/1.1\r\nauthorization: Bearer {token}");
    request(address, &head, "", "data: ").0
}

#[test]
fn it_ends_in_time_whatever_is_open_and_shuts_out_a_second_one() {
    let folder = folder();
    let mut server = serve(&folder.0);
    let (_idle, _) = request(&server.address, "GET /healthz HTTP/1.1", "", "200 OK");
    let mut half = TcpStream::connect(&server.address).unwrap();
    half.write_all(b"GET /healthz HTTP/1.1\r\nho").unwrap();
    let mut live = live_view(&folder.0, &server.address);

    let output = holdfast(&folder.0, &["serve", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(said(&output).contains("held by another running holdfast"), "{}", said(&output));

    let pid = server.child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    let asked = Instant::now();
    live.read_to_end(&mut Vec::new()).unwrap();
    assert!(asked.elapsed() < Duration::from_secs(2), "the live view ends at once");
    let status = loop {
        if let Some(status) = server.child.try_wait().unwrap() {
            break status;
        }
        assert!(asked.elapsed() < Duration::from_secs(6), "still there");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert!(status.success(), "{status}");
}
