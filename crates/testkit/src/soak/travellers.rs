//! The travellers of a soak: they ask for trips, answer questions, sometimes twice, and change
//! their minds. What each does follows from the seed and the trip's number.

use super::chance::Chance;
use super::diary::{Cancel, Diary, Said};
use super::doors::Doors;
use super::outside::SoakWorld;
use anyhow::{Context as _, Result};
use domain::view::{QuestionView, TripView};
use reqwest::Method;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Between two looks of a traveller at a trip: what a page in a browser would do.
const LOOK: Duration = Duration::from_millis(400);
const STEPS: [&str; 3] = ["flight", "hotel", "car"];
/// How many of a hundred trips are cancelled at some moment.
const CANCELS: u64 = 25;
/// How many of a hundred submits and answers come twice.
const TWICE: u64 = 20;
/// How many of a hundred looks at an open question end in an answer.
const ANSWERS: u64 = 50;

/// Somebody and their trip.
pub struct Traveller {
    /// What they know.
    pub diary: Diary,
    /// The trip as it was last seen.
    pub seen: Option<TripView>,
    chance: Chance,
    cancel_after: Option<Duration>,
    asked: Instant,
    doors: Arc<Doors>,
    world: Arc<SoakWorld>,
    seed: u64,
}

impl Traveller {
    /// The traveller of the trip with this number.
    pub fn new(seed: u64, number: u64, doors: Arc<Doors>, world: Arc<SoakWorld>) -> Self {
        let mut chance = Chance::new(seed, &format!("trip {number}"));
        let mut steps: Vec<String> =
            STEPS.iter().filter(|_| chance.is(60)).map(|step| (*step).to_owned()).collect();
        if steps.is_empty() {
            steps.extend(chance.one_of(&STEPS).map(|step| (*step).to_owned()));
        }
        let cancel_after = chance.is(CANCELS).then(|| Duration::from_millis(chance.from(0, 6_000)));
        Self {
            diary: Diary { number, steps, ..Diary::default() },
            seen: None,
            chance,
            cancel_after,
            asked: Instant::now(),
            doors,
            world,
            seed,
        }
    }

    /// Asks for the trip, again with the same key where no answer came, and sometimes twice.
    async fn ask_for_it(&mut self) -> Result<()> {
        self.asked = Instant::now();
        let steps: Vec<&str> = self.diary.steps.iter().map(String::as_str).collect();
        let body = crate::process::new_trip(&steps);
        let key = format!("soak-{}-trip-{}", self.seed, self.diary.number);
        let submit = || self.doors.ask(Method::POST, "/trips", Some(&body), Some(&key));
        let answers = if self.chance.is(TWICE) {
            let (first, second) = tokio::join!(submit(), submit());
            vec![first?, second?]
        } else {
            vec![submit().await?]
        };
        for answer in answers {
            anyhow::ensure!(answer.is_success(), "POST /trips: {}: {}", answer.status, answer.body);
            let id = answer.body["id"].as_str().context("a trip without an id")?;
            self.diary.note_id(id);
        }
        Ok(())
    }

    /// One look at the trip, and what the traveller does then. True where the trip has moved.
    ///
    /// # Errors
    /// Nobody answers, or with something that no rule of the API explains.
    pub async fn visit(&mut self) -> Result<bool> {
        let id = self.diary.id().context("no trip yet")?.to_owned();
        let view: TripView = self.doors.read(&format!("/trips/{id}")).await?;
        let moved = self.diary.note_seq(view.seq);
        for question in &view.questions {
            self.diary.questions.entry(question.id.clone()).or_default();
        }
        if self.cancel_after.is_some_and(|after| self.asked.elapsed() >= after) && !view.state.is_closed() {
            self.cancel_after = None;
            self.cancel(&id).await?;
        }
        for question in view.questions.iter().filter(|question| question.state == "open") {
            if self.chance.is(ANSWERS) {
                self.answer(question, &view).await?;
            }
        }
        self.seen = Some(view);
        Ok(moved)
    }

