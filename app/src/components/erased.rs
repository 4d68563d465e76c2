//! Where a view's type may be forgotten.
//!
//! On the server a deep page has a type that the compiler gives up on, so parts of it forget
//! theirs. In the browser every forgotten type brings code for all that might be done with it,
//! more than half of the module's size, and an island is not deep: there types are kept.

use leptos::prelude::*;

/// A part of a page.
pub trait Erased: Sized {
    /// What [`Erased::erased`] makes of it.
    type Output: IntoView;
    /// This view, without its type on the server.
    fn erased(self) -> Self::Output;
}

#[cfg(feature = "ssr")]
impl<V: IntoView + 'static> Erased for V {
    type Output = AnyView;
    fn erased(self) -> AnyView {
        self.into_any()
    }
}

#[cfg(not(feature = "ssr"))]
impl<V: IntoView + 'static> Erased for V {
    type Output = V;
    fn erased(self) -> V {
        self
    }
}
