//! A throwaway PostgreSQL cluster for the tests: in a temporary folder, on a free port, without
//! fsync. It is stopped and deleted when dropped.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use nix::unistd::geteuid;

use crate::process::{command, run, say};

const TRIES: u32 = 3;

/// A running cluster.
pub struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
}

impl Cluster {
    /// Makes and starts a cluster with the programs in `programs`.
    pub fn start(programs: PathBuf) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("holdfast-pg-{}", std::process::id()));
        make_folder(&folder)?;
        let mut cluster = Self { programs, folder, port: 0 };
        let data = cluster.data();
        let mut initdb = cluster.program("initdb");
        initdb.arg("-D").arg(&data);
        initdb.args(["-U", "test", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]);
        run(initdb.stdout(Stdio::null())).context("PostgreSQL's initdb failed")?;
        for attempt in 1.. {
            cluster.port = free_port()?;
            match cluster.boot() {
                Ok(()) => break,
                // Another program may have taken the port in between.
                Err(_) if attempt < TRIES => {}
                Err(error) => return Err(error.context(cluster.log())),
            }
        }
        say(format_args!("PostgreSQL runs on port {}", cluster.port));
        Ok(cluster)
    }

    /// Where tests connect to; they make databases of their own there.
    pub fn url(&self) -> String {
        format!("postgres://test@127.0.0.1:{}/postgres", self.port)
    }

    fn boot(&self) -> Result<()> {
        let options = format!(
            "-c listen_addresses=127.0.0.1 -c port={} -c unix_socket_directories={} -c max_connections=300 \
             -c fsync=off -c synchronous_commit=off -c full_page_writes=off",
            self.port,
            self.folder.display(),
        );
        let mut start = self.program("pg_ctl");
        start.arg("-D").arg(self.data()).arg("-l").arg(self.folder.join("log"));
        start.args(["-w", "-t", "60", "-o", &options, "start"]).stdout(Stdio::null());
        run(&mut start)
    }

    fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> String {
        let log = std::fs::read_to_string(self.folder.join("log")).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        format!(
            "PostgreSQL does not start. Its log ends:\n{}",
            lines[lines.len().saturating_sub(20)..].join("\n")
        )
    }

    /// One of PostgreSQL's programs. It refuses to run as root, so root becomes `postgres` for it.
    fn program(&self, name: &str) -> Command {
        let path = self.programs.join(name);
        if geteuid().is_root() {
            let mut command = command("runuser", Path::new("/"));
            command.args(["-u", "postgres", "--"]).arg(path);
            command
        } else {
            command(path, Path::new("/"))
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if self.data().join("postmaster.pid").exists() {
            let mut stop = self.program("pg_ctl");
            stop.arg("-D").arg(self.data()).args(["-m", "immediate", "-w", "stop"]);
            match stop.stdout(Stdio::null()).status() {
                Ok(status) if status.success() => say("PostgreSQL stopped"),
                _ => say(format_args!("PostgreSQL on port {} could not be stopped", self.port)),
            }
        }
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            say(format_args!("{} could not be deleted: {error}", self.folder.display()));
        }
    }
}

/// Makes the cluster's folder, owned by the user that PostgreSQL runs as.
fn make_folder(folder: &Path) -> Result<()> {
    let mut install = command("install", Path::new("/"));
    install.args(["-d", "-m", "700"]);
    if geteuid().is_root() {
        install.args(["-o", "postgres"]);
    }
    run(install.arg(folder)).with_context(|| format!("{} cannot be made", folder.display()))
}

/// A TCP port of the loopback address that nobody listens on.
fn free_port() -> Result<u16> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).context("no free port")?;
    Ok(listener.local_addr()?.port())
}