    async fn cancel(&mut self, id: &str) -> Result<()> {
        let path = format!("/trips/{id}/cancel");
        let answer = self.doors.ask(Method::POST, &path, Some(&json!({})), None).await?;
        let outcome = match (answer.status, answer.body["outcome"].as_str()) {
            (202, Some("recorded")) => Cancel::Recorded,
            (202, Some("already_ending")) => Cancel::AlreadyEnding,
            (409, _) => Cancel::Refused,
            _ => anyhow::bail!("POST {path}: {}: {}", answer.status, answer.body),
        };
        self.diary.cancels.push(outcome);
        Ok(())
    }

    /// Answers, and sometimes a second time at the same moment with other words.
    async fn answer(&mut self, question: &QuestionView, view: &TripView) -> Result<()> {
        if question.kind == "auth" {
            self.authorise(question, view).await;
        }
        let first = self.words(question);
        let mut given = vec![first];
        if self.chance.is(TWICE) {
            given.push(self.words(question));
        }
        let path = format!("/questions/{}/answer", question.id);
        let doors = &self.doors;
        let asked = given.iter().map(|body| doors.ask(Method::POST, &path, Some(body), None));
        for (body, answer) in given.iter().zip(futures::future::join_all(asked).await) {
            let answer = answer?;
            let known = answer.is_success() || answer.status == 409;
            anyhow::ensure!(known, "POST {path}: {}: {}", answer.status, answer.body);
            let text = body.get("choice").or(body.get("text")).and_then(Value::as_str).unwrap_or_default();
            let said = Said { answer: text.to_owned(), status: answer.status };
            self.diary.questions.entry(question.id.clone()).or_default().push(said);
        }
        Ok(())
    }

    fn words(&mut self, question: &QuestionView) -> Value {
        match self.chance.one_of(&question.choices) {
            Some(choice) => json!({ "choice": choice.value }),
            None => json!({ "text": format!("Number {}, please", self.chance.from(1, 1_000)) }),
        }
    }

    /// What a person does who follows the agent's link before they say that they have.
    async fn authorise(&self, question: &QuestionView, view: &TripView) {
        let steps = view.steps.iter().filter(|step| step.name == question.step);
        for delegation in steps.flat_map(|step| &step.delegations) {
            if let (Some(task), None) = (&delegation.task_id, &delegation.outcome) {
                self.world.authorise(&delegation.agent, task).await;
            }
        }
    }

    /// Whether the trip has reached its end, or waits for support.
    pub fn is_settled(&self) -> bool {
        self.seen.as_ref().is_some_and(is_settled)
    }
}

/// Whether a trip has reached its end, or waits for support.
pub fn is_settled(view: &TripView) -> bool {
    view.state.is_closed() || view.state == domain::view::TripState::NeedsSupport
}

/// Keeps about `trips` trips unfinished at any time until `stop`; everybody who ever travelled.
///
/// # Errors
/// The API did what it may not do.
pub async fn travel(
    seed: u64,
    trips: usize,
    doors: Arc<Doors>,
    world: Arc<SoakWorld>,
    stop: Arc<AtomicBool>,
) -> Result<Vec<Traveller>> {
    let (mut everybody, mut under_way) = (Vec::new(), JoinSet::new());
    let mut number = 0;
    loop {
        while under_way.len() < trips && !stop.load(Ordering::SeqCst) {
            number += 1;
            let traveller = Traveller::new(seed, number, doors.clone(), world.clone());
            under_way.spawn(one_trip(traveller, stop.clone()));
        }
        match under_way.join_next().await {
            Some(back) => everybody.push(back??),
            None => return Ok(everybody),
        }
    }
}

async fn one_trip(mut traveller: Traveller, stop: Arc<AtomicBool>) -> Result<Traveller> {
    traveller.ask_for_it().await?;
    while !stop.load(Ordering::SeqCst) && !traveller.is_settled() {
        traveller.visit().await?;
        tokio::time::sleep(LOOK).await;
    }
    Ok(traveller)
}
