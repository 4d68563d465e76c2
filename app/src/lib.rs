//! The pages, compiled twice: rendered by the server (`ssr`), and the islands of them that live
//! in the browser (`hydrate`). `App` is the site map. Everything reads without JavaScript;
//! every form is a plain POST that the server crate answers.
//!
//! Pages and the site map exist on the server alone: the browser's half wakes the islands among
//! `components`, and needs nothing else.

// Views of views: the type of a whole page is deeper than the default allows.
#![recursion_limit = "256"]

pub mod api;
pub mod components;
pub mod format;
#[cfg(feature = "ssr")]
pub mod pages;
pub mod request;
#[cfg(feature = "ssr")]
mod response;
#[cfg(feature = "ssr")]
pub mod samples;
#[cfg(feature = "ssr")]
mod site;

#[cfg(all(test, feature = "ssr"))]
mod tests;

pub use request::RequestContext;
#[cfg(feature = "ssr")]
pub use site::{App, ICON, shell};
