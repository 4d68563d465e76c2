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

/// The shortest password accepted.
const SHORTEST_PASSWORD: usize = 8;
/// What a token begins with, so that a scanner for leaked secrets can tell it.
const TOKEN_PREFIX: &str = "hft_";

impl Engine {
    /// Makes an account. `password` is kept as an argon2id hash only.
    ///
    /// # Errors
    /// [`AccountError::Exists`], or [`AccountError::Invalid`] with what would be right.
    pub async fn add_user(&self, email: &str, password: &str, role: Role) -> Result<UserId, AccountError> {
        let email = tidy_email(email)?;
        if password.chars().count() < SHORTEST_PASSWORD {
            let text = format!("the password is too short: give at least {SHORTEST_PASSWORD} characters");
            return Err(AccountError::Invalid(text));
        }
        let hash = hash_password(password.to_owned()).await?;
        let id = UserId(crate::clock::new_id());
        let fresh = self.inner.store.insert_user(&id, &email, &hash, role.word()).await?;
        if fresh { Ok(id) } else { Err(AccountError::Exists) }
    }

    /// Checks a sign-in; `None` where e-mail or password is wrong, without saying which, and
    /// taking as long for an account that does not exist.
    ///
    /// # Errors
    /// The database failed.
    pub async fn authenticate(&self, email: &str, password: &str) -> Result<Option<Viewer>, AccountError> {
        let email = email.trim().to_lowercase();
        let user = self.inner.store.user_by_email(&email).await?;
        let hash = user.as_ref().map(|user| user.password_hash.clone());
        let right = verify_password(password.to_owned(), hash).await;
        Ok(user
            .filter(|user| right && !user.disabled)
            .and_then(|user| viewer_of(user.id, user.email, &user.role)))
    }

    /// The account of a session, if it still exists and is not disabled.
    ///
    /// # Errors
    /// The database failed.
    pub async fn viewer(&self, user: &UserId) -> Result<Option<Viewer>, AccountError> {
        let user = self.inner.store.user_by_id(user).await?;
        Ok(user.filter(|user| !user.disabled).and_then(|user| viewer_of(user.id, user.email, &user.role)))
    }

    /// Makes a bearer token for an account, with a role not above the account's own. The text is
    /// returned once; the database keeps its SHA-256 only.
    ///
    /// # Errors
    /// [`AccountError::NoSuchUser`], or [`AccountError::Invalid`] where the role is above the
    /// account's own.
    pub async fn create_token(&self, email: &str, role: Role) -> Result<String, AccountError> {
        let email = email.trim().to_lowercase();
        let user = self.inner.store.user_by_email(&email).await?.ok_or(AccountError::NoSuchUser)?;
        let own = Role::from_word(&user.role).unwrap_or(Role::Traveller);
        if role != own && own != Role::Admin && role != Role::Traveller {
            let text = format!(
                "a token of {email} cannot have the role {}: the account is {}",
                role.word(),
                own.word()
            );
            return Err(AccountError::Invalid(text));
        }
        let token = format!("{TOKEN_PREFIX}{}", crate::clock::random_secret());
        self.inner.store.insert_token(&hash_token(&token), &user.id, role.word()).await?;
        Ok(token)
    }

    /// Who a bearer token speaks for; `None` where it is unknown or withdrawn.
    ///
    /// # Errors
    /// The database failed.
    pub async fn token_viewer(&self, token: &str) -> Result<Option<Viewer>, AccountError> {
        let Some((user, role)) = self.inner.store.token(&hash_token(token)).await? else { return Ok(None) };
        let user = self.inner.store.user_by_id(&user).await?;
        Ok(user.filter(|user| !user.disabled).and_then(|user| viewer_of(user.id, user.email, &role)))
    }

    /// Keeps a browser session: `data` is opaque text, `expires_at` UTC milliseconds. `id` is what
    /// the caller files it under, which should not be the cookie's own value.
    ///
    /// # Errors
    /// The database failed.
    pub async fn save_session(&self, id: &str, data: &str, expires_at: i64) -> Result<(), AccountError> {
        Ok(self.inner.store.put_session(id, data, expires_at).await?)
    }

    /// A session's data and expiry, while it has not expired.
    ///
    /// # Errors
    /// The database failed.
    pub async fn load_session(&self, id: &str) -> Result<Option<(String, i64)>, AccountError> {
        Ok(self.inner.store.session(id).await?)
    }

    /// Forgets a session.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_session(&self, id: &str) -> Result<(), AccountError> {
        Ok(self.inner.store.forget_sessions(Some(id)).await?)
    }

    /// Forgets every session that has expired.
    ///
    /// # Errors
    /// The database failed.
    pub async fn delete_expired_sessions(&self) -> Result<(), AccountError> {
        Ok(self.inner.store.forget_sessions(None).await?)
    }
}

fn viewer_of(user: UserId, email: String, role: &str) -> Option<Viewer> {
    Role::from_word(role).map(|role| Viewer { user, email, role })
}

fn tidy_email(email: &str) -> Result<String, AccountError> {
    let email = email.trim().to_lowercase();
    let sound = email.len() <= 254
        && email
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && host.len() > 2 && !host.contains('@'))
        && !email.chars().any(|c| c.is_whitespace() || c.is_control());
    if sound { Ok(email) } else { Err(AccountError::Invalid(format!("{email:?} is not an e-mail address"))) }
}

/// Tokens are random, so a plain digest is enough to store them safely.
fn hash_token(token: &str) -> String {
    use sha2::Digest as _;
    hex::encode(sha2::Sha256::digest(token.as_bytes()))
}

async fn hash_password(password: String) -> Result<String, AccountError> {
    use argon2::PasswordHasher as _;
    let hashed = tokio::task::spawn_blocking(move || {
        argon2::Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string())
    });
    match hashed.await {
        Ok(Ok(hash)) => Ok(hash),
        Ok(Err(error)) => Err(AccountError::Invalid(format!("the password cannot be used: {error}"))),
        Err(error) => Err(AccountError::Invalid(format!("the password could not be hashed: {error}"))),
    }
}

/// A hash that no password has, so that an unknown e-mail costs the same work.
async fn verify_password(password: String, hash: Option<String>) -> bool {
    use argon2::PasswordVerifier as _;
    let verified = tokio::task::spawn_blocking(move || {
        let argon = argon2::Argon2::default();
        match hash.as_deref().map(argon2::PasswordHash::new) {
            Some(Ok(hash)) => argon.verify_password(password.as_bytes(), &hash).is_ok(),
            _ => {
                use argon2::PasswordHasher as _;
                // The work is done, its result means nothing.
                let _ = argon.hash_password(password.as_bytes());
                false
            }
        }
    });
    verified.await.unwrap_or(false)
}
