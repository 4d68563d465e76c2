//! Lines of a story, for people.

use crate::calls::Target;
use domain::seen::{Answer, Seen, What};
use domain::task::Snapshot;

fn task(snapshot: &Snapshot) -> String {
    format!("{} {}", snapshot.task_id, snapshot.state.word())
}

pub fn target(target: &Target) -> String {
    match target {
        Target::Message { out, kind, delegation, agent, .. } => {
            format!("{kind:?} {out} of attempt {delegation} to agent {agent}")
        }
        Target::Undo { compensation, confirmation, .. } => format!("undo {compensation} of {confirmation}"),
    }
}

pub fn seen(seen: &Seen) -> String {
    match &seen.what {
        What::Sent { out, number, answer } => match answer {
            Answer::Task(snapshot) => format!("send {number} of {out}: {}", task(snapshot)),
            Answer::Message(_) => format!("send {number} of {out}: a bare message"),
            Answer::Failed(why) => format!("send {number} of {out}: {:?}", why.class),
        },
        What::CancelSent { out, answer, .. } => match answer {
            Ok(snapshot) => format!("cancel {out}: {}", task(snapshot)),
            Err(why) => format!("cancel {out}: {:?}", why.class),
        },
        What::Task { delegation, source, answer, .. } => match answer {
            Ok(snapshot) => format!("{source:?} for {delegation}: {}", task(snapshot)),
            Err(why) => format!("{source:?} for {delegation}: {:?}", why.class),
        },
        What::List { delegation, scope, answer } => match answer {
            Ok(listed) => {
                let tasks: Vec<String> = listed.tasks.iter().map(task).collect();
                format!("list {scope:?} for {delegation}: {tasks:?}, {} strangers", listed.strangers)
            }
            Err(why) => format!("list for {delegation}: {:?}", why.class),
        },
        What::Booking { delegation, reads } => format!("bookings of {delegation}: {}", bookings(reads)),
        What::Undo { compensation, number, answer } => {
            format!("call {number} of undo {compensation}: {answer:?}")
        }
        other => format!("{other:?}"),
    }
}

fn bookings(reads: &[(String, domain::booking::BookingRead)]) -> String {
    use domain::booking::BookingRead;
    let one = |read: &BookingRead| match read {
        BookingRead::Found(records) => {
            records.iter().map(|r| format!("{} {:?}", r.confirmation, r.state)).collect::<Vec<_>>().join(", ")
        }
        BookingRead::Absent => "none".to_owned(),
        BookingRead::Unknown(why) => format!("cannot tell ({why})"),
    };
    reads.iter().map(|(_, read)| one(read)).collect::<Vec<_>>().join("; ")
}
