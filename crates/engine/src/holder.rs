//! The holder: this process's right to drive trips. One heartbeat serves all of its leases, and a
//! send starts only while the heartbeat outlasts the send's time limit (DESIGN.md §1).

use crate::store::{OpenError, Store};
use domain::ids::HolderId;
use domain::time::Span;
use fs4::fs_std::FileExt as _;
use std::fs::File;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

/// This process as a holder.
pub(crate) struct Holder {
    pub(crate) id: HolderId,
    good_for: Span,
    /// Taken before the newest successful renewal was begun, on a clock that never jumps.
    renewed: Mutex<Instant>,
    /// SQLite: held as long as this process serves. Dropping it gives the lock back.
    _lock: Option<File>,
}

impl Holder {
    /// Enters this process: takes the file lock on SQLite, then writes the first heartbeat.
    pub(crate) async fn enter(store: &Store, database_url: &str, good_for: Span) -> Result<Self, OpenError> {
        let lock = match crate::store::dialect::Dialect::of(database_url) {
            Some(crate::store::dialect::Dialect::Sqlite) => Some(take_lock(database_url)?),
            _ => None,
        };
        let id = HolderId(crate::clock::new_id());
        let before = Instant::now();
        store.enter_holder(&id, good_for).await?;
        Ok(Self { id, good_for, renewed: Mutex::new(before), _lock: lock })
    }

    /// Renews the heartbeat; false where this holder has been forgotten, so that it must stop.
    pub(crate) async fn renew(&self, store: &Store) -> Result<bool, crate::StoreError> {
        let before = Instant::now();
        let known = store.renew_holder(&self.id, self.good_for).await?;
        if known {
            *self.renewed.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = before;
        }
        Ok(known)
    }

    /// Whether the heartbeat outlasts a send that takes up to `limit`.
    pub(crate) fn outlasts(&self, limit: Span) -> bool {
        let renewed = *self.renewed.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        renewed.elapsed() + limit.to_std() < self.good_for.to_std()
    }
}

/// An exclusive OS lock on `<database>.lock` proves that no other holder lives.
fn take_lock(database_url: &str) -> Result<File, OpenError> {
    let path = crate::store::sqlite_path(database_url).unwrap_or_default();
    let lock =
        path.with_file_name(format!("{}.lock", path.file_name().unwrap_or_default().to_string_lossy()));
    let shown = path.display().to_string();
    let file = open_lock(&lock)
        .map_err(|error| OpenError::Unusable { what: lock.display().to_string(), why: error.to_string() })?;
    match file.try_lock_exclusive() {
        Ok(true) => Ok(file),
        Ok(false) => Err(OpenError::Held(shown)),
        Err(error) => Err(OpenError::Unusable { what: lock.display().to_string(), why: error.to_string() }),
    }
}

fn open_lock(path: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).open(path)
}
