//! People and programs: sign-in, sessions, tokens, roles.

use crate::Engine;
use domain::ids::UserId;
use serde::{Deserialize, Serialize};

/// What a person or program may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Sees and drives their own trips.
    Traveller,
    /// Sees all trips, works on cases.
    Support,
    /// Keeps the registry; sees all trips.
    Admin,
}

impl Role {
    /// The word stored and shown.
    pub fn word(self) -> &'static str {
        match self {
            Self::Traveller => "traveller",
            Self::Support => "support",
            Self::Admin => "admin",
        }
    }
    /// Reads the stored word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Traveller, Self::Support, Self::Admin].into_iter().find(|role| role.word() == word)
    }
    /// Whether this role sees every traveller's trips.
    pub fn sees_all(self) -> bool {
        !matches!(self, Self::Traveller)
    }
}

/// Who asks: every read and every write by a person or a program names one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Viewer {
    /// The account.
    pub user: UserId,
    /// Its e-mail: the actor's name in events.
    pub email: String,
    /// What it may do.
    pub role: Role,
}

/// Why an account could not be made or used.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// The e-mail is taken.
    #[error("an account with this e-mail exists already")]
    Exists,
    /// No account has this e-mail.
    #[error("no account has this e-mail")]
    NoSuchUser,
    /// A value is not acceptable; the text says which and what would be right.
    #[error("{0}")]
    Invalid(String),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] crate::StoreError),
}

impl Engine {
    /// Makes an account. `password` is kept as an argon2id hash only.
    pub async fn add_user(&self, email: &str, password: &str, role: Role) -> Result<UserId, AccountError> {
        let _ = (email, password, role);
        unimplemented!()
    }
    /// Checks a sign-in; `None` where e-mail or password is wrong, without saying which.
    pub async fn authenticate(&self, email: &str, password: &str) -> Result<Option<Viewer>, AccountError> {
        let _ = (email, password);
        unimplemented!()
    }
    /// The account of a session, if it still exists and is not disabled.
    pub async fn viewer(&self, user: &UserId) -> Result<Option<Viewer>, AccountError> {
        let _ = user;
        unimplemented!()
    }
    /// Makes a bearer token for an account, with a role not above the account's own. The text is
    /// returned once; the database keeps its SHA-256 only.
    pub async fn create_token(&self, email: &str, role: Role) -> Result<String, AccountError> {
        let _ = (email, role);
        unimplemented!()
    }
    /// Who a bearer token speaks for; `None` where it is unknown or withdrawn.
    pub async fn token_viewer(&self, token: &str) -> Result<Option<Viewer>, AccountError> {
        let _ = token;
        unimplemented!()
    }
    /// Keeps a browser session: `data` is opaque text, `expires_at` UTC milliseconds.
    pub async fn save_session(&self, id: &str, data: &str, expires_at: i64) -> Result<(), AccountError> {
        let _ = (id, data, expires_at);
        unimplemented!()
    }
    /// A session's data, while it has not expired.
    pub async fn load_session(&self, id: &str) -> Result<Option<(String, i64)>, AccountError> {
        let _ = id;
        unimplemented!()
    }
    /// Forgets a session.
    pub async fn delete_session(&self, id: &str) -> Result<(), AccountError> {
        let _ = id;
        unimplemented!()
    }
    /// Forgets every session that has expired.
    pub async fn delete_expired_sessions(&self) -> Result<(), AccountError> {
        unimplemented!()
    }
}
