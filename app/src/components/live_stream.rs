//! Keeps a trip's page in step with the trip: one stream of whole views, closed while nobody
//! looks at the tab, so that many tabs do not use up the browser's few connections.

use leptos::prelude::*;

/// How fresh the page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// As it was when the server rendered it.
    Snapshot,
    /// Every change shows at once.
    Live,
    /// Not connected since then (UTC milliseconds).
    Reconnecting(i64),
    /// This page cannot follow any more.
    Stopped,
}

/// Says how fresh the page is.
#[component]
pub fn LinkState(
    /// How fresh.
    link: RwSignal<Link>,
) -> impl IntoView {
    move || {
        let (name, text) = words(link.get());
        view! { <p class=name><span class="link-dot" aria-hidden="true"></span><span>{text}</span></p> }
    }
}

fn words(link: Link) -> (&'static str, String) {
    match link {
        Link::Snapshot => {
            ("link-state", "As of when this page was opened. Reload it to see what is new.".to_owned())
        }
        Link::Live => ("link-state is-live", "Live".to_owned()),
        Link::Reconnecting(since) => (
            "link-state is-stale",
            format!("Reconnecting since {}. What you see may be out of date.", moment(since)),
        ),
        Link::Stopped => {
            ("link-state is-stale", "This page no longer updates itself. Please reload it.".to_owned())
        }
    }
}

fn moment(at: i64) -> String {
    #[cfg(feature = "hydrate")]
    if let Some(text) = super::instant::in_own_zone(&(at as f64).into()) {
        return text;
    }
    crate::format::utc(at)
}

#[cfg(feature = "hydrate")]
pub use in_browser::follow;

#[cfg(feature = "hydrate")]
mod in_browser {
    use super::Link;
    use crate::components::decode;
    use domain::view::TripView;
    use leptos::prelude::*;
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::time::Duration;
    use wasm_bindgen::JsCast;
    use wasm_bindgen::closure::Closure;
    use web_sys::{Event, EventSource, MessageEvent, VisibilityState};

    /// Follows the trip from now on, for as long as the page lives.
    pub fn follow(trip: RwSignal<TripView>, link: RwSignal<Link>) {
        // In an effect, because the server's text must stand until the island is awake.
        Effect::new(move |_| {
            let url = format!("/trips/{}/live", trip.with_untracked(|trip| trip.id.clone()));
            let follower =
                Rc::new(Follower { url, trip, link, source: RefCell::new(None), failures: Cell::new(0) });
            follower.open();
            let on = |target: &web_sys::EventTarget, name: &str| {
                let follower = follower.clone();
                let react =
                    Closure::<dyn FnMut(Event)>::new(move |event: Event| follower.page_changed(&event));
                _ = target.add_event_listener_with_callback(name, react.as_ref().unchecked_ref());
                react.forget();
            };
            crate::components::instant::localise();
            on(&document(), "visibilitychange");
            on(&window(), "pagehide");
            on(&window(), "pageshow");
        });
    }

    struct Follower {
        url: String,
        trip: RwSignal<TripView>,
        link: RwSignal<Link>,
        source: RefCell<Option<Open>>,
        failures: Cell<u32>,
    }

    /// An open stream with what listens to it.
    struct Open {
        source: EventSource,
        _message: Closure<dyn FnMut(MessageEvent)>,
        _error: Closure<dyn FnMut(Event)>,
    }

    impl Drop for Open {
        fn drop(&mut self) {
            self.source.set_onmessage(None);
            self.source.set_onerror(None);
            self.source.close();
        }
    }

    impl Follower {
        fn open(self: &Rc<Self>) {
            if self.source.borrow().is_some() || document().visibility_state() == VisibilityState::Hidden {
                return;
            }
            let Ok(source) = EventSource::new(&self.url) else {
                return self.link.set(Link::Stopped);
            };
            let message = Closure::<dyn FnMut(MessageEvent)>::new({
                let follower = self.clone();
                move |event: MessageEvent| follower.receive(&event)
            });
            let error = Closure::<dyn FnMut(Event)>::new({
                let follower = self.clone();
                move |_| follower.lost()
            });
            source.set_onmessage(Some(message.as_ref().unchecked_ref()));
            source.set_onerror(Some(error.as_ref().unchecked_ref()));
            *self.source.borrow_mut() = Some(Open { source, _message: message, _error: error });
        }

        /// A hidden page lets its stream go; a shown one has it again, first event first.
        fn page_changed(self: &Rc<Self>, event: &Event) {
            if event.type_() == "pagehide" || document().visibility_state() == VisibilityState::Hidden {
                self.source.borrow_mut().take();
            } else {
                self.failures.set(0);
                self.open();
            }
        }

        /// Every event is a whole view. An older one than ours is a late echo and changes nothing.
        fn receive(&self, event: &MessageEvent) {
            let Some(view) = event.data().as_string().and_then(|text| decode::trip(&text)) else {
                // The server speaks a newer language than this page.
                return self.link.set(Link::Stopped);
            };
            self.failures.set(0);
            if view.seq >= self.trip.with_untracked(|trip| trip.seq) {
                self.trip.set(view);
                // Before it is painted, but after it is drawn.
                request_animation_frame(crate::components::instant::localise);
            }
            self.link.set(Link::Live);
        }

        /// The browser reconnects by itself, unless the server answered with an error: then we do.
        fn lost(self: &Rc<Self>) {
            if !matches!(self.link.get_untracked(), Link::Reconnecting(_)) {
                self.link.set(Link::Reconnecting(js_sys::Date::now() as i64));
            }
            let closed = self
                .source
                .borrow()
                .as_ref()
                .is_none_or(|open| open.source.ready_state() == EventSource::CLOSED);
            if closed {
                let follower = self.clone();
                let failures = self.failures.get();
                self.failures.set(failures + 1);
                let wait = Duration::from_secs(1 << failures.min(5));
                // Later: a closure must not drop itself while it runs.
                set_timeout(
                    move || {
                        follower.source.borrow_mut().take();
                        follower.open();
                    },
                    wait,
                );
            }
        }
    }
}
