//! One address of the world: a listener that can be closed and opened again, and connections that
//! can be cut. A closed site refuses connections, and those that were open break.

use anyhow::{Context, Result};
use axum::Router;
use axum::extract::connect_info::Connected;
use axum::serve::{IncomingStream, Listener};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::PoisonError;
use std::task::{Context as TaskContext, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// A name, a port of 127.0.0.1 and what is served there.
#[derive(Debug)]
pub struct Site {
    /// What people call it.
    pub name: String,
    /// Its port, the same over restarts.
    pub port: u16,
    router: std::sync::Mutex<Router>,
    open: Mutex<Option<Open>>,
}

#[derive(Debug)]
struct Open {
    cut: CancellationToken,
    served: JoinHandle<()>,
}

impl Site {
    /// A site that is not open yet.
    pub fn new(name: &str, port: u16, router: Router) -> Self {
        Self { name: name.to_owned(), port, router: std::sync::Mutex::new(router), open: Mutex::new(None) }
    }

    /// Serves something else from the next opening on.
    pub fn serve_next(&self, router: Router) {
        *self.router.lock().unwrap_or_else(PoisonError::into_inner) = router;
    }

    /// Begins to listen; nothing happens where it listens already.
    pub async fn open(&self) -> Result<()> {
        let mut open = self.open.lock().await;
        if open.is_some() {
            return Ok(());
        }
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, self.port))
            .await
            .with_context(|| format!("{} cannot listen on 127.0.0.1:{}", self.name, self.port))?;
        let cut = CancellationToken::new();
        let router = self.router.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let service = router.into_make_service_with_connect_info::<Connection>();
        let serving = axum::serve(CuttableListener { inner: listener, site: cut.clone() }, service);
        let stop = cut.clone();
        let served = tokio::spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                ended = serving.into_future() => if let Err(error) = ended {
                    tracing::error!(%error, "a listener ended");
                },
            }
        });
        *open = Some(Open { cut, served });
        Ok(())
    }

    /// Stops listening and cuts what is open. When it returns, connections are refused.
    pub async fn close(&self) {
        if let Some(open) = self.open.lock().await.take() {
            open.cut.cancel();
            if let Err(error) = open.served.await {
                tracing::error!(%error, "a listener did not stop well");
            }
        }
    }

    /// Whether it listens.
    pub async fn is_open(&self) -> bool {
        self.open.lock().await.is_some()
    }
}

/// The connection that a request came in on, so that a fault can cut it.
#[derive(Clone, Debug)]
pub struct Connection(CancellationToken);

impl Connection {
    /// Cuts it: the client sees the connection break.
    pub fn cut(&self) {
        self.0.cancel();
    }
}

impl Connected<IncomingStream<'_, CuttableListener>> for Connection {
    fn connect_info(stream: IncomingStream<'_, CuttableListener>) -> Self {
        Self(stream.io().cut.clone())
    }
}

/// A listener whose connections end with it.
#[derive(Debug)]
pub struct CuttableListener {
    inner: TcpListener,
    site: CancellationToken,
}

impl Listener for CuttableListener {
    type Io = CuttableStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (inner, address) = Listener::accept(&mut self.inner).await;
        if let Err(error) = inner.set_nodelay(true) {
            tracing::debug!(%error, "no TCP_NODELAY");
        }
        let cut = self.site.child_token();
        let wait = Box::pin(cut.clone().cancelled_owned());
        (CuttableStream { inner, cut, wait }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.inner.local_addr()
    }
}

/// A TCP stream that breaks when it is told to.
#[derive(Debug)]
pub struct CuttableStream {
    inner: TcpStream,
    cut: CancellationToken,
    wait: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl CuttableStream {
    fn poll_cut(&mut self, cx: &mut TaskContext<'_>) -> io::Result<()> {
        if self.cut.is_cancelled() || self.wait.as_mut().poll(cx).is_ready() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        Ok(())
    }
}

impl AsyncRead for CuttableStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.poll_cut(cx)?;
        Pin::new(&mut self.inner).poll_read(cx, buffer)
    }
}

impl AsyncWrite for CuttableStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_cut(cx)?;
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
