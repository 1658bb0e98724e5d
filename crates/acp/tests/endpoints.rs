//! Endpoints over loopback sockets.

use std::net::{Ipv6Addr, SocketAddr};

use ratewire_acp::{CloseReason, Config, Credentials, Endpoint, Error, Frame, KeyPair, local_for};
use ratewire_laws::AnyLaw;
use ratewire_units::Bytes;

fn any() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn config() -> Config {
    Config::new(Credentials::Shared([7; 32]))
}

fn with_law(name: &str) -> Config {
    let law = AnyLaw::new(name, &[]).expect("a law");
    Config { law, law_name: name.into(), ..config() }
}

/// A server that sends each frame back.
fn echo(config: Config) -> Endpoint {
    echo_at(any(), config)
}

fn echo_at(address: SocketAddr, config: Config) -> Endpoint {
    let server = Endpoint::server(address, config).expect("a socket");
    let accepting = server.clone();
    tokio::spawn(async move {
        while let Ok(connection) = accepting.accept().await {
            tokio::spawn(async move {
                while let Ok(Some(frame)) = connection.receive().await {
                    connection.send(frame).await.expect("the client is there");
                }
            });
        }
    });
    server
}

#[tokio::test]
async fn ipv6_carries_frames_too() {
    let six = SocketAddr::from((Ipv6Addr::LOCALHOST, 0));
    if let Err(error) = std::net::UdpSocket::bind(six) {
        println!("skipped: this machine has no IPv6 ({error})");
        return;
    }
    let server = echo_at(six, config());
    let client = Endpoint::client(local_for(server.address()), config()).unwrap();
    let connection = client.connect(server.address()).await.unwrap();
    connection.send(Frame::new(1, vec![6; 100_000])).await.unwrap();
    let frame = connection.receive().await.unwrap().expect("a frame");
    assert_eq!((frame.id, frame.data.len()), (1, 100_000));
    connection.close().await.unwrap();
}

#[tokio::test]
async fn frames_go_there_and_back_under_any_law() {
    for law in ["xcp", "cubic", "rcp", "bbr1", "bbr3", "xcp@kernel"] {
        let server = echo(config());
        let client = Endpoint::client(any(), with_law(law)).unwrap();
        let connection = client.connect(server.address()).await.unwrap();
        for id in 0..200u64 {
            let data = vec![id as u8; id as usize * 100];
            connection.send(Frame::new(id, data)).await.unwrap();
        }
        for id in 0..200u64 {
            let frame = connection.receive().await.unwrap().expect("a frame");
            assert_eq!((frame.id, frame.data.len()), (id, id as usize * 100), "{law}");
        }
        connection.finish().unwrap();
        assert!(matches!(connection.send(Frame::new(0, "")).await, Err(Error::Finished)));
        assert_eq!(connection.receive().await.unwrap(), None);
        let metrics = connection.metrics().unwrap();
        assert_eq!((metrics.frames_sent, metrics.frames_received), (200, 200));
        assert!(metrics.datagram >= Bytes::new(1400), "{metrics:?}");
        connection.close().await.unwrap();
    }
}

/// The client's own buffer says nothing of the server's.
#[tokio::test]
async fn a_small_receive_buffer_is_not_overrun() {
    let small = Config { receive_buffer: Bytes::new(8 << 10), ..config() };
    let server = Endpoint::server(any(), small).unwrap();
    let client = Endpoint::client(any(), config()).unwrap();
    let connection = client.connect(server.address()).await.unwrap();
    for id in 0..100u64 {
        connection.send(Frame::new(id, vec![1; 1024])).await.unwrap();
    }
    let accepted = server.accept().await.unwrap();
    for id in 0..100u64 {
        assert_eq!(accepted.receive().await.unwrap().expect("a frame").id, id);
    }
    assert_eq!(accepted.metrics().unwrap().packets_without_room, 0);
    assert_eq!(connection.metrics().unwrap().retransmitted, Bytes::ZERO);
}

#[tokio::test]
async fn a_large_frame_arrives_whole() {
    let server = echo(config());
    let client = Endpoint::client(any(), config()).unwrap();
    let connection = client.connect(server.address()).await.unwrap();
    let data: Vec<u8> = (0..16 << 20).map(|at: u32| (at / 7) as u8).collect();
    connection.send(Frame::new(5, data.clone())).await.unwrap();
    let back = connection.receive().await.unwrap().expect("a frame");
    assert!(back.data == data);
    let too_long = Frame::new(6, vec![0; (16 << 20) + 1]);
    assert!(matches!(connection.send(too_long).await, Err(Error::TooLong { longest: 0x1000000 })));
}

