//! The real binary as a child process: started, killed with SIGKILL, started again, and spoken to
//! over its API. The outside lives in the test's own process, so it outlives every kill.

use crate::database::{Database, Kind};
use crate::outside::Outside;
use crate::wait::until;
use serde_json::{Value, json};
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::process::{Child, Command};

/// How long an orderly end may take.
const END: Duration = Duration::from_secs(5);
const SIGKILL: i32 = 9;
const SIGABRT: i32 = 6;
/// How much of a log is shown where a test fails.
const SHOWN: usize = 20_000;
/// What every life is started with, unless told otherwise: demo mode, and waits shorter yet.
const SETTINGS: [(&str, &str); 8] = [
    ("HOLDFAST_DEMO", "1"),
    ("HOLDFAST_LISTEN", "127.0.0.1:0"),
    ("HOLDFAST_WAIT_POLL", "0.3"),
    ("HOLDFAST_WAIT_RETRY", "0.2"),
    ("HOLDFAST_WAIT_RECONCILE", "2"),
    ("HOLDFAST_WAIT_UNKNOWN_VERDICT", "6"),
    ("RUST_LOG", "info,sqlx=warn"),
    ("NO_COLOR", "1"),
];

/// One place where `holdfast` runs: a database, a folder for its logs, at most one process.
pub struct App {
    program: PathBuf,
    database_url: String,
    folder: tempfile::TempDir,
    settings: Vec<(String, String)>,
    address: Arc<Mutex<String>>,
    child: Option<Child>,
    lives: u32,
}

impl App {
    /// A place to run `program` in. Nothing is started.
    ///
    /// # Panics
    /// Where there is no temporary folder.
    pub fn new(program: &str, database_url: &str) -> Self {
        demo::choose_tls();
        let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self {
            program: program.into(),
            database_url: database_url.to_owned(),
            folder: tempfile::tempdir().expect("a temporary folder"),
            settings,
            address: Arc::default(),
            child: None,
            lives: 0,
        }
    }

    /// A setting of the environment, from the next life on.
    pub fn set(&mut self, name: &str, value: &str) {
        self.settings.retain(|(known, _)| known != name);
        self.settings.push((name.to_owned(), value.to_owned()));
    }

    /// A command of the binary in this place, with nothing of the test's own settings.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("HOLDFAST_") {
                command.env_remove(name);
            }
        }
        command.envs(self.settings.iter().map(|(name, value)| (name, value)));
        command.env("HOLDFAST_DATABASE_URL", &self.database_url);
        command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Runs a short command to its end.
    ///
    /// # Panics
    /// Where it does not start.
    pub async fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().await.expect("the binary starts")
    }

    /// Starts `serve` with `extra` settings for this life alone, and waits until it answers.
    ///
    /// # Panics
    /// Where it ends before that, or runs already.
    pub async fn start(&mut self, extra: &[(&str, &str)]) {
        assert!(self.child.is_none(), "one process at a time");
        self.lives += 1;
        let file = self.log_file();
        let log = std::fs::File::create(&file).expect("a log file");
        let mut command = self.command(&["serve"]);
        command.envs(extra.iter().copied());
        command.stdout(log.try_clone().expect("a second handle")).stderr(log);
        self.child = Some(command.spawn().expect("the binary starts"));
        let http = reqwest::Client::new();
        let child = Mutex::new(self.child.as_mut().expect("just started"));
        let address = until("the server's answer", || async {
            let ended = child.lock().expect("not poisoned").try_wait().expect("a child");
            let log = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(ended.is_none(), "it ended at once, {ended:?}:\n{log}");
            let address = address_in(&log).ok_or_else(|| log.clone())?;
            let answer = http.get(format!("{address}/healthz")).send().await;
            let fine = answer.is_ok_and(|answer| answer.status().is_success());
            if fine { Ok(address) } else { Err(log) }
        })
        .await;
        *self.address.lock().expect("not poisoned") = address;
    }

    /// Kills it with SIGKILL, and makes sure that this is what it died of.
    ///
    /// # Panics
    /// Where it was dead already, or did not run.
    pub async fn kill(&mut self) {
        let mut child = self.child.take().expect("a running process");
        child.start_kill().expect("a signal can be sent");
        let status = child.wait().await.expect("its end");
        assert_eq!(status.signal(), Some(SIGKILL), "it should have died of SIGKILL: {status}");
    }

    /// Waits until it has aborted at the boundary that `HOLDFAST_CRASH_AT` names.
    ///
    /// # Panics
    /// Where it ends otherwise, or not at all.
    pub async fn aborted(&mut self) {
        let status = self.ended(crate::wait::LIMIT, "its abort").await;
        assert_eq!(status.signal(), Some(SIGABRT), "it should have aborted: {status}");
    }

    /// Asks it to end with SIGTERM, and makes sure that it does so in order and in time.
    ///
    /// # Panics
    /// Where it does not.
    pub async fn stop(&mut self) {
        let pid = self.child.as_ref().and_then(Child::id).expect("a running process").to_string();
        let sent = Command::new("kill").args(["-TERM", &pid]).status().await.expect("kill starts");
        assert!(sent.success(), "the signal was not sent");
        let asked = Instant::now();
        let status = self.ended(END, "its end after SIGTERM").await;
        assert!(status.success(), "after SIGTERM: {status}");
        assert!(asked.elapsed() <= END, "it took {:?} to end", asked.elapsed());
    }

    async fn ended(&mut self, limit: Duration, what: &str) -> ExitStatus {
        let child = self.child.as_mut().expect("a running process");
        let ended = tokio::time::timeout(limit, child.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("waited {limit:?} for {what}"));
        self.child = None;
        ended.expect("an exit status")
    }

    /// Where it serves in this life.
    ///
    /// # Panics
    /// Never in a test that did not panic before.
    pub fn address(&self) -> String {
        self.address.lock().expect("not poisoned").clone()
    }

    /// What it has said in this life.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join(format!("life-{}.log", self.lives))
    }

    /// Makes an account by `user add`.
    ///
    /// # Panics
    /// Where it is refused.
    pub async fn add_user(&self, email: &str, role: &str, password: &str) {
        let add = ["user", "add", "--email", email, "--role", role, "--password", password];
        let output = self.output(&add).await;
        assert!(output.status.success(), "user add: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// The API for the holder of a token that `token create` makes. Follows the app to the port of
    /// its next life.
    ///
    /// # Panics
    /// Where the token is refused.
    pub async fn api(&self, email: &str, role: &str) -> Api {
        let output = self.output(&["token", "create", "--role", role, "--user", email]).await;
        assert!(output.status.success(), "token create: {}", String::from_utf8_lossy(&output.stderr));
        let token = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Api { address: self.address.clone(), token, http: reqwest::Client::new() }
    }

    /// The same token's API in another process.
    pub fn api_like(&self, other: &Api) -> Api {
        Api { address: self.address.clone(), token: other.token.clone(), http: other.http.clone() }
    }
}

impl Drop for App {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for life in 1..=self.lives {
                let file = self.folder.path().join(format!("life-{life}.log"));
                let log = std::fs::read_to_string(file).unwrap_or_default();
                let from = log.char_indices().rev().nth(SHOWN).map_or(0, |(at, _)| at);
                eprintln!("=== the app's log, life {life} ===\n{}", &log[from..]);
            }
        }
    }
}

