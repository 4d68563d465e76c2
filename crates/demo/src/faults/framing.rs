//! Server-sent events: taken apart, and put together in every legal way.

use super::{Fault, FaultChoice, is_chosen};

/// What stands between two blank lines of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// An event's data.
    Data(String),
    /// Something else, as it came: a comment.
    Other(String),
}

/// Takes the first whole block off what was received.
pub fn take_block(received: &mut Vec<u8>) -> Option<Block> {
    let end = received.windows(2).position(|pair| pair == b"\n\n")?;
    let rest = received.split_off(end + 2);
    let block = std::mem::replace(received, rest);
    let text = String::from_utf8_lossy(&block).into_owned();
    let data: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("data:")).collect();
    if data.is_empty() {
        return Some(Block::Other(text));
    }
    let lines: Vec<&str> = data.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    Some(Block::Data(lines.join("\n")))
}

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Framing {
    end: &'static str,
    space: &'static str,
    bom: bool,
    comments: bool,
    multi_line: bool,
    fields: bool,
    final_blank: bool,
    /// Whether they go out byte by byte.
    pub bytewise: bool,
}

impl Framing {
    /// The framing that was chosen.
    pub fn of(faults: &[FaultChoice]) -> Self {
        let on = |fault| is_chosen(faults, fault);
        Self {
            end: if on(Fault::SseCrlf) {
                "\r\n"
            } else if on(Fault::SseCr) {
                "\r"
            } else {
                "\n"
            },
            space: if on(Fault::SseNoSpace) { "" } else { " " },
            bom: on(Fault::SseBom),
            comments: on(Fault::SseComments),
            multi_line: on(Fault::SseMultiLine),
            fields: on(Fault::SseFields),
            final_blank: !on(Fault::SseNoFinalBlank),
            bytewise: on(Fault::SseBytewise),
        }
    }

    /// What a stream begins with.
    pub fn opening(&self) -> String {
        let bom = if self.bom { "\u{feff}" } else { "" };
        let comment = if self.comments { format!(": opened{0}{0}", self.end) } else { String::new() };
        format!("{bom}{comment}")
    }

    /// The `number`th event of a stream.
    pub fn event(&self, number: usize, data: &str, is_last: bool) -> String {
        let mut lines = Vec::new();
        if self.comments {
            lines.push(": ping".to_owned());
        }
        if self.fields {
            lines.push("event: message".to_owned());
            lines.push("retry: 3000".to_owned());
            lines.push("colour: blue".to_owned());
        }
        lines.push(format!("id: {number}"));
        let pretty = self.multi_line.then(|| pretty(data)).flatten();
        for line in pretty.as_deref().unwrap_or(data).lines() {
            lines.push(format!("data:{}{line}", self.space));
            if self.comments {
                lines.push(":".to_owned());
            }
        }
        let blank = if is_last && !self.final_blank { "" } else { self.end };
        format!("{}{}{blank}", lines.join(self.end), self.end)
    }
}

fn pretty(data: &str) -> Option<String> {
    let json: serde_json::Value = serde_json::from_str(data).ok()?;
    serde_json::to_string_pretty(&json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_taken_apart() {
        let mut received = b": ping\n\nid: 1\ndata: {\"a\":1}\n\nid".to_vec();
        assert_eq!(take_block(&mut received), Some(Block::Other(": ping\n\n".into())));
        assert_eq!(take_block(&mut received), Some(Block::Data("{\"a\":1}".into())));
        assert_eq!(take_block(&mut received), None);
    }

    #[test]
    fn every_framing_can_be_combined() {
        let all = [Fault::SseCrlf, Fault::SseMultiLine, Fault::SseNoSpace, Fault::SseNoFinalBlank];
        let faults: Vec<_> = all.iter().map(|fault| FaultChoice::new(*fault, "*")).collect();
        let framing = Framing::of(&faults);
        let event = framing.event(7, r#"{"a":1}"#, true);
        assert_eq!(event, "id: 7\r\ndata:{\r\ndata:  \"a\": 1\r\ndata:}\r\n");
    }
}
