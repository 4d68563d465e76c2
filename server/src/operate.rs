//! The short commands: `check`, `user add`, `token create`. None of them takes the lock or drives
//! a trip, so they work beside a running server.

use crate::cli::{NewToken, NewUser};
use crate::config::Config;
use engine::accounts::{AccountError, Role};
use engine::{Engine, OpenError, StoreError};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

/// The exit code of a wrong option.
pub const WRONG_OPTION: u8 = 2;
/// The exit code of an account that exists already.
pub const EXISTS: u8 = 3;

/// Why a command did not do its work.
#[derive(Debug, thiserror::Error)]
pub enum OperateError {
    /// The journal could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The account or token was not made.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The role is none of ours.
    #[error("--role: {0:?} is no role; right would be traveller, support or admin")]
    Role(String),
    /// Standard input or output failed.
    #[error("standard input or output: {0}")]
    Stream(#[from] io::Error),
    /// No password was given at all.
    #[error("--password: it is not given, and standard input holds none; give it there, as one line")]
    NoPassword,
}

impl OperateError {
    /// The exit code that says the same.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Account(AccountError::Exists) => ExitCode::from(EXISTS),
            Self::Role(_) | Self::NoPassword => ExitCode::from(WRONG_OPTION),
            _ => ExitCode::FAILURE,
        }
    }
}

/// `holdfast check`: exit code 1 where something that must always be true is not.
///
/// # Errors
/// Where the journal cannot be read.
pub async fn check(config: &Config) -> Result<ExitCode, OperateError> {
    let engine = Engine::open(config.engine_options(false)).await?;
    let checked = engine.check().await?;
    engine.close().await;
    let mut out = io::stdout().lock();
    for violation in &checked.violations {
        writeln!(out, "{violation}")?;
    }
    let found = match checked.violations.len() {
        0 => "no violation".to_owned(),
        1 => "1 violation".to_owned(),
        count => format!("{count} violations"),
    };
    writeln!(out, "{found} in {} trips and {} delegations", checked.trips, checked.delegations)?;
    Ok(if checked.violations.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// `holdfast user add`.
///
/// # Errors
/// Where the account was not made.
pub async fn add_user(config: &Config, new: &NewUser) -> Result<ExitCode, OperateError> {
    let role = read_role(&new.role)?;
    let password = match &new.password {
        Some(password) => password.clone(),
        None => first_line(&mut io::stdin().lock())?,
    };
    let engine = Engine::open(config.engine_options(true)).await?;
    let made = engine.add_user(&new.email, &password, role).await;
    engine.close().await;
    made?;
    writeln!(io::stdout(), "{} can sign in now, as {}", new.email, role.word())?;
    Ok(ExitCode::SUCCESS)
}

/// `holdfast token create`: the token alone on standard output.
///
/// # Errors
/// Where the token was not made.
pub async fn create_token(config: &Config, new: &NewToken) -> Result<ExitCode, OperateError> {
    let role = read_role(&new.role)?;
    let engine = Engine::open(config.engine_options(false)).await?;
    let token = engine.create_token(&new.user, role).await;
    engine.close().await;
    let token = token?;
    writeln!(io::stdout(), "{token}")?;
    Ok(ExitCode::SUCCESS)
}

fn read_role(word: &str) -> Result<Role, OperateError> {
    Role::from_word(word).ok_or_else(|| OperateError::Role(word.to_owned()))
}

fn first_line(input: &mut impl BufRead) -> Result<String, OperateError> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let password = line.trim_end_matches(['\r', '\n']);
    if password.is_empty() { Err(OperateError::NoPassword) } else { Ok(password.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_one_line_with_its_spaces() {
        assert_eq!(first_line(&mut " a b \r\nrest".as_bytes()).unwrap(), " a b ");
        assert!(matches!(first_line(&mut "".as_bytes()), Err(OperateError::NoPassword)));
    }

    #[test]
    fn an_existing_account_has_its_own_exit_code() {
        let code = OperateError::from(AccountError::Exists).exit_code();
        assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::from(3)));
    }
}