/// The address in the line that says where it serves.
pub(crate) fn address_in(log: &str) -> Option<String> {
    let (_, rest) = log.split_once("Holdfast serves at ")?;
    // A line that is not finished yet may hold half an address.
    let (line, _) = rest.split_once('\n')?;
    line.split_whitespace().next().map(str::to_owned)
}

/// The JSON API, with a token.
#[derive(Clone)]
pub struct Api {
    address: Arc<Mutex<String>>,
    token: String,
    http: reqwest::Client,
}

impl Api {
    /// A request with the token, to be filled and sent.
    ///
    /// # Panics
    /// Never in a test that did not panic before.
    pub fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        let address = self.address.lock().expect("not poisoned").clone();
        self.http.request(method, format!("{address}/api/v1{path}")).bearer_auth(&self.token)
    }

    /// Status and body of an answer.
    ///
    /// # Panics
    /// Where there is none.
    pub async fn send(request: reqwest::RequestBuilder) -> (u16, Value) {
        let answer = request.send().await.expect("an answer of the API");
        let status = answer.status().as_u16();
        (status, answer.json().await.expect("JSON of the API"))
    }

    /// GET, with whatever comes.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        Self::send(self.request(reqwest::Method::GET, path)).await
    }

    /// POST, with whatever comes.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        Self::send(self.request(reqwest::Method::POST, path).json(body)).await
    }

    /// GET that must succeed.
    ///
    /// # Panics
    /// Where it does not.
    pub async fn read(&self, path: &str) -> Value {
        let (status, body) = self.get(path).await;
        assert_eq!(status, 200, "GET {path}: {body:#}");
        body
    }

    /// POST that must succeed.
    ///
    /// # Panics
    /// Where it does not.
    pub async fn write(&self, path: &str, body: &Value) -> Value {
        let (status, answer) = self.post(path, body).await;
        assert!((200..300).contains(&status), "POST {path}: {status}: {answer:#}");
        answer
    }
}

/// A whole service: a database, the outside, the app, a traveller and an admin of it.
pub struct Service {
    /// The app.
    pub app: App,
    /// Whose trips these are.
    pub traveller: Api,
    /// Who keeps the registry and sees the cases.
    pub admin: Api,
    /// The journal.
    pub database: Database,
    /// Agents and booking systems.
    pub outside: Outside,
}

