//! Servers that do what a test says.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;

use super::local;

/// A server, and how many connections it has accepted.
pub struct Server {
    pub address: SocketAddr,
    pub accepted: Rc<Cell<usize>>,
    /// Heads that were read.
    pub asked: Rc<RefCell<Vec<String>>>,
}

/// A client of a server.
pub struct Client {
    pub stream: BufReader<TcpStream>,
    /// Number of the connection, from 1 on.
    pub number: usize,
    asked: Rc<RefCell<Vec<String>>>,
}

impl Client {
    /// The head of the next request; `None` at the end.
    pub async fn head(&mut self) -> Option<String> {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = self.stream.read_line(&mut head).await.unwrap_or(0);
            if read == 0 {
                return None;
            }
        }
        self.asked.borrow_mut().push(head.clone());
        Some(head)
    }

    pub async fn write(&mut self, bytes: impl AsRef<[u8]>) {
        // A member that has gone away is what some tests want.
        _ = self.stream.get_mut().write_all(bytes.as_ref()).await;
    }

    /// An answer with a body.
    pub async fn answer(&mut self, body: &str) {
        let length = body.len();
        self.write(format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}")).await;
    }

    /// Bytes behind what was read, until the end.
    pub async fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        _ = self.stream.read_to_end(&mut rest).await;
        rest
    }
}

/// The target of a request with this head.
pub fn target(head: &str) -> &str {
    head.split(' ').nth(1).expect("a target")
}

/// Serves each connection as told.
pub async fn server<F: Future<Output = ()> + 'static>(
    serve: impl Fn(Client) -> F + 'static,
) -> Server {
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    let (accepted, asked) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
    let server = Server { address, accepted: Rc::clone(&accepted), asked: Rc::clone(&asked) };
    spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            accepted.set(accepted.get() + 1);
            let (stream, asked) = (BufReader::new(stream), Rc::clone(&asked));
            spawn_local(serve(Client { stream, number: accepted.get(), asked }));
        }
    });
    server
}
