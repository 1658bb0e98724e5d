//! A connection of an asynchronous program.

use bytes::{Bytes, BytesMut};
use ratewire_overlay::membership::Service;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

use super::address::Address;
use super::error::Error;
use super::handshake::{Handshake, Options, READ_SIZE, Step};
use crate::spread::{ByteOrder, GroupName, Message, PrivateName, Received, Request};

/// Bytes of requests from which [`Sender::feed`] writes before it takes another.
const FEED_SIZE: usize = 1 << 16;

/// A connection to a daemon.
///
/// Dropping a connection ends it, and may lose messages that the daemon has not read yet.
/// [`disconnect`](Connection::disconnect) loses none.
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
}

/// The half of a connection that sends. The connection ends when this half is dropped.
///
/// # Flow control
/// A call waits while the daemon does not read. The daemon reads nothing from a client that sends
/// more than the members of its groups, and the links to them, can take. Dropping a call that waits
/// leaves the connection usable: the next call writes the rest.
///
/// # Throughput
/// [`send`](Sender::send) calls the kernel for each request. A program that sends many small
/// messages calls [`feed`](Sender::feed) for each and [`flush`](Sender::flush) after the last.
pub struct Sender {
    name: PrivateName,
    writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// Bytes of requests that are not written yet.
    unwritten: BytesMut,
}

/// The half of a connection that receives.
pub struct Receiver {
    reader: Box<dyn AsyncRead + Send + Unpin>,
    buffer: BytesMut,
}

impl Connection {
    /// Connects to a daemon.
    ///
    /// # Errors
    /// If no daemon can be reached there, or the daemon does not accept the client.
    pub async fn connect(address: &Address, options: Options) -> Result<Connection, Error> {
        let (reader, mut writer) = open(address).await?;
        let mut receiver = Receiver { reader, buffer: BytesMut::new() };
        let (mut handshake, mut next) = Handshake::start(options);
        loop {
            writer.write_all(&next).await.map_err(Error::Connection)?;
            next = loop {
                match handshake.step(&mut receiver.buffer)? {
                    Step::Read => receiver.read().await?,
                    Step::Send(bytes) => break bytes,
                    Step::Done(name) => {
                        let sender = Sender { name, writer, unwritten: BytesMut::new() };
                        return Ok(Connection { sender, receiver });
                    }
                }
            };
        }
    }

    /// The client's private name: what others send to it reaches this client only.
    pub fn private_name(&self) -> PrivateName {
        self.sender.name
    }

    /// Asks to become a member of a group. The group's messages arrive after the notice that the
    /// client has joined.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn join(&mut self, group: GroupName) -> Result<(), Error> {
        self.sender.join(group).await
    }

    /// Asks to be no longer a member of a group.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn leave(&mut self, group: GroupName) -> Result<(), Error> {
        self.sender.leave(group).await
    }

    /// Sends data to groups, with a number for the application's use. Waits while the daemon does
    /// not read (see [`Sender`]).
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn multicast(
        &mut self,
        service: Service,
        groups: &[GroupName],
        kind: i16,
        data: impl Into<Bytes>,
    ) -> Result<(), Error> {
        self.sender.multicast(service, groups, kind, data).await
    }

    /// Sends a request.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn send(&mut self, request: &Request) -> Result<(), Error> {
        self.sender.send(request).await
    }

    /// Waits for what the daemon sends next.
    ///
    /// # Errors
    /// If the connection fails or ends, or the daemon breaks the protocol.
    pub async fn receive(&mut self) -> Result<Received, Error> {
        self.receiver.receive().await
    }

    /// Splits the connection, for a program that sends in one task and receives in another. To end
    /// the connection, such a program sends [`Request::Disconnect`].
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// Ends the connection after the daemon has read what was sent. What the daemon sends in the
    /// meantime is lost.
    ///
    /// # Errors
    /// If the connection fails before.
    pub async fn disconnect(self) -> Result<(), Error> {
        let (mut sender, mut receiver) = self.split();
        // Closing a socket with unread bytes resets the connection and discards what was sent.
        let drain = async {
            while receiver.read().await.is_ok() {
                receiver.buffer.clear();
            }
        };
        tokio::join!(sender.send(&Request::Disconnect), drain).0
    }
}

