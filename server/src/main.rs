//! The binary `holdfast`: options, then one of its commands. The way in for a reader is
//! [`router`], which names every address, and [`serve`], which says what starts and ends when.

mod api;
mod auth;
mod cli;
mod config;
mod error_page;
mod forms;
mod health;
mod live;
mod operate;
mod pages;
mod router;
mod security;
mod serve;
mod shutdown;
mod state;
mod static_files;
mod telemetry;
#[cfg(test)]
mod tests;

use clap::Parser;
use cli::{Cli, Command, TokenCommand, UserCommand};
use config::Config;
use std::fmt::Display;
use std::process::ExitCode;
use std::time::Duration;

/// How long work that cannot be cancelled may hold up the process's end.
const LAST_WORK: Duration = Duration::from_millis(200);

fn main() -> ExitCode {
    let cli = Cli::parse();
    let config = match Config::from_options(&cli.options, variables()) {
        Ok(config) => config,
        Err(error) => return refuse(&error, ExitCode::from(operate::WRONG_OPTION)),
    };
    telemetry::start();
    if rustls::crypto::ring::default_provider().install_default().is_err() {
        tracing::debug!("a TLS provider was installed before");
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return refuse(&error, ExitCode::FAILURE),
    };
    let code = runtime.block_on(run(&cli.command, &config));
    runtime.shutdown_timeout(LAST_WORK);
    code
}

async fn run(command: &Command, config: &Config) -> ExitCode {
    let done = match command {
        Command::Serve => {
            return match serve::serve(config).await {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => refuse(&error, ExitCode::FAILURE),
            };
        }
        Command::Check => operate::check(config).await,
        Command::User(UserCommand::Add(new)) => operate::add_user(config, new).await,
        Command::Token(TokenCommand::Create(new)) => operate::create_token(config, new).await,
    };
    done.unwrap_or_else(|error| refuse(&error, error.exit_code()))
}

/// The environment; what is not text cannot be an option of ours.
fn variables() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// One clear line.
fn refuse(error: &dyn Display, code: ExitCode) -> ExitCode {
    eprintln!("holdfast: {error}");
    code
}
