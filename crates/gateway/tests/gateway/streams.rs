//! HTTP answers and uploads that pass while they come, and changes of protocol.

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::*;

const LONG: usize = 20 << 20;

/// What a server does for a target.
async fn answer(stream: &mut BufReader<TcpStream>, head: &str, go_on: &Notify) -> bool {
    let target = head.split(' ').nth(1).expect("a target");
    match target {
        // An event, and another when the test has seen the first.
        "/events" => {
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n";
            stream.write_all(head.as_bytes()).await.expect("room");
            go_on.notified().await;
            stream.write_all(b"data: 2\n\n").await.expect("room");
            return false;
        }
        "/long" => {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {LONG}\r\n\r\n");
            let piece = [b'x'; 1 << 16];
            if stream.write_all(head.as_bytes()).await.is_err() {
                return false;
            }
            for _ in 0..LONG / piece.len() {
                if stream.write_all(&piece).await.is_err() {
                    return false;
                }
            }
        }
        // The answer to an upload is its length.
        "/upload" => {
            let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
            let mut left: usize = length.expect("a length").parse().expect("a number");
            let (all, mut piece) = (left, vec![0; 1 << 16]);
            while left > 0 {
                let most = left.min(piece.len());
                match stream.read(&mut piece[..most]).await {
                    Ok(read @ 1..) => left -= read,
                    _ => return false,
                }
                go_on.notify_one();
            }
            reply(stream, &all.to_string()).await;
        }
        "/closes" => return false,
        "/echo" => {
            let head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\n\
                        Connection: upgrade\r\n\r\n";
            stream.write_all(head.as_bytes()).await.expect("room");
            let mut piece = vec![0; 1 << 16];
            while let Ok(read @ 1..) = stream.read(&mut piece).await {
                stream.write_all(&piece[..read]).await.expect("room");
            }
            return false;
        }
        "/waits" => {
            go_on.notified().await;
            reply(stream, "waited").await;
        }
        other => reply(stream, other).await,
    }
    true
}

async fn reply(stream: &mut BufReader<TcpStream>, body: &str) {
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(answer.as_bytes()).await.expect("room");
}

async fn head(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head).await.unwrap_or(0) == 0 {
            return None;
        }
    }
    Some(head)
}

/// A gateway with one server behind it; the notice lets the server go on, and tells of uploads.
async fn around(setting: Setting) -> (SocketAddr, Rc<Notify>) {
    around_with(setting, 900).await
}

/// The same with so many connections with the server, at most.
async fn around_with(setting: Setting, connections: usize) -> (SocketAddr, Rc<Notify>) {
    let listener = TcpListener::bind(local()).await.expect("an address");
    let address = listener.local_addr().expect("an address");
    let go_on = Rc::new(Notify::new());
    let notice = Rc::clone(&go_on);
    spawn_local(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let (mut stream, notice) = (BufReader::new(stream), Rc::clone(&notice));
            spawn_local(async move {
                while let Some(head) = head(&mut stream).await
                    && answer(&mut stream, &head, &notice).await
                {}
            });
        }
    });
    let framing = framing("http1");
    let (member, running) = member_with(framing, address, connections);
    spawn_local(running.run());
    let (switch, _) = switch(local(), &[member]);
    let gateway = gateway_with(framing, Listen::Tcp(local()), switch, setting).await;
    (tcp(&gateway), go_on)
}

async fn client(gateway: SocketAddr) -> BufReader<TcpStream> {
    BufReader::new(TcpStream::connect(gateway).await.expect("the gateway"))
}

async fn get(client: &mut BufReader<TcpStream>, target: &str) {
    let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
    client.write_all(request.as_bytes()).await.expect("room");
}

/// Asks for another protocol.
async fn upgrade(client: &mut BufReader<TcpStream>, target: &str) {
    let upgrade = "Connection: upgrade\r\nUpgrade: echo";
    let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n{upgrade}\r\n\r\n");
    client.write_all(request.as_bytes()).await.expect("room");
}

/// A client whose protocol the server has changed.
async fn chat(gateway: SocketAddr) -> BufReader<TcpStream> {
    let mut client = client(gateway).await;
    upgrade(&mut client, "/echo").await;
    assert!(head(&mut client).await.is_some_and(|head| head.starts_with("HTTP/1.1 101 ")));
    client
}

/// The body of an answer with a length.
async fn body(client: &mut BufReader<TcpStream>) -> Vec<u8> {
    let head = head(client).await.expect("an answer");
    let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "));
    let mut body = vec![0; length.expect("a length").parse().expect("a number")];
    client.read_exact(&mut body).await.expect("a body");
    body
}

