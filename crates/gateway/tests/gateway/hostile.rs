//! Clients that break the protocol, or send more than they may.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// A gateway whose switch is not there.
async fn alone(name: &str) -> SocketAddr {
    tcp(&gateway(framing(name), Listen::Tcp(local()), SocketAddr::from(([127, 0, 0, 1], 9))).await)
}

/// A server that answers nothing.
async fn silent() -> SocketAddr {
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    spawn_local(async move {
        let mut held = Vec::new();
        while let Ok((stream, _)) = listener.accept().await {
            held.push(stream);
        }
    });
    address
}

/// What a client gets for its bytes until the gateway closes the connection.
async fn told(gateway: SocketAddr, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(gateway).await.expect("the gateway is there");
    stream.write_all(bytes).await.expect("room");
    let mut told = String::new();
    stream.read_to_string(&mut told).await.expect("an end");
    told
}

#[tokio::test(flavor = "current_thread")]
async fn who_breaks_the_protocol_is_told_and_closed_and_others_go_on() {
    in_time(async {
        let long = [&[b'x'; 2000][..], b"\n"].concat();
        for (name, bytes, answer) in [
            ("resp", &b"PING\r\n*1\r\n$999999999999\r\n"[..], "+PONG\r\n-ERR "),
            ("memcached", b"mn\r\nms k1 S2\r\n", "MN\r\n"),
            ("memcached", b"\x80\0\0\0", ""),
            ("http1", b"GET / HTTP/9.9\r\n\r\n", "HTTP/1.1 505 "),
            ("lines", &long, ""),
            ("length-prefix", &[0xff; 4], ""),
        ] {
            let gateway = alone(name).await;
            for _ in 0..2 {
                let told = told(gateway, bytes).await;
                assert!(told.starts_with(answer), "{name}: {told:?}");
            }
        }
    })
    .await;
}

/// The last request of a connection waits for its answer; what a client sends behind it is not
/// read, however much it is.
#[tokio::test(flavor = "current_thread")]
async fn what_comes_after_the_last_request_is_not_read() {
    in_time(async {
        for (name, last) in [
            ("resp", &b"GET a\r\nQUIT\r\n"[..]),
            ("memcached", b"get a\r\nquit\r\n"),
            ("http1", b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
        ] {
            let (switch, _serving) = switch(local(), &[member(framing(name), silent().await)]);
            let gateway = tcp(&gateway(framing(name), Listen::Tcp(local()), switch).await);
            let mut stream = TcpStream::connect(gateway).await.expect("the gateway");
            stream.write_all(last).await.expect("room");
            let junk = vec![b'x'; 1 << 20];
            // The system's buffers take some megabytes.
            let mut taken = 0;
            let half = Duration::from_millis(500);
            while taken < 64 && tokio::time::timeout(half, stream.write_all(&junk)).await.is_ok() {
                taken += 1;
            }
            assert!(taken < 64, "{name}: {taken} MB were taken");
        }
    })
    .await;
}
