//! ListTasks, read to the last page (DESIGN.md §5). "Nothing landed" may be earned only by a
//! list known to be whole, so every doubt about that makes it [`Completeness::Incomplete`]:
//! tokens that go round (faults.md F-08), fewer ids than `totalSize` or a full page without a
//! token (F-07), entries without an id, caps. Tasks seen on two pages count once (F-06).

use super::convert;
use super::limits::Limits;
use domain::ids::ContextId;
use domain::task::Snapshot;
use domain::time::Millis;
use serde_json::{Value, json};
use std::collections::HashSet;

/// How many tasks we ask for on one page: the most that the protocol allows.
const PAGE_SIZE: i64 = 100;
/// The protocol's page size where none is stated; servers without `pageSize` may use it.
const DEFAULT_PAGE_SIZE: usize = 50;
/// How much history we ask for with every task.
pub(crate) const HISTORY_LENGTH: i64 = 100;

/// Which tasks to list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListFilter {
    /// Those of one context.
    Context(ContextId),
    /// Those whose last status is younger; servers drop tasks without a timestamp here, so this
    /// one never answers "none".
    Since(Millis),
    /// All that our principal may see.
    All,
}

/// Whether the whole list was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Completeness {
    /// Every page was read and nothing contradicts that.
    Complete,
    /// Something may be missing, with the reason for people.
    Incomplete(String),
}

/// What a list showed.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The tasks, each once, in the agent's order.
    pub tasks: Vec<Snapshot>,
    /// Whether that is all.
    pub complete: Completeness,
    /// How many pages were read.
    pub pages: usize,
    /// The agent's clock, by the `Date` header of its first answer.
    pub server_date: Option<Millis>,
}

/// A list while its pages come in.
pub(crate) struct Pages<'a> {
    limits: &'a Limits,
    listing: Listing,
    ids: HashSet<String>,
    tokens: HashSet<String>,
    total: Option<i64>,
    unreadable: usize,
}

/// What follows a page.
pub(crate) enum Next {
    /// The page with this token.
    Page(String),
    /// Nothing.
    End,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(limits: &'a Limits) -> Self {
        let listing =
            Listing { tasks: Vec::new(), complete: Completeness::Complete, pages: 0, server_date: None };
        Self { limits, listing, ids: HashSet::new(), tokens: HashSet::new(), total: None, unreadable: 0 }
    }

    /// The parameters of the request for a page.
    pub(crate) fn params(filter: &ListFilter, token: Option<&str>) -> Value {
        let mut params = json!({"pageSize": PAGE_SIZE, "historyLength": HISTORY_LENGTH});
        match filter {
            ListFilter::Context(context) => params["contextId"] = json!(context),
            ListFilter::Since(instant) => {
                // An instant that no calendar has is left out: then the list is only longer.
                if let Ok(stamp) = jiff::Timestamp::from_millisecond(instant.0) {
                    params["statusTimestampAfter"] = json!(stamp.to_string());
                }
            }
            ListFilter::All => {}
        }
        if let Some(token) = token {
            params["pageToken"] = json!(token);
        }
        params
    }

    /// Takes a page in.
    pub(crate) fn add(&mut self, page: &Value, date: Option<Millis>) -> Next {
        self.listing.pages += 1;
        if self.listing.pages == 1 {
            self.listing.server_date = date;
        }
        let tasks = convert::list(page.get("tasks"));
        for task in tasks {
            match convert::snapshot(task, self.limits) {
                Ok(snapshot) if self.ids.contains(snapshot.task_id.as_str()) => {}
                Ok(snapshot) => {
                    self.ids.insert(snapshot.task_id.0.clone());
                    self.listing.tasks.push(snapshot);
                }
                Err(_) => self.unreadable += 1,
            }
        }
        // A total of zero beside tasks is a default that was printed, not a count.
        self.total = convert::whole(page.get("totalSize")).filter(|total| *total > 0).or(self.total);
        let token = convert::id(page.get("nextPageToken"));
        match token {
            _ if self.ids.len() > self.limits.tasks => {
                self.doubt(format!("more than {} tasks", self.limits.tasks));
                Next::End
            }
            None => {
                self.judge_last(tasks.len(), convert::whole(page.get("pageSize")));
                Next::End
            }
            Some(token) if !self.tokens.insert(token.clone()) => {
                self.doubt("a page token came back: the pages go round".to_owned());
                Next::End
            }
            Some(_) if self.listing.pages >= self.limits.pages => {
                self.doubt(format!("more than {} pages", self.limits.pages));
                Next::End
            }
            Some(token) => Next::Page(token),
        }
    }

    /// Whether the last page can be the last one.
    fn judge_last(&mut self, on_page: usize, stated: Option<i64>) {
        let seen = self.ids.len();
        match (self.total.and_then(|total| usize::try_from(total).ok()), stated) {
            (Some(total), _) if seen < total => self.doubt(format!("{seen} of {total} tasks were shown")),
            (Some(_), _) => {}
            (None, Some(size)) if size > 0 => {
                if usize::try_from(size).is_ok_and(|size| on_page >= size) {
                    self.doubt("the last page was full and named no next one".to_owned());
                }
            }
            (None, _) => {
                if on_page == DEFAULT_PAGE_SIZE || on_page >= usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX)
                {
                    self.doubt("the last page was full and named no next one".to_owned());
                }
            }
        }
    }

    /// Notes a reason why something may be missing; the first one stays.
    pub(crate) fn doubt(&mut self, reason: String) {
        if self.listing.complete == Completeness::Complete {
            self.listing.complete = Completeness::Incomplete(reason);
        }
    }

    /// Whether nothing was read yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.listing.pages == 0
    }

    /// The list as far as it was read.
    pub(crate) fn finish(mut self) -> Listing {
        if self.unreadable > 0 {
            self.doubt(format!("{} entries could not be read", self.unreadable));
        }
        self.listing
    }
}
