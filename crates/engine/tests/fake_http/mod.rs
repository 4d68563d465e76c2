//! A server that answers with whatever bytes a test wants, one request per connection unless
//! told otherwise, and that remembers what it was asked.

use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One request as it came.
#[derive(Clone, Debug)]
pub struct Request {
    pub head: String,
    pub body: String,
}

#[allow(dead_code, reason = "each test file uses its part")]
impl Request {
    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("a JSON body")
    }
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
    /// Method and target.
    pub fn line(&self) -> &str {
        self.head.lines().next().unwrap_or_default()
    }
}

/// What the server does after it has read a request.
#[derive(Clone, Debug)]
#[allow(dead_code, reason = "each test file uses its part")]
pub enum Then {
    /// Writes these bytes and closes.
    Close(Vec<u8>),
    /// Writes these bytes and resets the connection.
    Reset(Vec<u8>),
    /// Writes these bytes and stays silent with the connection open.
    Hang(Vec<u8>),
}

/// The server, which ends with the test's runtime.
pub struct Fake {
    pub url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Fake {
    /// Starts it; `answer` sees each request and its number.
    pub async fn start(answer: impl Fn(&Request, usize) -> Then + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/rpc", listener.local_addr().expect("an address"));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&seen), Arc::clone(&answer)));
            }
        });
        Self { url, requests }
    }

    /// What it was asked so far.
    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().expect("not poisoned").clone()
    }
}

async fn serve<A>(mut stream: TcpStream, seen: Arc<Mutex<Vec<Request>>>, answer: Arc<A>)
where
    A: Fn(&Request, usize) -> Then + Send + Sync + 'static,
{
    let Some(request) = read(&mut stream).await else { return };
    let number = {
        let mut seen = seen.lock().expect("not poisoned");
        seen.push(request.clone());
        seen.len() - 1
    };
    match answer(&request, number) {
        Then::Close(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.shutdown().await;
        }
        Then::Reset(bytes) => {
            let _ = stream.write_all(&bytes).await;
            let _ = stream.set_zero_linger();
        }
        Then::Hang(bytes) => {
            let _ = stream.write_all(&bytes).await;
            std::future::pending::<()>().await;
        }
    }
}

async fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let request = Request { head: head.to_owned(), body: body.to_owned() };
            let length = request.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
            if body.len() >= length {
                return Some(request);
            }
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&chunk[..count]),
        }
    }
}

/// A whole HTTP answer.
pub fn http(status: u16, headers: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}")
        .into_bytes()
}

/// A whole HTTP answer in JSON.
pub fn json(status: u16, body: &str) -> Vec<u8> {
    http(status, "Content-Type: application/json\r\n", body)
}
