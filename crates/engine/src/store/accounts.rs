//! Users, sessions and tokens.

use super::cell::Got;
use super::dialect::can_name;
use super::{Store, StoreError};
use domain::ids::UserId;

/// One account.
pub(crate) struct UserRow {
    pub(crate) id: UserId,
    pub(crate) email: String,
    pub(crate) password_hash: String,
    pub(crate) role: String,
    pub(crate) disabled: bool,
}

impl UserRow {
    fn got(row: &sqlx::any::AnyRow) -> Result<Self, StoreError> {
        let row = Got(row);
        Ok(Self {
            id: row.word("id")?,
            email: row.text("email")?,
            password_hash: row.text("password_hash")?,
            role: row.text("role")?,
            disabled: row.maybe_number("disabled_at")?.is_some(),
        })
    }
}

impl Store {
    /// Makes an account; false where the e-mail is taken.
    pub(crate) async fn insert_user(
        &self,
        id: &UserId,
        email: &str,
        hash: &str,
        role: &str,
    ) -> Result<bool, StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        let done = sqlx::query(
            "INSERT INTO users (id, email, password_hash, role, created_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (email) DO NOTHING",
        )
        .bind(id.as_str())
        .bind(email)
        .bind(hash)
        .bind(role)
        .bind(now.0)
        .execute(write.conn())
        .await?;
        write.commit().await?;
        Ok(done.rows_affected() == 1)
    }

    /// An account by its e-mail.
    pub(crate) async fn user_by_email(&self, email: &str) -> Result<Option<UserRow>, StoreError> {
        if !can_name(email) {
            return Ok(None);
        }
        let row = sqlx::query("SELECT * FROM users WHERE email = $1")
            .bind(email)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(UserRow::got).transpose()
    }

    /// An account by its id.
    pub(crate) async fn user_by_id(&self, id: &UserId) -> Result<Option<UserRow>, StoreError> {
        let row = sqlx::query("SELECT * FROM users WHERE id = $1")
            .bind(id.as_str())
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(UserRow::got).transpose()
    }

    /// Keeps a token's hash.
    pub(crate) async fn insert_token(&self, hash: &str, user: &UserId, role: &str) -> Result<(), StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        sqlx::query("INSERT INTO tokens (hash, user_id, role, created_at) VALUES ($1, $2, $3, $4)")
            .bind(hash)
            .bind(user.as_str())
            .bind(role)
            .bind(now.0)
            .execute(write.conn())
            .await?;
        write.commit().await
    }

    /// The account and role of a token that is not withdrawn.
    pub(crate) async fn token(&self, hash: &str) -> Result<Option<(UserId, String)>, StoreError> {
        let row: Option<(String, String)> =
            sqlx::query_as("SELECT user_id, role FROM tokens WHERE hash = $1 AND revoked_at IS NULL")
                .bind(hash)
                .fetch_optional(&self.pool)
                .await?;
        Ok(row.map(|(user, role)| (UserId(user), role)))
    }

    /// Keeps or replaces a session.
    pub(crate) async fn put_session(&self, id: &str, data: &str, expires_at: i64) -> Result<(), StoreError> {
        let mut write = self.write().await?;
        sqlx::query(
            "INSERT INTO sessions (id, data, expires_at) VALUES ($1, $2, $3) \
             ON CONFLICT (id) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at",
        )
        .bind(id)
        .bind(data)
        .bind(expires_at)
        .execute(write.conn())
        .await?;
        write.commit().await
    }

    /// A session's data, while it has not expired.
    pub(crate) async fn session(&self, id: &str) -> Result<Option<(String, i64)>, StoreError> {
        let row: Option<(String, i64)> =
            sqlx::query_as("SELECT data, expires_at FROM sessions WHERE id = $1 AND expires_at > $2")
                .bind(id)
                .bind(self.now().0)
                .fetch_optional(&self.pool)
                .await?;
        Ok(row)
    }

    /// Forgets one session, or, without an id, all that have expired.
    pub(crate) async fn forget_sessions(&self, id: Option<&str>) -> Result<(), StoreError> {
        let now = self.now();
        let mut write = self.write().await?;
        sqlx::query("DELETE FROM sessions WHERE id = $1 OR ($1 IS NULL AND expires_at <= $2)")
            .bind(id.map(str::to_owned))
            .bind(now.0)
            .execute(write.conn())
            .await?;
        write.commit().await
    }
}
