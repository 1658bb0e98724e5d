//! The client library against a daemon of a few lines, over TCP and Unix sockets.

use std::error::Error as _;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use bytes::{Bytes, BytesMut};
use ratewire_groups::client::{
    Address, Change, Connection, Error, Membership, MembershipId, Message, Options, Received,
    Request, Service, blocking,
};
use ratewire_groups::spread::{
    Acceptance, ByteOrder, Hello, PrivateName, Refusal, Version, offer, parse_choice,
};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, UnixListener};
use tokio::task::{JoinHandle, spawn, spawn_blocking, unconstrained};

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// A daemon's end of one client's connection.
struct Session {
    stream: Box<dyn Stream>,
    buffer: BytesMut,
    client: PrivateName,
}

impl Session {
    /// Accepts a client, in answers of single bytes.
    async fn accept(stream: impl Stream + 'static) -> Session {
        let (stream, buffer) = (Box::new(stream), BytesMut::new());
        let client = "#unknown#daemon".parse().unwrap();
        let mut session = Session { stream, buffer, client };
        let hello = session.read(|buffer| Hello::parse(buffer).unwrap()).await;
        let hello = hello.expect("a client says hello");
        let name = hello.name.unwrap_or_else(|| "r1-1".parse().unwrap());
        session.client = PrivateName::new(&name, "daemon").unwrap();
        session.write_bytes(offer()).await;
        session.read(|buffer| parse_choice(buffer).unwrap()).await.expect("a client chooses");
        let acceptance = Acceptance { version: Version::new(4, 4, 0), name: session.client };
        session.write_bytes(&acceptance.encode(hello.version)).await;
        session
    }

    async fn write_bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.stream.write_all(&[*byte]).await.unwrap();
        }
    }

    async fn write(&mut self, received: Received) {
        self.stream.write_all(&received.encode(ByteOrder::Big)).await.unwrap();
    }

    async fn read<M>(&mut self, parse: impl Fn(&mut BytesMut) -> Option<M>) -> Option<M> {
        loop {
            if let Some(message) = parse(&mut self.buffer) {
                return Some(message);
            }
            if self.stream.read_buf(&mut self.buffer).await.unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    async fn request(&mut self) -> Option<Request> {
        let client = self.client;
        self.read(|buffer| Request::parse(buffer, &client).unwrap()).await
    }

    /// Serves a client that is the only one, until it disconnects. Returns its requests.
    async fn serve(mut self) -> Vec<Request> {
        let mut requests = Vec::new();
        let client = self.client;
        while let Some(request) = self.request().await {
            requests.push(request.clone());
            let answer = match request {
                Request::Join(group) => Received::Membership(Membership {
                    group,
                    id: MembershipId { daemon: 1, time: 2, index: 3 },
                    members: vec![client],
                    change: Change::Join(client),
                }),
                Request::Multicast(message) => Received::Message { sender: client, message },
                Request::Leave(group) => Received::Left(group),
                Request::Disconnect => break,
            };
            self.write(answer).await;
        }
        requests
    }
}

/// Listens for one client, which is handed to `serve`.
async fn listen<T: Send + 'static, F: Future<Output = T> + Send + 'static>(
    serve: impl FnOnce(Session) -> F + Send + 'static,
) -> (Address, JoinHandle<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string().parse().unwrap();
    let daemon = spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        serve(Session::accept(stream).await).await
    });
    (address, daemon)
}

fn named(name: &str) -> Options {
    Options { name: Some(name.parse().unwrap()), membership: true, priority: 0 }
}

fn expected_requests() -> Vec<Request> {
    let group = "group".parse().unwrap();
    let message = Message::new(Service::Agreed, &[group], -7, Bytes::from_static(b"data"));
    vec![
        Request::Join(group),
        Request::Multicast(message),
        Request::Leave(group),
        Request::Disconnect,
    ]
}

async fn a_session(address: &Address) -> Result<(), Error> {
    let mut connection = Connection::connect(address, named("weir1")).await?;
    let name = connection.private_name();
    assert_eq!(name.as_str(), "#weir1#daemon");
    let group = "group".parse()?;
    connection.join(group).await?;
    let Received::Membership(membership) = connection.receive().await? else { panic!() };
    assert_eq!((membership.members, membership.change), (vec![name], Change::Join(name)));
    connection.multicast(Service::Agreed, &[group], -7, "data").await?;
    let Received::Message { sender, message } = connection.receive().await? else { panic!() };
    assert_eq!((sender, message.kind, &message.data[..]), (name, -7, &b"data"[..]));
    connection.leave(group).await?;
    assert_eq!(connection.receive().await?, Received::Left(group));
    connection.disconnect().await
}