impl Sender {
    /// The client's private name.
    pub fn private_name(&self) -> PrivateName {
        self.name
    }

    /// Asks to become a member of a group.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn join(&mut self, group: GroupName) -> Result<(), Error> {
        self.send(&Request::Join(group)).await
    }

    /// Asks to be no longer a member of a group.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn leave(&mut self, group: GroupName) -> Result<(), Error> {
        self.send(&Request::Leave(group)).await
    }

    /// Sends data to groups, with a number for the application's use.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn multicast(
        &mut self,
        service: Service,
        groups: &[GroupName],
        kind: i16,
        data: impl Into<Bytes>,
    ) -> Result<(), Error> {
        let message = Message::new(service, groups, kind, data.into());
        self.send(&Request::Multicast(message)).await
    }

    /// Sends a request, after those that were fed. A call that is dropped while it waits may or may
    /// not have taken the request.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn send(&mut self, request: &Request) -> Result<(), Error> {
        self.feed(request).await?;
        self.flush().await
    }

    /// Takes a request to be written by the next [`flush`](Sender::flush) or
    /// [`send`](Sender::send). Waits for the daemon only while many bytes are unwritten. A call
    /// that is dropped while it waits has not taken the request.
    ///
    /// ```no_run
    /// # use ratewire_groups::client::{Error, Request, Sender};
    /// # async fn send_all(sender: &mut Sender, requests: &[Request]) -> Result<(), Error> {
    /// for request in requests {
    ///     sender.feed(request).await?;
    /// }
    /// sender.flush().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub async fn feed(&mut self, request: &Request) -> Result<(), Error> {
        request.check().map_err(Error::Request)?;
        if self.unwritten.len() >= FEED_SIZE {
            self.flush().await?;
        }
        let (head, data) = request.parts(&self.name, ByteOrder::NATIVE);
        // A copy of the data is cheaper than a second call of the kernel.
        self.unwritten.reserve(head.len() + data.len());
        self.unwritten.extend_from_slice(&head);
        self.unwritten.extend_from_slice(&data);
        Ok(())
    }

    /// Writes the requests that were fed. Waits while the daemon does not read. Dropping a call
    /// that waits loses nothing.
    ///
    /// # Errors
    /// If the connection fails.
    pub async fn flush(&mut self) -> Result<(), Error> {
        self.writer.write_all_buf(&mut self.unwritten).await.map_err(Error::Connection)
    }

    /// Bytes of requests that were fed and are not written yet.
    pub fn unwritten(&self) -> usize {
        self.unwritten.len()
    }
}

impl Receiver {
    /// Waits for what the daemon sends next. Dropping a call that waits loses nothing.
    ///
    /// # Errors
    /// If the connection fails or ends, or the daemon breaks the protocol.
    pub async fn receive(&mut self) -> Result<Received, Error> {
        loop {
            match Received::parse(&mut self.buffer).map_err(Error::Daemon)? {
                Some(received) => return Ok(received),
                None => self.read().await?,
            }
        }
    }

    async fn read(&mut self) -> Result<(), Error> {
        self.buffer.reserve(READ_SIZE);
        match self.reader.read_buf(&mut self.buffer).await.map_err(Error::Connection)? {
            0 => Err(Error::Closed),
            _ => Ok(()),
        }
    }
}

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

async fn open(address: &Address) -> Result<(Reader, Writer), Error> {
    let unreachable = |error| Error::Unreachable(address.clone(), error);
    match address {
        Address::Tcp { host, port } => {
            let stream = TcpStream::connect((&host[..], *port)).await.map_err(unreachable)?;
            // Small messages must not wait for acknowledgements of earlier ones.
            stream.set_nodelay(true).map_err(unreachable)?;
            let (reader, writer) = stream.into_split();
            Ok((Box::new(reader), Box::new(writer)))
        }
        Address::Unix(path) => {
            let (reader, writer) =
                UnixStream::connect(path).await.map_err(unreachable)?.into_split();
            Ok((Box::new(reader), Box::new(writer)))
        }
    }
}
