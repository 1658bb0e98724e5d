//! A connection of a program without an asynchronous runtime.
//!
//! ```no_run
//! use ratewire_groups::client::blocking::Connection;
//! use ratewire_groups::client::{Error, Options, Service};
//!
//! # fn hello() -> Result<(), Error> {
//! let mut connection = Connection::connect(&"4803@localhost".parse()?, Options::default())?;
//! connection.multicast(Service::Fifo, &["chat".parse()?], 0, "hello")?;
//! connection.disconnect()
//! # }
//! ```

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use bytes::{Bytes, BytesMut};
use ratewire_overlay::membership::Service;

use super::address::Address;
use super::error::Error;
use super::handshake::{Handshake, Options, READ_SIZE, Step};
use crate::spread::{ByteOrder, GroupName, Message, PrivateName, Received, Request};

/// A connection to a daemon.
///
/// Dropping a connection ends it, and may lose messages that the daemon has not read yet.
/// [`disconnect`](Connection::disconnect) loses none.
pub struct Connection {
    sender: Sender,
    receiver: Receiver,
}

/// The half of a connection that sends. The connection ends when both halves are dropped.
///
/// # Flow control
/// A call waits while the daemon does not read. The daemon reads nothing from a client that sends
/// more than the members of its groups, and the links to them, can take.
pub struct Sender {
    name: PrivateName,
    writer: Box<dyn Write + Send>,
}

/// The half of a connection that receives.
pub struct Receiver {
    reader: Box<dyn Read + Send>,
    /// Bytes of the last read.
    chunk: Box<[u8]>,
    buffer: BytesMut,
}

impl Connection {
    /// Connects to a daemon.
    ///
    /// # Errors
    /// If no daemon can be reached there, or the daemon does not accept the client.
    pub fn connect(address: &Address, options: Options) -> Result<Connection, Error> {
        let (reader, mut writer) = open(address)?;
        let chunk = vec![0; READ_SIZE].into_boxed_slice();
        let mut receiver = Receiver { reader, chunk, buffer: BytesMut::new() };
        let (mut handshake, mut next) = Handshake::start(options);
        loop {
            writer.write_all(&next).map_err(Error::Connection)?;
            next = loop {
                match handshake.step(&mut receiver.buffer)? {
                    Step::Read => receiver.read()?,
                    Step::Send(bytes) => break bytes,
                    Step::Done(name) => {
                        return Ok(Connection { sender: Sender { name, writer }, receiver });
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
    pub fn join(&mut self, group: GroupName) -> Result<(), Error> {
        self.sender.join(group)
    }

    /// Asks to be no longer a member of a group.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub fn leave(&mut self, group: GroupName) -> Result<(), Error> {
        self.sender.leave(group)
    }

    /// Sends data to groups, with a number for the application's use. Waits while the daemon does
    /// not read.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub fn multicast(
        &mut self,
        service: Service,
        groups: &[GroupName],
        kind: i16,
        data: impl Into<Bytes>,
    ) -> Result<(), Error> {
        self.sender.multicast(service, groups, kind, data)
    }

    /// Sends a request.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub fn send(&mut self, request: &Request) -> Result<(), Error> {
        self.sender.send(request)
    }

    /// Waits for what the daemon sends next.
    ///
    /// # Errors
    /// If the connection fails or ends, or the daemon breaks the protocol.
    pub fn receive(&mut self) -> Result<Received, Error> {
        self.receiver.receive()
    }

    /// Splits the connection, for a program that sends in one thread and receives in another. To
    /// end the connection, such a program sends [`Request::Disconnect`].
    pub fn split(self) -> (Sender, Receiver) {
        (self.sender, self.receiver)
    }

    /// Ends the connection after the daemon has read what was sent. What the daemon sends in the
    /// meantime is lost.
    ///
    /// # Errors
    /// If the connection fails before.
    pub fn disconnect(mut self) -> Result<(), Error> {
        self.send(&Request::Disconnect)?;
        // Closing a socket with unread bytes resets the connection and discards what was sent.
        while self.receiver.read().is_ok() {
            self.receiver.buffer.clear();
        }
        Ok(())
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
    pub fn join(&mut self, group: GroupName) -> Result<(), Error> {
        self.send(&Request::Join(group))
    }

    /// Asks to be no longer a member of a group.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub fn leave(&mut self, group: GroupName) -> Result<(), Error> {
        self.send(&Request::Leave(group))
    }

    /// Sends data to groups, with a number for the application's use.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub fn multicast(
        &mut self,
        service: Service,
        groups: &[GroupName],
        kind: i16,
        data: impl Into<Bytes>,
    ) -> Result<(), Error> {
        self.send(&Request::Multicast(Message::new(service, groups, kind, data.into())))
    }

    /// Sends a request.
    ///
    /// # Errors
    /// If the connection fails, or no daemon may accept the request.
    pub fn send(&mut self, request: &Request) -> Result<(), Error> {
        request.check().map_err(Error::Request)?;
        // A copy of the data is cheaper than a second call of the kernel.
        let bytes = request.encode(&self.name, ByteOrder::NATIVE);
        self.writer.write_all(&bytes).map_err(Error::Connection)
    }
}

impl Receiver {
    /// Waits for what the daemon sends next.
    ///
    /// # Errors
    /// If the connection fails or ends, or the daemon breaks the protocol.
    pub fn receive(&mut self) -> Result<Received, Error> {
        loop {
            match Received::parse(&mut self.buffer).map_err(Error::Daemon)? {
                Some(received) => return Ok(received),
                None => self.read()?,
            }
        }
    }

    fn read(&mut self) -> Result<(), Error> {
        match self.reader.read(&mut self.chunk) {
            Ok(0) => Err(Error::Closed),
            Ok(size) => {
                self.buffer.extend_from_slice(&self.chunk[..size]);
                Ok(())
            }
            // All callers read again if nothing has come.
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(Error::Connection(error)),
        }
    }
}

type Reader = Box<dyn Read + Send>;
type Writer = Box<dyn Write + Send>;

fn open(address: &Address) -> Result<(Reader, Writer), Error> {
    let unreachable = |error| Error::Unreachable(address.clone(), error);
    match address {
        Address::Tcp { host, port } => {
            let stream = TcpStream::connect((&host[..], *port)).map_err(unreachable)?;
            // Small messages must not wait for acknowledgements of earlier ones.
            stream.set_nodelay(true).map_err(unreachable)?;
            Ok((Box::new(stream.try_clone().map_err(unreachable)?), Box::new(stream)))
        }
        Address::Unix(path) => {
            let stream = UnixStream::connect(path).map_err(unreachable)?;
            Ok((Box::new(stream.try_clone().map_err(unreachable)?), Box::new(stream)))
        }
    }
}