#[tokio::test]
async fn a_session_over_tcp() {
    let (address, daemon) = listen(Session::serve).await;
    a_session(&address).await.unwrap();
    assert_eq!(daemon.await.unwrap(), expected_requests());
}

#[tokio::test]
async fn a_session_over_a_unix_socket() {
    let path = std::env::temp_dir().join(format!("ratewire-client-{}", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let daemon = spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        Session::accept(stream).await.serve().await
    });
    a_session(&Address::Unix(path.clone())).await.unwrap();
    std::fs::remove_file(path).unwrap();
    assert_eq!(daemon.await.unwrap(), expected_requests());
}

#[tokio::test]
async fn a_session_of_a_blocking_client() {
    let (address, daemon) = listen(Session::serve).await;
    let client = spawn_blocking(move || -> Result<(), Error> {
        let mut connection = blocking::Connection::connect(&address, named("weir1"))?;
        let name = connection.private_name();
        let group = "group".parse()?;
        connection.join(group)?;
        let Received::Membership(membership) = connection.receive()? else { panic!() };
        assert_eq!(membership.members, [name]);
        let (mut sender, mut receiver) = connection.split();
        sender.multicast(Service::Agreed, &[group], -7, "data")?;
        let Received::Message { message, .. } = receiver.receive()? else { panic!() };
        assert_eq!(message.data, "data");
        sender.leave(group)?;
        assert_eq!(receiver.receive()?, Received::Left(group));
        sender.send(&Request::Disconnect)?;
        assert!(matches!(receiver.receive(), Err(Error::Closed)));
        Ok(())
    });
    client.await.unwrap().unwrap();
    assert_eq!(daemon.await.unwrap(), expected_requests());
}

#[tokio::test]
async fn a_client_without_a_name_gets_one() {
    let (address, daemon) = listen(Session::serve).await;
    let connection = Connection::connect(&address, Options::default()).await.unwrap();
    assert_eq!(connection.private_name().as_str(), "#r1-1#daemon");
    connection.disconnect().await.unwrap();
    assert_eq!(daemon.await.unwrap(), [Request::Disconnect]);
}

#[tokio::test]
async fn a_refused_client_learns_why() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address: Address = listener.local_addr().unwrap().to_string().parse().unwrap();
    let daemon = spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.read_u8().await.unwrap();
        stream.write_all(&Refusal::NotUnique.encode()).await.unwrap();
        stream
    });
    let error = Connection::connect(&address, named("weir1")).await.err().unwrap();
    assert!(matches!(error, Error::Refused(Refusal::NotUnique)), "{error:?}");
    assert_eq!(error.source().unwrap().to_string(), "another client of the daemon has this name");
    daemon.await.unwrap();
    let error = Connection::connect(&address, named("weir1")).await.err().unwrap();
    assert_eq!(error.to_string(), format!("cannot connect to a daemon at {address}"));
}

#[tokio::test]
async fn sending_waits_while_the_daemon_does_not_read() {
    let (start, started) = tokio::sync::oneshot::channel();
    let (address, daemon) = listen(|mut session| async move {
        started.await.unwrap();
        let mut requests = 0;
        while session.request().await != Some(Request::Disconnect) {
            requests += 1;
        }
        requests
    })
    .await;
    let mut connection = Connection::connect(&address, named("weir1")).await.unwrap();
    let (groups, data) = (["group".parse().unwrap()], Bytes::from(vec![7; 100_000]));
    let mut start = Some(start);
    let mut sent = 0;
    while start.is_some() {
        let mut call =
            pin!(unconstrained(connection.multicast(Service::Fifo, &groups, 0, data.clone())));
        if poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending())).await {
            start.take().unwrap().send(()).unwrap();
            call.await.unwrap();
        }
        sent += 1;
        assert!(sent < 10_000, "the daemon has not read a gigabyte");
    }
    connection.disconnect().await.unwrap();
    assert_eq!(daemon.await.unwrap(), sent);
}

#[tokio::test]
async fn requests_that_are_fed_go_out_together_and_in_order() {
    let (address, daemon) = listen(Session::serve).await;
    let connection = Connection::connect(&address, named("weir1")).await.unwrap();
    let (mut sender, mut receiver) = connection.split();
    let requests = expected_requests();
    for request in &requests[..2] {
        sender.feed(request).await.unwrap();
    }
    assert!(sender.unwritten() > 0);
    sender.flush().await.unwrap();
    assert_eq!(sender.unwritten(), 0);
    sender.feed(&requests[2]).await.unwrap();
    sender.send(&requests[3]).await.unwrap();
    while receiver.receive().await.is_ok() {}
    assert_eq!(daemon.await.unwrap(), requests);
}

