use super::*;

/// A socket that listens to a neighbour on this machine, at a free port.
fn downstream() -> (Downstream, SocketAddr) {
    let from = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let socket = listen(from, "lo").expect("loopback");
    let at = socket.local_addr().expect("it is bound");
    (Downstream::Address { socket, from, numbers: Numbers::default() }, at)
}

fn pause(downstream: &mut Downstream) -> Option<Option<Duration>> {
    let received = downstream.receive(Time::ZERO).expect("the socket is good");
    received.map(|arrived| arrived.map(|arrived| arrived.pause))
}

#[test]
fn a_neighbour_is_paused_and_let_go_by_messages() {
    let (mut downstream, at) = downstream();
    let mut upstream = Upstream::open(&Neighbour::Address(at), None).expect("loopback");
    assert_eq!(pause(&mut downstream), None);
    upstream.tell(true).expect("it leaves");
    upstream.tell(false).expect("it leaves");
    assert_eq!(pause(&mut downstream), Some(Some(MESSAGE_PAUSE)));
    assert_eq!(pause(&mut downstream), Some(Some(Duration::ZERO)));
    assert_eq!(pause(&mut downstream), None);
    // A program that starts again counts on.
    let mut again = Upstream::open(&Neighbour::Address(at), None).expect("loopback");
    again.tell(true).expect("it leaves");
    assert_eq!(pause(&mut downstream), Some(Some(MESSAGE_PAUSE)));
    upstream.tell(false).expect("it leaves");
    assert_eq!(pause(&mut downstream), Some(None), "an older number");
}

#[test]
fn a_message_that_was_forwarded_or_comes_from_another_is_not_obeyed() {
    let (mut downstream, at) = downstream();
    let message = Message { pause: MESSAGE_PAUSE, number: 7 }.encode();
    let send = |from: &str, hops: i32, bytes: &[u8]| {
        let socket = UdpSocket::bind((from, 0)).expect("loopback");
        setsockopt(&socket, Ipv4Ttl, &hops).expect("it may");
        socket.send_to(bytes, at).expect("it leaves");
    };
    send("127.0.0.1", 254, &message);
    assert_eq!(pause(&mut downstream), Some(None), "a router was between");
    send("127.0.0.2", 255, &message);
    assert_eq!(pause(&mut downstream), Some(None), "another address");
    send("127.0.0.1", 255, &[&message[..], &[0; 60]].concat());
    assert_eq!(pause(&mut downstream), Some(None), "too long");
    send("127.0.0.1", 255, &message);
    assert_eq!(pause(&mut downstream), Some(Some(MESSAGE_PAUSE)));
}
