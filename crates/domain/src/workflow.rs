//! Workflow definitions: named steps with a skill, dependencies, an effect and a budget, and the
//! inputs that become the form of a new trip. Definitions are data; nothing here knows a trade.

use crate::ids::StepName;
use crate::view::FieldError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A workflow as its TOML file defines it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    /// Its name, for example `travel`.
    pub name: String,
    /// Its version: a running trip keeps the one that it began with.
    pub version: i64,
    /// Its name for people.
    pub title: String,
    /// Template of a trip's title, over the inputs.
    pub trip_title: String,
    /// The fields of the form, in order.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// The steps, in order.
    pub steps: Vec<StepDefinition>,
}

/// One field of the form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name in templates and in the API.
    pub name: String,
    /// Its label on the form.
    pub label: String,
    /// What kind of value it takes.
    pub kind: InputKind,
    /// Whether it must be given.
    #[serde(default)]
    pub required: bool,
    /// What may help to fill it in.
    #[serde(default)]
    pub hint: Option<String>,
    /// What the field starts with.
    #[serde(default)]
    pub default: Option<String>,
    /// Dates: the name of another date input that this one may not be before.
    #[serde(default)]
    pub not_before: Option<String>,
    /// Integers: the smallest allowed.
    #[serde(default)]
    pub min: Option<i64>,
    /// Integers: the largest allowed.
    #[serde(default)]
    pub max: Option<i64>,
    /// Texts: the most characters allowed.
    #[serde(default)]
    pub max_chars: Option<usize>,
}

/// What kind of value an input takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum InputKind {
    /// One line.
    Text,
    /// Several lines.
    LongText,
    /// `YYYY-MM-DD`.
    Date,
    /// A whole number.
    Integer,
}

impl InputKind {
    /// The word of the API and the form.
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::LongText => "long_text",
            Self::Date => "date",
            Self::Integer => "integer",
        }
    }
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepDefinition {
    /// Unique inside the workflow.
    pub name: StepName,
    /// Its name for people.
    pub title: String,
    /// The skill that an agent must have.
    pub skill: String,
    /// Template of the request's text: over `inputs`, `reference`, and `previous` on a new attempt.
    pub message: String,
    /// Steps that must be done first.
    #[serde(default)]
    pub depends_on: Vec<StepName>,
    /// The booking that it makes, if it makes one.
    #[serde(default)]
    pub effect: Option<EffectDefinition>,
    /// How many attempts it may use, across all agents and restarts.
    pub attempt_budget: i64,
    /// What happens when the step has failed for good.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// The step's deadline; the installation's where it is missing.
    #[serde(default)]
    pub deadline_seconds: Option<i64>,
    /// Its stall limit; the installation's where it is missing.
    #[serde(default)]
    pub stall_limit_seconds: Option<i64>,
}

/// The booking that a step makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectDefinition {
    /// What it is, for people, for example `flight booking`.
    pub kind: String,
    /// Names of the booking systems that may hold it; every one is asked.
    pub booking_systems: Vec<String>,
}

/// What happens when a step has failed for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The traveller is asked.
    #[default]
    Ask,
    /// The trip goes on without the step.
    GoOn,
    /// Everything is undone and the trip ends as failed.
    Compensate,
}

impl Workflow {
    /// The definition of a step.
    pub fn step(&self, name: &StepName) -> Option<&StepDefinition> {
        self.steps.iter().find(|step| &step.name == name)
    }

    /// Whether `step` needs `other` to be done first, directly or through other steps.
    pub fn depends_on(&self, step: &StepName, other: &StepName) -> bool {
        let mut todo = vec![step.clone()];
        let mut seen: Vec<StepName> = Vec::new();
        while let Some(name) = todo.pop() {
            for needed in self.step(&name).map(|s| s.depends_on.as_slice()).unwrap_or_default() {
                if needed == other {
                    return true;
                }
                if !seen.contains(needed) {
                    seen.push(needed.clone());
                    todo.push(needed.clone());
                }
            }
        }
        false
    }