#[tokio::test]
async fn a_dropped_flush_loses_nothing() {
    let (start, started) = tokio::sync::oneshot::channel();
    let (address, daemon) = listen(|mut session| async move {
        started.await.unwrap();
        let mut requests = Vec::new();
        while let Some(Request::Multicast(message)) = session.request().await {
            requests.push(message.data);
        }
        requests
    })
    .await;
    let (mut sender, mut receiver) =
        Connection::connect(&address, named("weir1")).await.unwrap().split();
    let message = |number: usize| {
        let data = Bytes::from(vec![number as u8; 100_000]);
        Request::Multicast(Message::new(Service::Fifo, &["group".parse().unwrap()], 0, data))
    };
    let mut fed = 0;
    loop {
        sender.feed(&message(fed)).await.unwrap();
        fed += 1;
        let mut call = pin!(unconstrained(sender.flush()));
        if poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending())).await {
            break;
        }
        assert!(fed < 10_000, "the daemon has not read a gigabyte");
    }
    assert!(sender.unwritten() > 0);
    start.send(()).unwrap();
    sender.send(&Request::Disconnect).await.unwrap();
    while receiver.receive().await.is_ok() {}
    let got = daemon.await.unwrap();
    assert_eq!(got.len(), fed);
    for (number, data) in got.iter().enumerate() {
        assert!(data.len() == 100_000 && data.iter().all(|byte| *byte == number as u8));
    }
}

#[tokio::test]
async fn disconnecting_loses_nothing_that_was_sent() {
    let (address, daemon) = listen(|mut session| async move {
        for _ in 0..10_000 {
            session.write(Received::Left("group".parse().unwrap())).await;
        }
        session.serve().await.len()
    })
    .await;
    let mut connection = Connection::connect(&address, named("weir1")).await.unwrap();
    for _ in 0..100 {
        let data = vec![7; 1000];
        connection.multicast(Service::Fifo, &["group".parse().unwrap()], 0, data).await.unwrap();
    }
    connection.disconnect().await.unwrap();
    assert_eq!(daemon.await.unwrap(), 101);
}

#[tokio::test]
async fn a_request_that_no_daemon_accepts_is_not_sent() {
    let (address, daemon) = listen(Session::serve).await;
    let mut connection = Connection::connect(&address, named("weir1")).await.unwrap();
    let group = "group".parse().unwrap();
    let data = vec![7; 144_000];
    let long = connection.multicast(Service::Fifo, &[group], 0, data).await.unwrap_err();
    let private = connection.join(connection.private_name().into()).await.unwrap_err();
    assert!(matches!(&long, Error::Request(_)) && matches!(&private, Error::Request(_)));
    assert_eq!(
        (long.source().unwrap().to_string(), private.source().unwrap().to_string()),
        (
            "names and data of a message have 144032 bytes, at most 143952 are allowed".to_string(),
            "\"#weir1#daemon\" is the private name of a client, which no one joins or leaves"
                .to_string(),
        )
    );
    connection.leave(group).await.unwrap();
    connection.disconnect().await.unwrap();
    assert_eq!(daemon.await.unwrap(), [Request::Leave(group), Request::Disconnect]);
}

#[tokio::test]
async fn a_daemon_that_breaks_the_protocol_or_goes_is_an_error() {
    let (address, _) =
        listen(|mut session| async move { session.write_bytes(&[1; 48]).await }).await;
    let mut connection = Connection::connect(&address, named("weir1")).await.unwrap();
    let error = connection.receive().await.unwrap_err();
    assert!(matches!(error, Error::Daemon(_)), "{error:?}");
    let (address, _) = listen(|_| async {}).await;
    let mut connection = Connection::connect(&address, named("weir1")).await.unwrap();
    let error = connection.receive().await.unwrap_err();
    assert!(matches!(error, Error::Closed), "{error:?}");
}

#[tokio::test]
async fn a_server_of_another_protocol_is_named() {
    let answers = [
        (&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], "it speaks HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "it speaks SSH"),
        (&[0x15, 3, 1, 0, 2, 2, 70], "it speaks TLS"),
        (b"\x1c\0\0\0RWGROUPS\x01", "it speaks with other daemons only"),
    ];
    for (answer, expected) in answers {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string().parse().unwrap();
        let server = spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            // To close with unread bytes would discard the answer.
            stream.read_buf(&mut BytesMut::new()).await.unwrap();
            stream.write_all(answer).await.unwrap();
        });
        let error = Connection::connect(&address, Options::default()).await.err().unwrap();
        assert!(error.to_string().ends_with(expected), "{error}");
        server.await.unwrap();
    }
}
