//! A client of a daemon, without the client library: tests choose every byte.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use ratewire_groups::spread::{
    Acceptance, ByteOrder, GroupName, Hello, Membership, Message, PrivateName, Received, Refusal,
    Request, Version, choice, offer,
};
use ratewire_overlay::membership::Service;
use socket2::SockRef;

/// Time after which a test counts as hanging.
pub const HANG: Duration = Duration::from_secs(100);

/// A connection to a daemon.
pub enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

/// Calls a method that both kinds of streams have.
macro_rules! either {
    ($stream:expr, $it:ident => $call:expr) => {
        match $stream {
            Stream::Tcp($it) => $call,
            Stream::Unix($it) => $call,
        }
    };
}

impl Stream {
    pub fn unix(path: &Path) -> Stream {
        Stream::Unix(UnixStream::connect(path).unwrap()).with_deadline()
    }

    pub fn tcp(address: SocketAddr) -> Stream {
        Stream::Tcp(TcpStream::connect(address).unwrap()).with_deadline()
    }

    fn with_deadline(self) -> Stream {
        either!(&self, it => it.set_read_timeout(Some(HANG))).unwrap();
        either!(&self, it => it.set_write_timeout(Some(HANG))).unwrap();
        self
    }

    pub fn write(&mut self, bytes: &[u8]) {
        either!(self, it => it.write_all(bytes)).unwrap();
    }

    /// The same connection once more, for another thread.
    fn again(&self) -> Stream {
        match self {
            Stream::Tcp(stream) => Stream::Tcp(stream.try_clone().unwrap()),
            Stream::Unix(stream) => Stream::Unix(stream.try_clone().unwrap()),
        }
    }

    /// Size of the buffer for what is sent.
    pub fn send_buffer(&self) -> usize {
        either!(self, it => SockRef::from(it).send_buffer_size()).unwrap()
    }

    /// Writes what the socket takes without waiting.
    pub fn write_now(&mut self, bytes: &[u8]) -> io::Result<usize> {
        either!(self, it => it.set_nonblocking(true)).unwrap();
        let written = either!(self, it => it.write(bytes));
        either!(self, it => it.set_nonblocking(false)).unwrap();
        written
    }

    /// Ends one direction, or both.
    pub fn shutdown(&self, how: Shutdown) {
        either!(self, it => it.shutdown(how)).unwrap();
    }

    /// Waits for as many bytes.
    pub fn read(&mut self, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        either!(self, it => it.read_exact(&mut bytes)).unwrap();
        bytes
    }

    /// What comes until the daemon ends the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match either!(self, it => it.read_to_end(&mut rest)) {
            // Bytes that the daemon has not read make a reset of the end.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            result => _ = result.unwrap(),
        }
        rest
    }

    /// Appends what has come to a buffer; false at the end of the connection.
    pub fn read_some(&mut self, buffer: &mut BytesMut) -> bool {
        let mut chunk = [0; 1 << 16];
        let size = match either!(self, it => it.read(&mut chunk)) {
            Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
            size => size.unwrap(),
        };
        buffer.extend_from_slice(&chunk[..size]);
        size > 0
    }
}

/// A client that is connected.
pub struct Client {
    pub stream: Stream,
    pub name: PrivateName,
    buffer: BytesMut,
    order: ByteOrder,
}

pub fn group(name: &str) -> GroupName {
    name.parse().unwrap()
}

impl Client {
    /// Connects to a Unix socket.
    pub fn connect(path: &Path, name: &str, membership: bool) -> Client {
        Client::try_connect(path, name, membership)
            .unwrap_or_else(|refusal| panic!("{name}: {refusal}"))
    }

    pub fn try_connect(path: &Path, name: &str, membership: bool) -> Result<Client, Refusal> {
        let name = (!name.is_empty()).then(|| name.parse().unwrap());
        let hello = Hello { version: Version::NEWEST, membership, priority: 0, name };
        Client::introduce(Stream::unix(path), &hello, ByteOrder::NATIVE)
    }