    /// What is wrong with the definition, one sentence each; empty where it is sound.
    pub fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        if self.steps.is_empty() {
            problems.push("a workflow needs at least one step".to_owned());
        }
        for (place, step) in self.steps.iter().enumerate() {
            let name = &step.name;
            if self.steps[..place].iter().any(|other| &other.name == name) {
                problems.push(format!("steps.{name}: two steps have this name"));
            }
            if !(1..=20).contains(&step.attempt_budget) {
                problems.push(format!("steps.{name}.attempt_budget: give 1 to 20"));
            }
            for needed in &step.depends_on {
                if self.step(needed).is_none() {
                    problems.push(format!("steps.{name}.depends_on: there is no step called {needed}"));
                }
            }
            if self.depends_on(name, name) {
                problems.push(format!("steps.{name}.depends_on: the step depends on itself"));
            }
            if step.effect.as_ref().is_some_and(|effect| effect.booking_systems.is_empty()) {
                problems.push(format!("steps.{name}.effect.booking_systems: name at least one"));
            }
        }
        for (place, input) in self.inputs.iter().enumerate() {
            if self.inputs[..place].iter().any(|other| other.name == input.name) {
                problems.push(format!("inputs.{}: two inputs have this name", input.name));
            }
        }
        problems
    }

    /// Checks inputs and chosen steps of a new trip and returns the inputs in their own types:
    /// texts trimmed, integers as numbers. `today` is the earliest date accepted.
    ///
    /// # Errors
    /// One entry for each field, with what would be right.
    pub fn accept(
        &self,
        given: &Map<String, Value>,
        steps: &[String],
        today: jiff::civil::Date,
    ) -> Result<Map<String, Value>, Vec<FieldError>> {
        let mut errors = Vec::new();
        let mut accepted = Map::new();
        for input in &self.inputs {
            match input.accept(given.get(&input.name), today) {
                Ok(Some(value)) => {
                    accepted.insert(input.name.clone(), value);
                }
                Ok(None) => {}
                Err(message) => errors.push(FieldError { field: input.name.clone(), message }),
            }
        }
        for input in &self.inputs {
            errors.extend(self.order_error(input, &accepted));
        }
        for name in given.keys().filter(|name| !self.inputs.iter().any(|input| &input.name == *name)) {
            let message = format!("This workflow has no field called {name:?}.");
            errors.push(FieldError { field: name.clone(), message });
        }
        errors.extend(self.step_errors(steps));
        if errors.is_empty() { Ok(accepted) } else { Err(errors) }
    }

    fn order_error(&self, input: &Input, accepted: &Map<String, Value>) -> Option<FieldError> {
        let other = self.inputs.iter().find(|other| Some(&other.name) == input.not_before.as_ref())?;
        let this_date = accepted.get(&input.name)?.as_str()?;
        let other_date = accepted.get(&other.name)?.as_str()?;
        // ISO dates of four-digit years order as text.
        (this_date < other_date).then(|| FieldError {
            field: input.name.clone(),
            message: format!(
                "{} is before {} ({other_date}). Choose that day or a later one.",
                input.label, other.label
            ),
        })
    }

    fn step_errors(&self, steps: &[String]) -> Option<FieldError> {
        let unknown = steps.iter().find(|name| self.step(&StepName((*name).clone())).is_none());
        let message = match unknown {
            Some(name) => format!("This workflow has no step called {name:?}."),
            None if steps.is_empty() => "Choose at least one.".to_owned(),
            None => return None,
        };
        Some(FieldError { field: "steps".to_owned(), message })
    }
}

impl Input {
    fn accept(&self, given: Option<&Value>, today: jiff::civil::Date) -> Result<Option<Value>, String> {
        let text = match given {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.trim().to_owned(),
            Some(Value::Number(number)) if self.kind == InputKind::Integer => number.to_string(),
            Some(_) => return Err(format!("{} has a value of the wrong type.", self.label)),
        };
        if text.chars().all(is_unseen) {
            return if self.required { Err(format!("Please fill in: {}.", self.label)) } else { Ok(None) };
        }
        match self.kind {
            InputKind::Text | InputKind::LongText => self.accept_text(text).map(Some),
            InputKind::Date => self.accept_date(&text, today).map(Some),
            InputKind::Integer => self.accept_integer(&text).map(Some),
        }
    }

    fn accept_text(&self, text: String) -> Result<Value, String> {
        let longest = self.max_chars.unwrap_or(match self.kind {
            InputKind::LongText => 4000,
            _ => 120,
        });
        let length = text.chars().count();
        if length > longest {
            return Err(format!("{} has {length} characters; at most {longest} fit.", self.label));
        }
        let several_lines = self.kind == InputKind::LongText;
        let shown = |c: char| !c.is_control() || (several_lines && matches!(c, '\n' | '\r' | '\t'));
        if text.chars().any(|c| !shown(c) || turns_text_around(c)) {
            return Err(format!(
                "{} holds characters that cannot be shown; please type it again.",
                self.label
            ));
        }
        Ok(Value::String(text))
    }

    fn accept_date(&self, text: &str, today: jiff::civil::Date) -> Result<Value, String> {
        let shape = text.len() == 10 && text.is_char_boundary(4);
        let date: jiff::civil::Date = text.parse().ok().filter(|_| shape).ok_or_else(|| {
            format!("{text:?} is not a day of the calendar. Use year-month-day, for example {today}.")
        })?;
        if date < today {
            return Err(format!("{date} is in the past. Choose {today} or a later day."));
        }
        if i32::from(date.year()) > i32::from(today.year()) + 3 {
            return Err(format!("{date} is more than three years ahead. Please check the year."));
        }
        Ok(Value::String(date.to_string()))
    }

    fn accept_integer(&self, text: &str) -> Result<Value, String> {
        let (min, max) = (self.min.unwrap_or(i64::MIN), self.max.unwrap_or(i64::MAX));
        match text.parse::<i64>() {
            Ok(number) if (min..=max).contains(&number) => Ok(Value::from(number)),
            _ => Err(match (self.min, self.max) {
                (Some(min), Some(max)) => {
                    format!("{} must be a whole number from {min} to {max}.", self.label)
                }
                _ => format!("{} must be a whole number.", self.label),
            }),
        }
    }
}

/// Characters that take no place: a text of nothing else is no text.
fn is_unseen(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}')
}

/// Overrides of the writing direction, which can make a text read as another one.
fn turns_text_around(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