#[tokio::test]
async fn what_was_sent_arrives_though_the_connection_is_dropped() {
    let server = Endpoint::server(any(), config()).unwrap();
    let client = Endpoint::client(any(), config()).unwrap();
    let connection = client.connect(server.address()).await.unwrap();
    for id in 0..100 {
        connection.send(Frame::new(id, vec![1; 10_000])).await.unwrap();
    }
    drop(connection);
    let accepted = server.accept().await.unwrap();
    let mut frames = 0;
    while accepted.receive().await.unwrap().is_some() {
        frames += 1;
    }
    assert_eq!(frames, 100);
    accepted.close().await.unwrap();
}

#[tokio::test]
async fn a_reader_that_waits_holds_the_writer_back() {
    let small = || Config {
        send_buffer: Bytes::new(100_000),
        receive_buffer: Bytes::new(100_000),
        ..config()
    };
    let server = Endpoint::server(any(), small()).unwrap();
    let client = Endpoint::client(any(), small()).unwrap();
    let connection = client.connect(server.address()).await.unwrap();
    let sending = tokio::spawn(async move {
        for id in 0..1000 {
            connection.send(Frame::new(id, vec![1; 10_000])).await.unwrap();
        }
        connection.close().await
    });
    let accepted = server.accept().await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    let received = accepted.metrics().unwrap().frames_received;
    assert!(received <= 11 && !sending.is_finished(), "{received} frames in 100 kB");
    for id in 0..1000 {
        assert_eq!(accepted.receive().await.unwrap().expect("a frame").id, id);
    }
    assert_eq!(accepted.receive().await.unwrap(), None);
    accepted.close().await.unwrap();
    sending.await.unwrap().unwrap();
}

#[tokio::test]
async fn strangers_get_no_connection_and_no_answer() {
    let pair = |own: &KeyPair, other: &KeyPair| {
        Config::new(Credentials::Pair { own: own.clone(), others: vec![other.public] })
    };
    let keys: Vec<KeyPair> = (0..3).map(|_| KeyPair::generate().unwrap()).collect();
    let server = echo(pair(&keys[0], &keys[1]));
    let friend = Endpoint::client(any(), pair(&keys[1], &keys[0])).unwrap();
    let connection = friend.connect(server.address()).await.unwrap();
    connection.send(Frame::new(1, "hello")).await.unwrap();
    assert!(connection.receive().await.unwrap().is_some());
    let stranger = Endpoint::client(any(), pair(&keys[2], &keys[0])).unwrap();
    let refused = stranger.connect(server.address());
    let waited = tokio::time::timeout(std::time::Duration::from_millis(700), refused).await;
    assert!(waited.is_err(), "the server does not answer");
    assert_eq!(server.stranger().await, stranger.address());
    assert!(server.strangers() > 0 && friend.strangers() == 0);
    // Bytes that are no packets, and packets of connections that nobody knows.
    let socket = tokio::net::UdpSocket::bind(any()).await.unwrap();
    for bytes in [&b"GET / HTTP/1.1\r\n"[..], &[b'A', b'C', 1, 1], &[b'A', b'C', 1, 0, 0]] {
        socket.send_to(bytes, server.address()).await.unwrap();
    }
    let unknown = [&[b'A', b'C', 1, 0][..], &[9; 80]].concat();
    socket.send_to(&unknown, server.address()).await.unwrap();
    let mut answer = [0; 200];
    let (length, _) = socket.recv_from(&mut answer).await.unwrap();
    assert_eq!((length, answer[3]), (28, 4), "one answer, shorter than what was asked");
    connection.send(Frame::new(2, "still")).await.unwrap();
    assert!(connection.receive().await.unwrap().is_some());
}

#[tokio::test]
async fn a_server_without_the_law_says_so() {
    let server = echo(config());
    let odd = Config { law_name: "lawless".into(), ..config() };
    let client = Endpoint::client(any(), odd).unwrap();
    let connection = client.connect(server.address()).await.unwrap();
    let Err(Error::Closed(CloseReason::Reset { code: 2, text })) = connection.receive().await
    else {
        panic!("the server resets the connection");
    };
    assert!(text.contains("lawless"), "{text}");
}

#[tokio::test]
async fn a_reset_says_why() {
    let server = Endpoint::server(any(), config()).unwrap();
    let client = Endpoint::client(any(), config()).unwrap();
    let connection = client.connect(server.address()).await.unwrap();
    server.accept().await.unwrap().reset(9, "down").unwrap();
    let ended = connection.receive().await;
    assert!(matches!(ended, Err(Error::Closed(CloseReason::Reset { code: 9, .. }))), "{ended:?}");
}