    /// Introduces a client.
    pub fn introduce(
        mut stream: Stream,
        hello: &Hello,
        order: ByteOrder,
    ) -> Result<Client, Refusal> {
        stream.write(&hello.encode());
        if hello.version.authenticates() {
            let first = stream.read(1);
            if first[0] != offer()[0] {
                return Err(refusal(first[0]));
            }
            assert_eq!(stream.read(offer().len() - 1), offer()[1..]);
            stream.write(&choice());
        }
        let mut buffer = BytesMut::new();
        loop {
            if let Some(acceptance) = Acceptance::parse(&mut buffer, hello.version)? {
                return Ok(Client { stream, name: acceptance.name, buffer, order });
            }
            assert!(stream.read_some(&mut buffer), "the daemon has ended the handshake");
        }
    }

    /// The client once more, to send in another thread.
    pub fn sender(&self) -> Client {
        let (name, order) = (self.name, self.order);
        Client { stream: self.stream.again(), name, buffer: BytesMut::new(), order }
    }

    /// The bytes of a request.
    pub fn encode(&self, request: &Request) -> Bytes {
        request.encode(&self.name, self.order)
    }

    pub fn send(&mut self, request: &Request) {
        let bytes = self.encode(request);
        self.stream.write(&bytes);
    }

    pub fn join(&mut self, name: &str) {
        self.send(&Request::Join(group(name)));
    }

    pub fn leave(&mut self, name: &str) {
        self.send(&Request::Leave(group(name)));
    }

    pub fn say(&mut self, service: Service, groups: &[&str], text: impl Into<Bytes>) {
        let groups: Vec<GroupName> = groups.iter().map(|name| group(name)).collect();
        let mut message = Message::new(service, &groups, 0, text.into());
        message.order = self.order;
        self.send(&Request::Multicast(message));
    }

    /// What the daemon sends next; `None` at the end of the connection.
    pub fn next(&mut self) -> Option<Received> {
        loop {
            if let Some(received) = Received::parse(&mut self.buffer).unwrap() {
                return Some(received);
            }
            if !self.stream.read_some(&mut self.buffer) {
                assert!(self.buffer.is_empty(), "the connection ends in a message");
                return None;
            }
        }
    }

    pub fn receive(&mut self) -> Received {
        self.next().unwrap_or_else(|| panic!("{} is disconnected", self.name))
    }

    /// The next message, and its sender.
    pub fn message(&mut self) -> (PrivateName, Message) {
        match self.receive() {
            Received::Message { sender, message } => (sender, message),
            other => panic!("{}: {other:?} instead of a message", self.name),
        }
    }

    /// Text of the next message.
    pub fn text(&mut self) -> String {
        String::from_utf8(self.message().1.data.to_vec()).unwrap()
    }

    pub fn membership(&mut self) -> Membership {
        match self.receive() {
            Received::Membership(membership) => membership,
            other => panic!("{}: {other:?} instead of a membership", self.name),
        }
    }

    /// Joins a group, and waits until the client is a member. No other notices may come.
    pub fn enter(&mut self, name: &str) -> Membership {
        self.join(name);
        let membership = self.membership();
        assert_eq!(membership.group, group(name));
        membership
    }

    /// Waits until a group has these members, and returns the notice.
    pub fn until_members(&mut self, name: &str, members: &[PrivateName]) -> Membership {
        let mut wanted = members.to_vec();
        wanted.sort_unstable();
        loop {
            let Received::Membership(membership) = self.receive() else { continue };
            let mut members = membership.members.clone();
            members.sort_unstable();
            if membership.group == group(name) && members == wanted {
                return membership;
            }
        }
    }

    /// Asserts that nothing more has come for the client.
    pub fn assert_nothing_more(&mut self) {
        let name = self.name.to_string();
        self.say(Service::Agreed, &[&name], "nothing more");
        assert_eq!(self.text(), "nothing more");
    }
}

/// The refusal in a byte.
pub fn refusal(byte: u8) -> Refusal {
    let result = Acceptance::parse(&mut BytesMut::from(&[byte][..]), Version::NEWEST);
    result.expect_err("the byte is no refusal")
}
