//! The places that calls wait for: so many per agent, so many in the process.
//!
//! One lock holds all queues and counts; it is never held over an await. A place is given by
//! [`Traffic`] in the order urgent calls, polls; round robin among agents, first come first
//! served within one. A [`Place`] gives itself back when dropped, waiting or held.

use super::agent_traffic::{Agent, Grant, Lane, Queue, Verdict};
use super::breaker::{Admission, Breaker, Event};
use super::throttle::{AgentState, AgentTraffic, ThrottleSettings};
use domain::failure::{LONGEST_RETRY_AFTER, Operation};
use domain::time::{Millis, Span};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// So many agents are remembered; beyond that, one that is idle makes room.
const REMEMBERED: usize = 1024;

/// Why a call did not get a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The agent does not answer; the next try is in so long.
    Silent { next: Span, last: String },
    /// The agent asked us to wait so long.
    AskedToWait(Span),
}

/// What a call that was made says about its agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    /// It answers.
    Answered,
    /// It answered that we are to wait.
    AskedToWait(Span),
    /// Nobody seems to be there, with the reason for people.
    Lost(String),
}

/// The traffic to all agents of this process.
#[derive(Clone)]
pub(crate) struct Traffic {
    shared: Arc<Shared>,
}

struct Shared {
    settings: ThrottleSettings,
    /// Instants are counted from here.
    epoch: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    agents: Vec<Agent>,
    by_url: HashMap<String, usize>,
    /// Requests and streams in flight, of all agents.
    in_flight: [usize; 2],
    /// Whose turn it is, per queue.
    turn: [usize; 3],
    next_id: u64,
}

impl Traffic {
    pub(crate) fn new(settings: ThrottleSettings) -> Self {
        let (epoch, state) = (Instant::now(), Mutex::default());
        Self { shared: Arc::new(Shared { settings, epoch, state }) }
    }

    pub(crate) fn settings(&self) -> &ThrottleSettings {
        &self.shared.settings
    }

    /// Whether the next call to this agent would be the probe.
    pub(crate) fn probe_is_due(&self, url: &str) -> bool {
        let (now, state) = (self.shared.now(), self.shared.lock());
        let agent = state.by_url.get(url).map(|at| &state.agents[*at]);
        agent.is_some_and(|agent| agent.breaker.admission(now) == Admission::Probe)
    }

    /// Joins the queue for a place, or is refused at once.
    pub(crate) fn queue(&self, url: &str, operation: Operation) -> Result<Place, Refusal> {
        let (now, mut state) = (self.shared.now(), self.shared.lock());
        let at = state.agent(url, now);
        state.agents[at].refusal(operation, now).map_or(Ok(()), Err)?;
        state.next_id += 1;
        let (id, queue) = (state.next_id, Queue::of(operation));
        let (tell, told) = oneshot::channel();
        state.agents[at].wait(queue, id, operation, tell);
        state.dispatch(&self.shared.settings, now);
        drop(state);
        Ok(Place { shared: self.shared.clone(), at, queue, id, hold: Hold::Waiting(told) })
    }

    /// How the traffic to each agent stands.
    pub(crate) fn health(&self) -> Vec<AgentTraffic> {
        let (now, state) = (self.shared.now(), self.shared.lock());
        let one = |agent: &Agent| AgentTraffic {
            url: agent.url.clone(),
            in_flight: agent.in_flight[Lane::Requests as usize],
            streams: agent.in_flight[Lane::Streams as usize],
            waiting: agent.waiting(),
            state: match agent.breaker {
                Breaker::Open { until, .. } => AgentState::Silent { next_try: (until - now).to_std() },
                Breaker::Probing { .. } => AgentState::Probing,
                Breaker::Closed { .. } if agent.paused_until > now => {
                    AgentState::AskedToWait { left: (agent.paused_until - now).to_std() }
                }
                Breaker::Closed { .. } => AgentState::Answering,
            },
        };
        state.agents.iter().map(one).collect()
    }
}

