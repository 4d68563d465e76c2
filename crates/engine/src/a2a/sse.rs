//! The bytes of a stream, bounded before they are framed (faults.md F-15, F-40).
//!
//! `eventsource-stream` keeps a line until it ends and an event until its blank line, however
//! long, and reads an unfinished line again with each chunk. So it is fed whole lines only:
//! [`Lines`] cuts them at LF, CR or CRLF (also one split over two reads), drops comments, counts
//! what one event holds, and gives up at the limit. At a clean end the last event is closed,
//! since some servers leave out its blank line. A byte order mark is taken off here too:
//! `eventsource-stream` 0.2.3 panics on one.

use bytes::Bytes;
use eventsource_stream::{Event, Eventsource};
use futures::stream::{self, BoxStream, Stream, StreamExt};

/// The events of a byte stream, each at most `limit` bytes. An error is the last item.
pub(crate) fn events<S>(bytes: S, limit: usize) -> BoxStream<'static, Result<Event, String>>
where
    S: Stream<Item = Result<Bytes, String>> + Send + 'static,
{
    let start = Some((Box::pin(bytes), Lines::new(limit)));
    let lines = stream::unfold(start, async |state| {
        let (mut bytes, mut lines) = state?;
        loop {
            let whole = match bytes.next().await {
                Some(Ok(chunk)) => lines.add(&chunk),
                Some(Err(error)) => Err(error),
                None => return Some((Ok(lines.end()), None)),
            };
            match whole {
                Ok(whole) if whole.is_empty() => {}
                Ok(whole) => return Some((Ok(whole), Some((bytes, lines)))),
                Err(error) => return Some((Err(error), None)),
            }
        }
    });
    lines.eventsource().map(|event| event.map_err(|error| error.to_string())).boxed()
}

/// Cuts bytes into whole lines.
struct Lines {
    line: Vec<u8>,
    event: usize,
    after_cr: bool,
    started: bool,
    limit: usize,
}

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

impl Lines {
    fn new(limit: usize) -> Self {
        Self { line: Vec::new(), event: 0, after_cr: false, started: false, limit }
    }

    /// The lines that these bytes complete, each ended by LF.
    fn add(&mut self, chunk: &[u8]) -> Result<Vec<u8>, String> {
        let mut whole = Vec::new();
        for byte in chunk {
            let second_half = self.after_cr && *byte == b'\n';
            self.after_cr = *byte == b'\r';
            match byte {
                _ if second_half => {}
                b'\r' | b'\n' => self.end_line(&mut whole),
                _ if self.event + self.line.len() >= self.limit => {
                    return Err(format!("an event is larger than {} bytes", self.limit));
                }
                _ => self.line.push(*byte),
            }
        }
        Ok(whole)
    }

    fn end_line(&mut self, whole: &mut Vec<u8>) {
        if !self.started {
            self.started = true;
            // An empty line comes first, so that no line that begins with a mark ever does.
            whole.push(b'\n');
            if self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
        }
        if self.line.is_empty() {
            self.event = 0;
        }
        if self.line.first() != Some(&b':') {
            self.event += self.line.len();
            whole.append(&mut self.line);
            whole.push(b'\n');
        }
        self.line.clear();
    }

    /// What closes the last event.
    fn end(&mut self) -> Vec<u8> {
        let mut whole = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut whole);
        }
        whole.push(b'\n');
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(chunks: Vec<Vec<u8>>, limit: usize) -> Vec<Result<String, String>> {
        let bytes = stream::iter(chunks.into_iter().map(|chunk| Ok(Bytes::from(chunk))));
        events(bytes, limit).map(|event| event.map(|event| event.data)).collect().await
    }

    #[tokio::test]
    async fn legal_framing_gives_the_same_events_whole_and_byte_by_byte() {
        let expected = vec![Ok("{\"a\":\n\"é\"}".to_owned()), Ok("2".to_owned()), Ok("3".to_owned())];
        let text = "\u{feff}: ping\nevent: x\nid: 7\nretry: 5\ndata:{\"a\":\ndata: \"é\"}\n\n: ping\n\ndata: 2\n\ndata: 3";
        for end in ["\n", "\r", "\r\n"] {
            let bytes = text.replace('\n', end).into_bytes();
            assert_eq!(read(vec![bytes.clone()], 200).await, expected, "{end:?}");
            let single = bytes.iter().map(|byte| vec![*byte]).collect();
            assert_eq!(read(single, 200).await, expected, "{end:?} byte by byte");
        }
    }

    #[tokio::test]
    async fn a_byte_order_mark_is_harmless_wherever_it_stands() {
        for text in ["\u{feff}\u{feff}data: 1\n\n", ": x\n\u{feff}data: 1\n\n", "\u{feff}", "\n\u{feff}\n"] {
            assert_eq!(read(vec![text.into()], 200).await, [], "{text:?}");
        }
    }

    #[tokio::test]
    async fn what_never_ends_is_given_up_at_the_limit() {
        for start in ["data: ", ": ", "x"] {
            let mut chunks = vec![start.as_bytes().to_vec()];
            chunks.extend(std::iter::repeat_n(vec![b'x'; 64], 100));
            let read = read(chunks, 1000).await;
            assert_eq!(read.len(), 1);
            assert!(read[0].is_err(), "{start}");
        }
        let many_lines = vec![b"data: 0123456789\n".to_vec(); 100];
        assert!(read(many_lines, 1000).await[0].is_err());
        let pings = vec![b": ping\n".to_vec(); 1000];
        assert_eq!(read(pings, 1000).await, []);
    }
}
