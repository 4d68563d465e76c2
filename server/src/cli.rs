//! The command line: what may be asked for, as text. What the text means is checked in
//! [`crate::config`], so that every wrong option is reported in the same words.

use clap::{Args, Parser, Subcommand};

/// Hands the steps of a trip to other people's agents and never loses track of one.
#[derive(Debug, Parser)]
#[command(name = "holdfast", version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Where and how.
    #[command(flatten)]
    pub options: Options,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve the pages and the API, and drive the trips.
    Serve,
    /// Read the database and print every violation of what must always be true.
    Check,
    /// People who may sign in.
    #[command(subcommand)]
    User(UserCommand),
    /// Bearer tokens for programs.
    #[command(subcommand)]
    Token(TokenCommand),
}

/// What can be done with accounts.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Make an account.
    Add(NewUser),
}

/// A new account.
#[derive(Args)]
pub struct NewUser {
    /// Its e-mail.
    #[arg(long, value_name = "EMAIL")]
    pub email: String,
    /// What it may do: traveller, support or admin.
    #[arg(long, value_name = "ROLE")]
    pub role: String,
    /// Its password; read as one line from standard input where it is not given.
    #[arg(long, value_name = "PASSWORD")]
    pub password: Option<String>,
}

impl std::fmt::Debug for NewUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewUser")
            .field("email", &self.email)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// What can be done with tokens.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token and print it, alone, on standard output. It is shown this once.
    Create(NewToken),
}

/// A new token.
#[derive(Debug, Args)]
pub struct NewToken {
    /// What it may do, not above the account's own role: traveller, support or admin.
    #[arg(long, value_name = "ROLE")]
    pub role: String,
    /// The e-mail of the account that it speaks for.
    #[arg(long, value_name = "EMAIL")]
    pub user: String,
}

/// Where and how: each by flag or by environment.
#[derive(Args, Clone, Default)]
pub struct Options {
    /// `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/NAME`.
    #[arg(
        long,
        global = true,
        env = "HOLDFAST_DATABASE_URL",
        value_name = "URL",
        hide_env_values = true,
        default_value = "sqlite:holdfast.db"
    )]
    pub database_url: String,
    /// Address and port to serve on.
    #[arg(
        long,
        global = true,
        env = "HOLDFAST_LISTEN",
        value_name = "ADDR:PORT",
        default_value = "127.0.0.1:7000"
    )]
    pub listen: String,
    /// The address that browsers and agents use, for example `https://trips.example.org`.
    #[arg(long, global = true, env = "HOLDFAST_PUBLIC_URL", value_name = "URL")]
    pub public_url: Option<String>,
    /// Protects the credentials kept for agents; at least 32 characters.
    #[arg(long, global = true, env = "HOLDFAST_SECRET_KEY", value_name = "KEY", hide_env_values = true)]
    pub secret_key: Option<String>,
    /// Private networks that cards, lookups and hooks may lead to, comma-separated, for example
    /// `10.1.0.0/16,fd00::/8`.
    #[arg(long, global = true, env = "HOLDFAST_ALLOW_PRIVATE_ADDRESSES", value_name = "CIDRS")]
    pub allow_private_addresses: Option<String>,
    /// Demo: short waits, loopback addresses allowed, a banner on every page.
    #[arg(
        long,
        global = true,
        env = "HOLDFAST_DEMO",
        value_name = "0|1",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "1",
        default_value = "0"
    )]
    pub demo: String,
    /// The folder of the site's files; `site` beside the program, else `target/site`, where it is
    /// not given.
    #[arg(long, global = true, env = "HOLDFAST_SITE_ROOT", value_name = "FOLDER")]
    pub site_root: Option<String>,
    /// One wait, in seconds, as in `--wait landing_grace=60`; may be given several times. By
    /// environment: `HOLDFAST_WAIT_<NAME>`.
    #[arg(long = "wait", global = true, value_name = "NAME=SECONDS")]
    pub waits: Vec<String>,
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("listen", &self.listen)
            .field("demo", &self.demo)
            .finish_non_exhaustive()
    }
}