impl Shared {
    fn now(&self) -> Millis {
        Millis(i64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(i64::MAX))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Where this agent is kept.
    fn agent(&mut self, url: &str, now: Millis) -> usize {
        if let Some(at) = self.by_url.get(url) {
            return *at;
        }
        let idle = (self.agents.len() >= REMEMBERED)
            .then(|| self.agents.iter().position(|agent| agent.is_idle(now)))
            .flatten();
        let at = idle.unwrap_or(self.agents.len());
        let new = Agent::new(url.to_owned());
        match self.agents.get_mut(at) {
            Some(old) => {
                self.by_url.remove(&old.url);
                *old = new;
            }
            None => self.agents.push(new),
        }
        self.by_url.insert(url.to_owned(), at);
        at
    }

    /// Gives every free place to a call that waits for it.
    fn dispatch(&mut self, settings: &ThrottleSettings, now: Millis) {
        for queue in Queue::ALL {
            let lane = queue.lane() as usize;
            let most = [settings.process_requests, settings.process_streams][lane];
            let mut passed_over = 0;
            while passed_over < self.agents.len() && self.in_flight[lane] < most {
                let turn = &mut self.turn[queue as usize];
                *turn = (*turn + 1) % self.agents.len();
                if self.agents[*turn].grant(queue, settings, now) {
                    self.in_flight[lane] += 1;
                    passed_over = 0;
                } else {
                    passed_over += 1;
                }
            }
        }
    }
}

/// A place in a queue, and then in flight. Dropping it gives it back, whichever it is.
pub(crate) struct Place {
    shared: Arc<Shared>,
    at: usize,
    queue: Queue,
    id: u64,
    hold: Hold,
}

enum Hold {
    Waiting(oneshot::Receiver<Verdict>),
    Held(Grant),
    /// Refused: nothing is held any more.
    Nothing,
}

impl Place {
    /// Waits for the place; says when the call may begin. Cancel safe.
    pub(crate) async fn granted(&mut self) -> Result<Option<Instant>, Refusal> {
        let Hold::Waiting(told) = &mut self.hold else { return Ok(None) };
        // The sender is kept in the queue until it has spoken.
        let verdict = told.await.unwrap_or(Err(Refusal::AskedToWait(Span(0))));
        match verdict {
            Ok(grant) => {
                let begin = grant.begin.map(|at| self.shared.epoch + (at - Millis(0)).to_std());
                self.hold = Hold::Held(grant);
                Ok(begin)
            }
            Err(refusal) => {
                self.hold = Hold::Nothing;
                Err(refusal)
            }
        }
    }

    /// Whether the call is still welcome: asked again after a wait for its turn.
    pub(crate) fn still_welcome(&self, operation: Operation) -> Result<(), Refusal> {
        let (now, state) = (self.shared.now(), self.shared.lock());
        state.agents[self.at].refusal(operation, now).map_or(Ok(()), Err)
    }

    /// Tells what the call showed of its agent.
    pub(crate) fn report(&mut self, report: Report) {
        let Hold::Held(grant) = &mut self.hold else { return };
        let (now, mut state) = (self.shared.now(), self.shared.lock());
        let settings = &self.shared.settings;
        let agent = &mut state.agents[self.at];
        match &report {
            Report::Lost(why) => {
                let probe = std::mem::take(&mut grant.probe);
                // A call that began before the agent was last found silent tells nothing new.
                if probe || grant.era == agent.era {
                    agent.last_loss.clone_from(why);
                    agent.hear(Event::Lost { probe }, settings, now);
                }
            }
            Report::Answered | Report::AskedToWait(_) => {
                grant.probe = false;
                agent.hear(Event::Answered, settings, now);
            }
        }
        if let Report::AskedToWait(span) = report {
            let span = span.clamp(Span(0), LONGEST_RETRY_AFTER);
            agent.paused_until = agent.paused_until.max(now + span);
            agent.refuse_waiting(now);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let (now, mut state) = (self.shared.now(), self.shared.lock());
        // Verdicts are given under the lock, so this one is final.
        let grant = match &mut self.hold {
            Hold::Held(grant) => Some(*grant),
            Hold::Waiting(told) => told.try_recv().ok().and_then(Result::ok),
            Hold::Nothing => None,
        };
        let lane = self.queue.lane() as usize;
        let agent = &mut state.agents[self.at];
        match grant {
            Some(grant) => {
                if grant.probe {
                    agent.hear(Event::ProbeDropped, &self.shared.settings, now);
                }
                agent.in_flight[lane] -= 1;
                state.in_flight[lane] -= 1;
            }
            None => agent.leave(self.queue, self.id),
        }
        state.dispatch(&self.shared.settings, now);
    }
}
