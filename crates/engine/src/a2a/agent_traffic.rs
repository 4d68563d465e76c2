//! The traffic to one agent: what is in flight, who waits, and whether it answers at all.

use super::breaker::{Admission, Breaker, Event};
use super::places::Refusal;
use super::throttle::ThrottleSettings;
use crate::clock::full_jitter;
use domain::failure::Operation;
use domain::time::{Millis, Span};
use std::collections::VecDeque;
use tokio::sync::oneshot;

/// What is counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    Requests = 0,
    Streams = 1,
}

/// Where a call waits, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    /// Sends, cancels, and the lists that settle what is in doubt.
    Urgent = 0,
    /// GetTask and cards.
    Polls = 1,
    /// Subscriptions: a stream has places of its own.
    Streams = 2,
}

impl Queue {
    pub(crate) const ALL: [Self; 3] = [Self::Urgent, Self::Polls, Self::Streams];

    pub(crate) fn of(operation: Operation) -> Self {
        match operation {
            Operation::FirstRequest | Operation::Reply | Operation::CancelTask | Operation::ListTasks => {
                Self::Urgent
            }
            Operation::GetTask | Operation::FetchCard => Self::Polls,
            Operation::Subscribe => Self::Streams,
        }
    }

    pub(crate) fn lane(self) -> Lane {
        if self == Self::Streams { Lane::Streams } else { Lane::Requests }
    }
}

/// What a call in a queue is told.
pub(crate) type Verdict = Result<Grant, Refusal>;

/// A place that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    /// The call finds out whether the agent answers again.
    pub probe: bool,
    /// How often the agent had come back when the call began.
    pub era: u64,
    /// Not to begin before this.
    pub begin: Option<Millis>,
}

struct Waiter {
    id: u64,
    operation: Operation,
    tell: oneshot::Sender<Verdict>,
}

pub(crate) struct Agent {
    pub url: String,
    pub breaker: Breaker,
    /// How often the breaker has closed again.
    pub era: u64,
    /// Why the last call without an answer failed.
    pub last_loss: String,
    /// The agent asked us to wait until then.
    pub paused_until: Millis,
    /// Requests and streams in flight.
    pub in_flight: [usize; 2],
    /// When the next stream may be opened.
    next_stream: Millis,
    queues: [VecDeque<Waiter>; 3],
}

impl Agent {
    pub(crate) fn new(url: String) -> Self {
        Self {
            url,
            breaker: Breaker::NEW,
            era: 0,
            last_loss: String::new(),
            paused_until: Millis(0),
            in_flight: [0; 2],
            next_stream: Millis(0),
            queues: Default::default(),
        }
    }

    pub(crate) fn is_idle(&self, now: Millis) -> bool {
        let rests = self.paused_until <= now && matches!(self.breaker, Breaker::Closed { .. });
        rests && self.in_flight == [0; 2] && self.waiting() == 0
    }

    pub(crate) fn waiting(&self) -> usize {
        self.queues.iter().map(VecDeque::len).sum()
    }

    pub(crate) fn wait(
        &mut self,
        queue: Queue,
        id: u64,
        operation: Operation,
        tell: oneshot::Sender<Verdict>,
    ) {
        self.queues[queue as usize].push_back(Waiter { id, operation, tell });
    }

    /// Takes a call that waits no longer out of its queue, where it still is in it.
    pub(crate) fn leave(&mut self, queue: Queue, id: u64) {
        let queue = &mut self.queues[queue as usize];
        if let Some(at) = queue.iter().position(|waiter| waiter.id == id) {
            queue.remove(at);
        }
    }

    /// Why such a call may not even wait, if so.
    pub(crate) fn refusal(&self, operation: Operation, now: Millis) -> Option<Refusal> {
        // A silent stream does not say that the agent is gone, so a stream is never the probe.
        let next = match self.breaker.admission(now) {
            Admission::Refused(next) => Some(next),
            Admission::Probe if operation == Operation::Subscribe => Some(Span(0)),
            Admission::Probe | Admission::Pass => None,
        };
        if let Some(next) = next {
            return Some(Refusal::Silent { next, last: self.last_loss.clone() });
        }
        // What is in doubt may be looked for, one list at a time; all else waits as told.
        let essential = operation == Operation::ListTasks;
        (self.paused_until > now && !essential).then(|| Refusal::AskedToWait(self.paused_until - now))
    }

    /// Gives a place to the first in this queue, if there is one of either.
    pub(crate) fn grant(&mut self, queue: Queue, settings: &ThrottleSettings, now: Millis) -> bool {
        let lane = queue.lane() as usize;
        let most = match queue.lane() {
            Lane::Requests if self.paused_until > now => 1,
            Lane::Requests => settings.requests,
            Lane::Streams => settings.streams,
        };
        while self.in_flight[lane] < most {
            let Some(waiter) = self.queues[queue as usize].pop_front() else { return false };
            if let Some(refusal) = self.refusal(waiter.operation, now) {
                let _gone = waiter.tell.send(Err(refusal));
                continue;
            }
            let probe = self.breaker.admission(now) == Admission::Probe;
            let begin = (queue == Queue::Streams).then(|| self.stream_turn(settings, now)).flatten();
            // Where the waiter is being dropped just now, it gives the place back itself.
            let taken = waiter.tell.send(Ok(Grant { probe, era: self.era, begin })).is_ok();
            if !taken {
                continue;
            }
            self.in_flight[lane] += 1;
            if probe {
                self.hear(Event::ProbeBegun, settings, now);
            }
            return true;
        }
        false
    }

    /// When the next stream may be opened; nothing where that is at once.
    fn stream_turn(&mut self, settings: &ThrottleSettings, now: Millis) -> Option<Millis> {
        let gap = Span(1000 / i64::from(settings.streams_per_second.max(1)));
        let turn = self.next_stream.max(now);
        self.next_stream = turn + gap;
        (turn > now).then(|| turn + full_jitter(gap))
    }

    /// Passes an event to the breaker. Who waits for an agent that is found silent is told so.
    pub(crate) fn hear(&mut self, event: Event, settings: &ThrottleSettings, now: Millis) {
        let before = self.breaker;
        self.breaker = before.after(event, now, &settings.breaker, full_jitter);
        match (before, self.breaker) {
            (Breaker::Closed { .. }, Breaker::Closed { .. }) => {}
            (_, Breaker::Closed { .. }) => self.era += 1,
            _ => self.refuse_waiting(now),
        }
    }

    /// Tells every call that need not wait any longer why.
    pub(crate) fn refuse_waiting(&mut self, now: Millis) {
        for queue in Queue::ALL {
            for waiter in std::mem::take(&mut self.queues[queue as usize]) {
                match self.refusal(waiter.operation, now) {
                    Some(refusal) => {
                        let _gone = waiter.tell.send(Err(refusal));
                    }
                    None => self.queues[queue as usize].push_back(waiter),
                }
            }
        }
    }
}