/// The traveller's e-mail.
pub const TRAVELLER: &str = "traveller@example.org";
/// The traveller's password.
pub const PASSWORD: &str = "correct horse battery staple";

impl Service {
    /// Makes all of it; the app is not started yet.
    ///
    /// # Panics
    /// Where something cannot be made.
    pub async fn new(program: &str, kind: Kind) -> Self {
        let database = Database::new(kind);
        let outside = Outside::start().await.expect("the outside");
        let app = App::new(program, &database.url);
        app.add_user(TRAVELLER, "traveller", PASSWORD).await;
        app.add_user("admin@example.org", "admin", PASSWORD).await;
        let traveller = app.api(TRAVELLER, "traveller").await;
        let admin = app.api("admin@example.org", "admin").await;
        Self { app, traveller, admin, database, outside }
    }

    /// Registers the outside over the API, with short waits, vouched for or not.
    pub async fn register(&self, vouch: bool) {
        for mut body in self.outside.booking_systems() {
            body["settle_seconds"] = json!(1);
            self.admin.write("/booking-systems", &body).await;
        }
        for mut body in self.outside.agents() {
            body["landing_grace_seconds"] = json!(1);
            if !vouch {
                body["vouched"] = json!({});
            }
            self.admin.write("/agents", &body).await;
        }
    }

    /// The traveller asks for a trip with these steps; its id.
    ///
    /// # Panics
    /// Where it is refused.
    pub async fn new_trip(&self, steps: &[&str]) -> String {
        let trip = self.traveller.write("/trips", &new_trip(steps)).await;
        trip["id"].as_str().expect("an id").to_owned()
    }

    /// Waits until the trip looks like this, as its traveller sees it.
    pub async fn until(&self, trip: &str, what: &str, looks_so: impl Fn(&Value) -> bool) -> Value {
        until_trip(&self.traveller, trip, what, looks_so).await
    }

    /// Waits for the open question about a step.
    pub async fn question(&self, trip: &str, step: &str) -> Value {
        until(&format!("a question about {step}"), || async {
            let all = self.traveller.read("/questions").await;
            let open = list(&all["questions"]).find(|q| q["trip"] == trip && q["step"] == step).cloned();
            open.ok_or(all)
        })
        .await
    }

    /// Answers the open question about a step with one of its choices.
    pub async fn answer(&self, trip: &str, step: &str, choice: &str) -> Value {
        let question = self.question(trip, step).await;
        let path = format!("/questions/{}/answer", text(&question["id"]));
        self.traveller.write(&path, &json!({ "choice": choice })).await;
        question
    }

    /// Everything that an agent was asked, oldest first.
    ///
    /// # Panics
    /// Where the outside cannot be read.
    pub async fn log(&self, agent: &str) -> Vec<Value> {
        let mut log = Vec::new();
        for method in
            ["SendMessage", "SendStreamingMessage", "GetTask", "ListTasks", "CancelTask", "SubscribeToTask"]
        {
            log.extend(self.outside.requests(agent, method).await.expect("a request log"));
        }
        log.sort_by_key(|request| request["id"].as_i64());
        log
    }

    /// The messages that an agent was sent, oldest first.
    pub async fn sends(&self, agent: &str) -> Vec<Value> {
        let sent = |request: &Value| text(&request["method"]).starts_with("Send");
        self.log(agent).await.into_iter().filter(sent).collect()
    }

    /// `holdfast check` finds nothing, and says so by its exit code.
    ///
    /// # Panics
    /// Where it finds something.
    pub async fn assert_sound(&self) {
        let output = self.app.output(&["check"]).await;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "holdfast check: {said}");
        assert!(said.starts_with("no violation in "), "{said}");
    }
}

/// Waits until a trip looks like this to somebody.
pub async fn until_trip(who: &Api, trip: &str, what: &str, looks_so: impl Fn(&Value) -> bool) -> Value {
    until(what, || async {
        let view = who.read(&format!("/trips/{trip}")).await;
        if looks_so(&view) { Ok(view) } else { Err(view) }
    })
    .await
}

/// A sound body of `POST /trips`.
pub fn new_trip(steps: &[&str]) -> Value {
    json!({ "workflow": "travel", "steps": steps, "inputs": crate::world::inputs() })
}

/// The items of a JSON list; none where it is no list.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A JSON text; empty where it is none.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A step of a trip's view.
///
/// # Panics
/// Where there is none of this name.
pub fn step<'a>(view: &'a Value, name: &str) -> &'a Value {
    list(&view["steps"]).find(|step| step["name"] == name).expect("the step")
}

/// The newest attempt at a step; null where there is none yet.
pub fn attempt<'a>(view: &'a Value, name: &str) -> &'a Value {
    step(view, name)["delegations"].as_array().and_then(|all| all.last()).unwrap_or(&Value::Null)
}