#[tokio::test]
async fn an_endpoint_that_nobody_holds_ends() {
    let server = Endpoint::server(any(), config()).unwrap();
    let address = server.address();
    let client = Endpoint::client(any(), config()).unwrap();
    let connection = client.connect(address).await.unwrap();
    let accepted = server.accept().await.unwrap();
    // Connections outlive the endpoints' values.
    drop((server, client));
    connection.send(Frame::new(1, "still")).await.unwrap();
    assert!(accepted.receive().await.unwrap().is_some());
    drop((connection, accepted));
    while std::net::UdpSocket::bind(address).is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

#[test]
fn programs_without_a_runtime_wait() {
    use ratewire_acp::blocking;
    let server = blocking::Endpoint::server(any(), config()).unwrap();
    let address = server.address();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let client = blocking::Endpoint::client(any(), config()).unwrap();
            let connection = client.connect(address).unwrap();
            connection.send(Frame::new(1, "hello")).unwrap();
            assert_eq!(connection.receive().unwrap(), Some(Frame::new(2, "bye")));
            assert_eq!(connection.metrics().unwrap().frames_sent, 1);
            connection.close().unwrap();
        });
        let accepted = server.accept().unwrap();
        assert_eq!(accepted.receive().unwrap(), Some(Frame::new(1, "hello")));
        accepted.send(Frame::new(2, "bye")).unwrap();
        accepted.close().unwrap();
    });
    server.close();
    assert!(matches!(server.accept(), Err(Error::Shut)));
}

/// As ALPN has it for TLS (RFC 7301).
#[tokio::test]
async fn ends_of_different_applications_refuse_each_other() {
    let of = |name: &str| Config { application: name.into(), ..config() };
    for (server, client, fits) in [
        ("resp", "resp", true),
        ("resp", "", true),
        ("", "resp", true),
        ("memcached", "resp", false),
    ] {
        let server = echo(of(server));
        let client = Endpoint::client(any(), of(client)).unwrap();
        match client.connect(server.address()).await {
            Ok(connection) => {
                assert!(fits);
                connection.send(Frame::new(1, "hello")).await.unwrap();
                assert!(connection.receive().await.unwrap().is_some());
            }
            Err(error) => {
                assert!(!fits);
                let text = "the server is for \"memcached\", and this end for \"resp\": give both \
                            the same";
                assert_eq!(error.to_string(), text);
                let refused = server.refused().await;
                assert_eq!((refused.peer, &refused.application[..]), (client.address(), "resp"));
            }
        }
    }
    let long = Endpoint::client(any(), of(&"x".repeat(65)));
    assert!(matches!(long, Err(Error::LongApplication { length: 65 })));
}

/// What is acknowledged when a connection ends is not sent again, everything else is.
#[tokio::test]
async fn a_connection_is_resumed_with_what_is_not_acknowledged() {
    const FRAMES: u64 = 100;
    let narrow = Config { receive_buffer: Bytes::new(64 << 10), ..with_law("cubic") };
    let server = Endpoint::server(any(), narrow).unwrap();
    let client = Endpoint::client(any(), with_law("cubic")).unwrap();
    let ended = client.connect(server.address()).await.unwrap();
    let first = server.accept().await.unwrap();
    for id in 0..FRAMES {
        ended.send(Frame::new(id, vec![id as u8; 10_000])).await.unwrap();
    }
    assert_eq!(first.receive().await.unwrap().expect("a frame").id, 0);
    first.reset(1, "gone").unwrap();
    assert!(matches!(ended.receive().await, Err(Error::Closed(_))));
    let missing: Vec<u64> = ended.unacknowledged().unwrap().iter().map(|f| f.id).collect();
    assert!(missing.len() > 50 && missing.len() < FRAMES as usize, "{missing:?}");
    // The receive buffer has room for seven frames.
    let unsent = ended.unsent().unwrap();
    assert!((FRAMES as usize - 10..=missing.len()).contains(&unsent), "{unsent} of {missing:?}");
    let resumed = client.resume(&ended, server.address()).await.unwrap();
    resumed.finish().unwrap();
    let second = server.accept().await.unwrap();
    let mut came = Vec::new();
    while let Some(frame) = second.receive().await.unwrap() {
        assert_eq!(frame.data, vec![frame.id as u8; 10_000]);
        came.push(frame.id);
    }
    assert_eq!(came, missing);
    assert_eq!(came, (FRAMES - came.len() as u64..FRAMES).collect::<Vec<u64>>());
}