#[tokio::test(flavor = "current_thread")]
async fn the_first_event_comes_before_the_second_is_sent() {
    in_time(async {
        let (gateway, go_on) = around(Setting::default()).await;
        let mut client = client(gateway).await;
        get(&mut client, "/events").await;
        assert!(head(&mut client).await.is_some_and(|head| head.contains("event-stream")));
        let mut line = String::new();
        client.read_line(&mut line).await.expect("an event");
        assert_eq!(line, "data: 1\n");
        go_on.notify_one();
        let mut rest = String::new();
        client.read_to_string(&mut rest).await.expect("an end");
        assert_eq!(rest, "\ndata: 2\n\n");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn answers_and_uploads_may_be_longer_than_the_memory_for_them() {
    in_time(async {
        let setting = Setting { memory: 4 << 20, ..Setting::default() };
        let (gateway, _) = around(setting).await;
        let (mut one, mut other) = (client(gateway).await, client(gateway).await);
        get(&mut one, "/long").await;
        // Who does not read holds up no other, and gets all when it reads.
        get(&mut other, "/short").await;
        assert_eq!(body(&mut other).await, b"/short");
        let upload = format!("PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: {LONG}\r\n\r\n");
        other.write_all(upload.as_bytes()).await.expect("room");
        other.write_all(&vec![b'y'; LONG]).await.expect("room");
        assert_eq!(body(&mut other).await, LONG.to_string().as_bytes());
        assert_eq!(body(&mut one).await.len(), LONG);
        get(&mut one, "/again").await;
        assert_eq!(body(&mut one).await, b"/again");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn an_upload_reaches_the_server_while_it_arrives() {
    in_time(async {
        let (gateway, came) = around(Setting::default()).await;
        let mut client = client(gateway).await;
        let chunked = "PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 8\r\n\r\nhalf";
        client.write_all(chunked.as_bytes()).await.expect("room");
        came.notified().await;
        client.write_all(b"half").await.expect("room");
        assert_eq!(body(&mut client).await, b"8");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_slow_request_and_a_server_that_closes_concern_no_other_request() {
    in_time(async {
        let (gateway, go_on) = around(Setting::default()).await;
        let mut slow = client(gateway).await;
        get(&mut slow, "/waits").await;
        let mut failing = client(gateway).await;
        get(&mut failing, "/closes").await;
        let told = head(&mut failing).await.expect("an answer");
        assert!(told.starts_with("HTTP/1.1 503 "), "{told}");
        let mut other = client(gateway).await;
        for _ in 0..50 {
            get(&mut other, "/other").await;
            assert_eq!(body(&mut other).await, b"/other");
        }
        go_on.notify_one();
        assert_eq!(body(&mut slow).await, b"waited");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn bytes_pass_in_both_directions_behind_a_change_of_protocol() {
    in_time(async {
        let (gateway, _) = around(Setting::default()).await;
        let mut one = chat(gateway).await;
        for round in 0..20_u8 {
            one.write_all(&[round; 5000]).await.expect("room");
            let mut back = [0; 5000];
            one.read_exact(&mut back).await.expect("an echo");
            assert_eq!(back, [round; 5000]);
        }
        one.get_mut().shutdown().await.expect("an open connection");
        let mut rest = Vec::new();
        one.read_to_end(&mut rest).await.expect("an end");
        assert!(rest.is_empty());
        // A server that does not change it gives an ordinary answer, behind which others follow.
        let mut two = client(gateway).await;
        upgrade(&mut two, "/no").await;
        assert_eq!(body(&mut two).await, b"/no");
        get(&mut two, "/then").await;
        assert_eq!(body(&mut two).await, b"/then");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_switch_that_chooses_members_itself_takes_no_pieces() {
    in_time(async {
        let framing = framing("http1");
        let (switch, _) = switch_with(local(), &[member(framing, local())], Told::default());
        let gateway = gateway(framing, Listen::Tcp(local()), switch).await;
        let mut client = client(tcp(&gateway)).await;
        get(&mut client, "/").await;
        assert!(head(&mut client).await.is_some_and(|head| head.starts_with("HTTP/1.1 503 ")));
        let mut why = String::new();
        client.read_line(&mut why).await.expect("a reason");
        assert!(why.contains("routing = \"wasm\""), "{why}");
    })
    .await;
}

/// A client that has had a long answer is expected to ask for such a one again.
#[tokio::test(flavor = "current_thread")]
async fn long_answers_that_nobody_reads_hold_up_no_other_request() {
    in_time(async {
        let (gateway, _) = around(Setting::default()).await;
        let mut slow = client(gateway).await;
        get(&mut slow, "/long").await;
        assert_eq!(body(&mut slow).await.len(), LONG);
        get(&mut slow, "/long").await;
        let head = head(&mut slow).await.expect("an answer");
        assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
        let mut other = client(gateway).await;
        get(&mut other, "/other").await;
        assert_eq!(body(&mut other).await, b"/other");
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn who_finds_no_connection_with_the_server_free_is_told_so_in_time() {
    in_time(async {
        let setting = Setting { timeout: Duration::from_secs(2), ..Setting::default() };
        let (gateway, _) = around_with(setting, 3).await;
        let mut chats = [chat(gateway).await, chat(gateway).await, chat(gateway).await];
        let mut other = client(gateway).await;
        get(&mut other, "/waits-in-vain").await;
        let told = head(&mut other).await.expect("an answer");
        assert!(told.starts_with("HTTP/1.1 503 "), "{told}");
        let mut why = String::new();
        other.read_line(&mut why).await.expect("a reason");
        assert!(why.contains("no server has answered in time"), "{why}");
        // Who is told so waits no more: the next one gets the place.
        get(&mut other, "/waits-for-a-place").await;
        chats[2].get_mut().shutdown().await.expect("an open connection");
        assert_eq!(body(&mut other).await, b"/waits-for-a-place");
        // Other protocols last for longer than an ordinary answer may.
        chats[0].write_all(b"hello").await.expect("room");
        let mut back = [0; 5];
        chats[0].read_exact(&mut back).await.expect("an echo");
        assert_eq!(&back, b"hello");
    })
    .await;
}
