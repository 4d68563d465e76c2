//! The app under `run`: its settings, its secrets, its demo accounts, its start.

use std::fs::{self, OpenOptions};
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::process::{self, command, say};
use crate::run::service::Service;
use crate::run::{START_LIMIT, file, health};
use crate::workspace::{Mode, Workspace};

/// Where a browser finds the app.
pub const ADDRESS: &str = "http://127.0.0.1:7000";
const LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7000);
const DATABASE: &str = "holdfast.db";
const TOKEN: &str = "admin.token";
/// `holdfast user add` leaves with this when the account is there already.
const EXISTS_ALREADY: i32 = 3;

/// A demo sign-in.
pub struct Account {
    /// What is typed at `/login`.
    pub email: &'static str,
    /// Known to everybody: it is a demo.
    pub password: &'static str,
    /// traveller, support or admin.
    pub role: &'static str,
}

const fn account(email: &'static str, password: &'static str, role: &'static str) -> Account {
    Account { email, password, role }
}

/// The demo's sign-ins.
pub const ACCOUNTS: [Account; 4] = [
    account("traveller@example.org", "traveller-demo", "traveller"),
    account("second-traveller@example.org", "traveller-demo", "traveller"),
    account("support@example.org", "support-demo", "support"),
    account("admin@example.org", "admin-demo", "admin"),
];

/// What every start of the app's binary gets.
pub struct App {
    settings: Settings,
    /// An admin's API token.
    pub token: String,
}

#[derive(Clone)]
struct Settings {
    binary: PathBuf,
    root: PathBuf,
    site: (&'static str, PathBuf),
    secret_key: String,
}

impl Settings {
    fn command(&self) -> Command {
        let mut command = command(&self.binary, &self.root);
        command
            .env("HOLDFAST_DATABASE_URL", format!("sqlite:data/{DATABASE}"))
            .env("HOLDFAST_LISTEN", LISTEN.to_string())
            .env("HOLDFAST_DEMO", "1")
            .env("HOLDFAST_SECRET_KEY", &self.secret_key)
            .env(self.site.0, &self.site.1);
        command
    }
}

impl App {
    /// Makes the secrets and the accounts that are not there yet.
    pub fn prepare(workspace: &Workspace, mode: Mode, data: &Path) -> Result<Self> {
        let token_file = file(data, TOKEN);
        if !file(data, DATABASE).exists() && token_file.exists() {
            fs::remove_file(&token_file).context("the old admin token cannot be deleted")?;
        }
        let settings = Settings {
            binary: workspace.app(mode),
            root: workspace.root.clone(),
            site: workspace.site_env(mode),
            secret_key: keep(&file(data, "secret.key"), random_key)?,
        };
        say("making the demo's accounts");
        for account in &ACCOUNTS {
            add(&settings, account)?;
        }
        let token = keep(&token_file, || {
            let mut create = settings.command();
            create.args(["token", "create", "--role", "admin", "--user", "admin@example.org"]);
            Ok(process::output(&mut create)?.trim().to_owned())
        })?;
        Ok(Self { settings, token })
    }

    /// Starts the app and waits until it answers.
    pub fn start(&self) -> Result<Service> {
        let port_taken = health::is_taken(LISTEN);
        let settings = self.settings.clone();
        let mut app = Service::start("the app", move || {
            let mut serve = settings.command();
            serve.arg("serve");
            serve
        })?;
        wait_until_up(&mut app, port_taken)?;
        Ok(app)
    }

    /// Starts the app again after it has ended.
    pub fn start_again(&self, app: &mut Service) -> Result<()> {
        let port_taken = health::is_taken(LISTEN);
        app.start_again()?;
        wait_until_up(app, port_taken)
    }
}

/// Waits until the app answers; an error if it ends instead. What it had to say is on the screen then.
/// Where somebody else has its port, an answer is not the app's: only its end is waited for.
fn wait_until_up(app: &mut Service, port_taken: bool) -> Result<()> {
    let up = health::wait_for(START_LIMIT, || {
        Ok(app.ended()?.is_some() || (!port_taken && health::is_healthy(LISTEN)))
    })?;
    if let Some(status) = app.ended()? {
        bail!("the app did not start: {} (see above)", process::ending(status));
    }
    if !up {
        bail!("the app does not answer at {ADDRESS}/healthz after {} s", START_LIMIT.as_secs());
    }
    Ok(())
}

fn add(settings: &Settings, account: &Account) -> Result<()> {
    let mut add = settings.command();
    add.args([
        "user",
        "add",
        "--email",
        account.email,
        "--role",
        account.role,
        "--password",
        account.password,
    ]);
    let output = add.output().context("holdfast cannot be started")?;
    if output.status.success() || output.status.code() == Some(EXISTS_ALREADY) {
        return Ok(());
    }
    bail!(
        "the account {} could not be made: {}\n{}",
        account.email,
        process::ending(output.status),
        String::from_utf8_lossy(&output.stderr).trim_end()
    )
}

/// The content of a secret file, made once and readable by its owner alone.
fn keep(path: &Path, make: impl FnOnce() -> Result<String>) -> Result<String> {
    match fs::read_to_string(path) {
        Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(error).with_context(|| format!("{} cannot be read", path.display()));
        }
        _ => {}
    }
    let secret = make()?;
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("{} cannot be written", path.display()))?;
    writeln!(file, "{secret}")?;
    Ok(secret)
}

fn random_key() -> Result<String> {
    let mut key = [0; 32];
    fs::File::open("/dev/urandom")?.read_exact(&mut key).context("no randomness")?;
    Ok(hex::encode(key))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_secret_is_made_once_and_for_its_owner_alone() {
        let folder = std::env::temp_dir().join(format!("holdfast-xtask-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("secret.key");
        let first = keep(&path, random_key).expect("made");
        assert_eq!(first.len(), 64);
        assert_eq!(keep(&path, || panic!("made twice")).expect("kept"), first);
        let mode = fs::metadata(&path).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        fs::remove_dir_all(&folder).expect("deleted");
    }
}
