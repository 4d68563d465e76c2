//! Starts the binary in a folder of its own, and speaks to it over HTTP.

use anyhow::{Context, Result, bail, ensure};
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// How long any condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(20);

/// A demo world in a process of its own.
pub struct Demo {
    dir: PathBuf,
    child: Child,
    pub http: Client,
    pub world: Value,
}

impl Demo {
    /// Starts a fresh world.
    pub async fn start() -> Result<Self> {
        demo::choose_tls();
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        let name = format!("demo-{}-{number}", std::process::id());
        let dir = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&dir)?;
        let http = Client::builder().no_proxy().timeout(PATIENCE).build()?;
        let mut demo = Self { child: serve(&dir)?, dir, http, world: Value::Null };
        demo.wait_until_up().await?;
        Ok(demo)
    }

    /// Kills it with SIGKILL and starts it again on what it left behind.
    pub async fn kill_and_start(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        std::fs::remove_file(self.dir.join("world.json"))?;
        self.child = serve(&self.dir)?;
        self.wait_until_up().await
    }

    /// Asks it to end, and waits until it has.
    pub fn terminate(&mut self) -> Result<bool> {
        let pid = self.child.id().to_string();
        ensure!(Command::new("kill").args(["-TERM", &pid]).status()?.success());
        Ok(self.child.wait()?.success())
    }

    async fn wait_until_up(&mut self) -> Result<()> {
        let file = self.dir.join("world.json");
        let start = Instant::now();
        while !file.exists() {
            if let Some(status) = self.child.try_wait()? {
                bail!("the demo ended with {status}");
            }
            ensure!(start.elapsed() < PATIENCE, "the demo does not come up");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.world = serde_json::from_str(&std::fs::read_to_string(file)?)?;
        Ok(())
    }

    /// Runs the `register` command against an app.
    pub async fn register(&self, app: &str, token: &str) -> Result<Output> {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_holdfast-demo"));
        command.arg("register").arg("--world").arg(self.dir.join("world.json"));
        Ok(command.args(["--app", app, "--token", token]).output().await?)
    }

    pub fn agent_url(&self, name: &str) -> Result<String> {
        entry(&self.world["agents"], name)
    }

    pub fn system_url(&self, name: &str) -> Result<String> {
        entry(&self.world["booking_systems"], name)
    }

    /// A call of the control API that must succeed.
    pub async fn control(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value> {
        let url = format!("{}{path}", self.world["control"].as_str().context("no control")?);
        let mut request = self.http.request(method, &url);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await?;
        let status = answer.status();
        let text = answer.text().await?;
        ensure!(status.is_success(), "{path}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }

    pub async fn look(&self, path: &str) -> Result<Value> {
        self.control(Method::GET, path, None).await
    }

    pub async fn choose(&self, agent: &str, body: Value) -> Result<Value> {
        self.control(Method::PUT, &format!("/agents/{agent}/behaviour"), Some(body)).await
    }

    /// Faults of the wire, in place of those that were chosen.
    pub async fn play(&self, agent: &str, faults: Value) -> Result<Value> {
        let body = json!({ "faults": faults });
        self.control(Method::PUT, &format!("/agents/{agent}/faults"), Some(body)).await
    }

    /// Sends a first message and waits until its task is in a state.
    pub async fn ends(&self, agent: &str, message_id: &str, state: &str) -> Result<(String, Value)> {
        let task = self.send(agent, message_id, message_id).await?;
        let seen = self.reaches(agent, &task, state).await?;
        Ok((task, seen))
    }

    /// Waits until so many bookings are under a reference.
    pub async fn books(&self, system: &str, reference: &str, count: usize) -> Result<Vec<Value>> {
        let start = Instant::now();
        loop {
            let booked = self.booked(system, reference).await?;
            if booked.len() == count {
                return Ok(booked);
            }
            ensure!(start.elapsed() < PATIENCE, "{reference} has only {booked:?}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A JSON-RPC call, as it comes back.
    pub async fn post(&self, agent: &str, method: &str, params: Value) -> Result<Response> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.http.post(self.agent_url(agent)?).header("A2A-Version", "1.0");
        Ok(request.json(&body).send().await?)
    }

    /// A JSON-RPC call: result or error.
    pub async fn rpc(&self, agent: &str, method: &str, params: Value) -> Result<Value> {
        let answer: Value = self.post(agent, method, params).await?.json().await?;
        Ok(if answer["error"].is_object() { answer } else { answer["result"].clone() })
    }

    /// Sends a first message; gives the task's id.
    pub async fn send(&self, agent: &str, message_id: &str, context: &str) -> Result<String> {
        let answer = self.rpc(agent, "SendMessage", request(message_id, context)).await?;
        Ok(answer["task"]["id"].as_str().with_context(|| format!("no task in {answer}"))?.to_owned())
    }

    pub async fn reply(&self, agent: &str, message_id: &str, task: &str, text: &str) -> Result<Value> {
        let message = json!({ "messageId": message_id, "taskId": task, "role": "ROLE_USER",
            "parts": [{ "text": text }] });
        let params = json!({ "message": message, "configuration": { "returnImmediately": true } });
        self.rpc(agent, "SendMessage", params).await
    }

    pub async fn task(&self, agent: &str, task: &str) -> Result<Value> {
        self.rpc(agent, "GetTask", json!({ "id": task, "historyLength": 50 })).await
    }

    /// Waits until a task is in a state.
    pub async fn reaches(&self, agent: &str, task: &str, state: &str) -> Result<Value> {
        let start = Instant::now();
        loop {
            let seen = self.task(agent, task).await?;
            if seen["status"]["state"] == state {
                return Ok(seen);
            }
            ensure!(start.elapsed() < PATIENCE, "{task} is not {state} but {}", seen["status"]);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until the control API shows something.
    pub async fn shows(&self, path: &str, wanted: impl Fn(&Value) -> bool) -> Result<Value> {
        let start = Instant::now();
        loop {
            let seen = self.look(path).await?;
            if wanted(&seen) {
                return Ok(seen);
            }
            ensure!(start.elapsed() < PATIENCE, "{path} only shows {seen}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// A booking system's bookings under a reference.
    pub async fn booked(&self, system: &str, reference: &str) -> Result<Vec<Value>> {
        let url = format!("{}/bookings?reference={reference}", self.system_url(system)?);
        let body: Value = self.http.get(url).send().await?.json().await?;
        Ok(body["bookings"].as_array().with_context(|| format!("no list in {body}"))?.clone())
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("the demo was not killed: {error}");
        }
        if let Err(error) = std::fs::remove_dir_all(&self.dir) {
            eprintln!("{} was not removed: {error}", self.dir.display());
        }
    }
}

fn serve(dir: &PathBuf) -> Result<Child> {
    Command::new(env!("CARGO_BIN_EXE_holdfast-demo"))
        .args(["serve", "--base-port", "0", "--data"])
        .arg(dir)
        .stdout(Stdio::null())
        .spawn()
        .context("cannot start the demo")
}

fn entry(list: &Value, name: &str) -> Result<String> {
    let all = list.as_array().context("no list")?;
    let found = all.iter().find(|entry| entry["name"] == name).context("no such name")?;
    Ok(found["url"].as_str().context("no url")?.to_owned())
}

/// A first message: its reference is made from its id.
pub fn request(message_id: &str, context: &str) -> Value {
    json!({
        "message": {
            "messageId": message_id, "contextId": context, "role": "ROLE_USER",
            "parts": [
                { "text": "Please book this." },
                { "data": { "inputs": { "origin": "Lisbon", "destination": "Berlin",
                    "start": "2027-03-01", "end": "2027-03-05", "travellers": 2, "notes": "" } } },
            ],
            "metadata": { "reference": format!("ref-{message_id}"), "delegation": "d" },
        },
        "configuration": { "returnImmediately": true, "historyLength": 50 },
    })
}
