//! What a gateway does.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;

use bytes::Bytes;
use ratewire_acp::{Config, Connection, Endpoint, Frame};
use ratewire_framing::Expect;
use ratewire_gateway::{Message, Reply, RequestFrame, read_replies};

use super::{acp, local};

/// A connection with a member.
pub struct Peer {
    connection: Connection,
    _endpoint: Endpoint,
    next: Cell<u64>,
    /// Replies that nobody has asked for yet, by their exchanges.
    replies: RefCell<BTreeMap<u64, VecDeque<Reply>>>,
    /// Bytes of the longest frame that came.
    pub longest: Cell<usize>,
}

impl Peer {
    pub async fn new(member: SocketAddr) -> Peer {
        Peer::with(member, acp()).await
    }

    pub async fn with(member: SocketAddr, config: Config) -> Peer {
        let endpoint = Endpoint::client(local(), config).expect("an endpoint");
        let connection = endpoint.connect(member).await.expect("a member");
        Peer {
            connection,
            _endpoint: endpoint,
            next: Cell::new(0),
            replies: RefCell::default(),
            longest: Cell::new(0),
        }
    }

    pub async fn tell(&self, message: Message) -> u64 {
        let id = self.next.replace(self.next.get() + 1);
        self.connection.send(Frame::new(id, message.encode())).await.expect("a connection");
        id
    }

    pub async fn ask(&self, bytes: impl Into<Bytes>) -> u64 {
        self.tell(Message::Request(request(bytes, 0))).await
    }

    /// Begins a request, whose answer is expected as the code says.
    pub async fn begin(&self, bytes: impl Into<Bytes>, expect: u8) -> u64 {
        self.tell(Message::Begin(request(bytes, expect))).await
    }

    pub async fn more(&self, exchange: u64, bytes: impl Into<Bytes>, is_last: bool) {
        self.tell(Message::More { exchange, is_last, bytes: bytes.into() }).await;
    }

    pub async fn give(&self, exchange: u64, bytes: u64) {
        self.tell(Message::Credit { exchange, bytes }).await;
    }

    /// The next reply of an exchange.
    pub async fn reply(&self, exchange: u64) -> Reply {
        loop {
            let known = self.replies.borrow_mut().entry(exchange).or_default().pop_front();
            match known {
                Some(reply) => return reply,
                None => self.receive().await,
            }
        }
    }

    async fn receive(&self) {
        let frame = self.connection.receive().await.expect("a connection").expect("a member");
        self.longest.set(self.longest.get().max(frame.data.len()));
        for (exchange, reply) in read_replies(frame.data).expect("replies") {
            self.replies.borrow_mut().entry(exchange).or_default().push_back(reply);
        }
    }

    /// Replies of an exchange that have come with those of others.
    pub fn known(&self, exchange: u64) -> Vec<Reply> {
        self.replies.borrow_mut().remove(&exchange).unwrap_or_default().into()
    }

    /// The whole answer, for which credit is given as it comes, and whether the connection closes
    /// after it.
    ///
    /// # Errors
    /// Why there is none, or no more of it.
    pub async fn answer(&self, exchange: u64) -> Result<(Vec<u8>, bool), String> {
        let mut all = Vec::new();
        loop {
            match self.reply(exchange).await {
                Reply::Answer { bytes, closes } => {
                    all.extend_from_slice(&bytes);
                    return Ok((all, closes));
                }
                Reply::More(bytes) => {
                    all.extend_from_slice(&bytes);
                    self.give(exchange, bytes.len() as u64).await;
                }
                Reply::Failed(why) => return Err(String::from_utf8_lossy(&why).into_owned()),
                Reply::Credit(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The answer to a request, as text.
    pub async fn text(&self, exchange: u64) -> String {
        let answer = self.answer(exchange).await;
        String::from_utf8(answer.unwrap_or_else(|why| panic!("{why}")).0).expect("text")
    }

    /// The body of an answer over HTTP.
    pub async fn body(&self, exchange: u64) -> String {
        let text = self.text(exchange).await;
        text.split_once("\r\n\r\n").expect("a head").1.to_string()
    }

    /// Sends no more, as a gateway that stops.
    pub fn finish(&self) {
        self.connection.finish().expect("a connection");
    }
}

fn request(bytes: impl Into<Bytes>, expect: u8) -> RequestFrame {
    RequestFrame { key: 0, expect: Expect::from_code(expect), bytes: bytes.into() }
}

pub fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n")
}
