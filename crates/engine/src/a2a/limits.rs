//! How much of an outside answer we read (DESIGN.md §13, faults.md F-40). Memory stays flat
//! whatever the other side sends: each limit is enforced before the bytes are kept.

use std::time::Duration;

/// The limits of one answer. They hold for ordinary answers and for streams alike.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long connecting may take: name, TCP and TLS.
    pub connect: Duration,
    /// How long one read may take as a whole. Sends bring their own limit.
    pub read: Duration,
    /// How long all pages of one list may take together.
    pub list: Duration,
    /// Bytes of one body. No compression is offered, so this is also its size unpacked.
    pub body_bytes: usize,
    /// Bytes of one event on a stream, and of one of its lines.
    pub event_bytes: usize,
    /// How deep JSON may be nested.
    pub json_depth: usize,
    /// Pages of one list.
    pub pages: usize,
    /// Tasks of one list.
    pub tasks: usize,
    /// Characters (as bytes of UTF-8) kept of one text.
    pub text_bytes: usize,
    /// Artifacts kept of one task.
    pub artifacts: usize,
    /// Ids of messages kept of one task's history.
    pub history: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            read: Duration::from_secs(10),
            list: Duration::from_secs(60),
            body_bytes: 8 << 20,
            event_bytes: 1 << 20,
            json_depth: 64,
            pages: 100,
            tasks: 10_000,
            text_bytes: 64 << 10,
            artifacts: 200,
            history: 1_000,
        }
    }
}

/// Whether JSON text is nested no deeper than `deepest`, told without building it.
pub(crate) fn shallow(json: &[u8], deepest: usize) -> bool {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for byte in json {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (_, b'"') => in_text = !in_text,
            (false, b'[' | b'{') => {
                depth += 1;
                if depth > deepest {
                    return false;
                }
            }
            (false, b']' | b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    true
}

/// At most `bytes` of a text, cut between characters, and without NUL, which no journal stores.
pub(crate) fn cut(text: &str, bytes: usize) -> String {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].replace('\0', "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_brackets_outside_texts_only() {
        assert!(shallow(br#"{"a":"[[[[[\"[[["}"#, 1));
        assert!(!shallow(br#"{"a":[1]}"#, 1));
        assert!(!shallow("[".repeat(10_000).as_bytes(), 64));
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("a\0b", 9), "a\u{fffd}b");
    }
}
