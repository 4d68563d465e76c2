//! Waiting for conditions.

use std::future::Future;
use std::time::{Duration, Instant};

/// How long a condition may take before the test fails.
pub const LIMIT: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(30);

/// Asks until the answer is there.
///
/// # Panics
/// After [`LIMIT`], with what was waited for and what was seen last.
pub async fn until<T, S, F>(what: &str, mut ask: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, S>>,
    S: std::fmt::Debug,
{
    let begun = Instant::now();
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(seen) if begun.elapsed() > LIMIT => {
                panic!("waited {LIMIT:?} for {what}; seen last: {seen:#?}")
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}
