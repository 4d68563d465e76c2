//! Waiting until a service answers.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::signals;

const PAUSE: Duration = Duration::from_millis(50);
const ANSWER_LIMIT: Duration = Duration::from_secs(2);

/// Asks `ready` again and again until it says yes or the time is over; says which.
pub fn wait_for(limit: Duration, mut ready: impl FnMut() -> Result<bool>) -> Result<bool> {
    let begun = Instant::now();
    while begun.elapsed() < limit {
        if signals::stop_asked() {
            return Err(signals::stopped());
        }
        if ready()? {
            return Ok(true);
        }
        sleep(PAUSE);
    }
    Ok(false)
}

/// Whether anybody listens there.
pub fn is_taken(address: SocketAddr) -> bool {
    TcpStream::connect_timeout(&address, ANSWER_LIMIT).is_ok()
}

/// Whether `GET /healthz` is answered with 200.
pub fn is_healthy(address: SocketAddr) -> bool {
    status(address).is_ok_and(|line| line.starts_with("HTTP/1.1 200") || line.starts_with("HTTP/1.0 200"))
}

fn status(address: SocketAddr) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_LIMIT)?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    stream.set_write_timeout(Some(ANSWER_LIMIT))?;
    write!(stream, "GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut start = [0; 12];
    stream.read_exact(&mut start)?;
    Ok(String::from_utf8_lossy(&start).into_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::thread;

    use super::*;

    fn answering(answer: &'static str) -> SocketAddr {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a caller");
            let mut request = [0; 512];
            let _ = stream.read(&mut request);
            stream.write_all(answer.as_bytes()).expect("sent");
        });
        address
    }

    #[test]
    fn only_200_is_healthy() {
        assert!(is_healthy(answering("HTTP/1.1 200 OK\r\n\r\nok")));
        assert!(!is_healthy(answering("HTTP/1.1 503 Service Unavailable\r\n\r\n")));
        assert!(!is_healthy(answering("no HTTP at all")));
    }

    #[test]
    fn waiting_ends() {
        let mut asked = 0;
        let third = wait_for(Duration::from_secs(5), || {
            asked += 1;
            Ok(asked == 3)
        });
        assert!(third.expect("no error"));
        assert!(!wait_for(Duration::from_millis(1), || Ok(false)).expect("no error"));
    }
}
