//! `holdfast-demo`: serves the demo world, and registers it with a Holdfast.

use anyhow::Result;
use clap::{Parser, Subcommand};
use demo::register::register;
use demo::world::{Options, Running, World};
use std::path::PathBuf;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

/// The demo world: agents, booking systems and their faults.
#[derive(Debug, Parser)]
#[command(name = "holdfast-demo", version)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serves the world until SIGTERM or Ctrl-C.
    Serve {
        /// The folder with its state.
        #[arg(long)]
        data: PathBuf,
        /// The control API's port; agents and booking systems follow. 0: free ports, chosen once.
        #[arg(long, default_value_t = 7100)]
        base_port: u16,
    },
    /// Registers the world's booking systems and agents with a Holdfast.
    Register {
        /// The world.json of a served world.
        #[arg(long)]
        world: PathBuf,
        /// Where the Holdfast is.
        #[arg(long)]
        app: String,
        /// An admin's API token.
        #[arg(long)]
        token: String,
    },
}

#[tokio::main]
async fn main() -> ExitCode {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    let done = match Arguments::parse().command {
        Command::Serve { data, base_port } => serve(Options { data, base_port }).await,
        Command::Register { world, app, token } => register(&world, &app, &token).await,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("holdfast-demo: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: Options) -> Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let running = Running::start(&options).await?;
    announce(&running.world);
    tokio::select! {
        _ = terminate.recv() => {}
        interrupted = tokio::signal::ctrl_c() => interrupted?,
    }
    running.stop().await;
    Ok(())
}

fn announce(world: &World) {
    println!("control page     {}", world.control_url());
    for place in &world.agents {
        println!("agent            {}  {}", place.who.url, place.who.profile.title);
    }
    for place in &world.systems {
        println!("booking system   {}  {}", World::system_url(place), place.who.title);
    }
}
