//! A link that is much slower than a message is long.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use ratewire_overlay::membership::Service;
use socket2::{Domain, SockRef, Socket, Type};

use super::overlay::{FREE, Overlay, Running};

/// Size of a message that takes nine seconds.
const SIZE: usize = 140_000;
/// Bytes that the line takes at a time, and the time.
const STEP: (usize, Duration) = (1000, Duration::from_millis(60));
/// The least buffer that the kernel gives: the message must not wait there.
const BUFFER: usize = 4096;

/// A line to `target`, and its address.
fn slow_line(target: SocketAddr) -> SocketAddr {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    // Accepted connections have it, too.
    socket.set_recv_buffer_size(BUFFER).unwrap();
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into()).unwrap();
    socket.listen(8).unwrap();
    let listener = TcpListener::from(socket);
    let address = listener.local_addr().unwrap();
    thread::spawn(move || {
        for near in listener.incoming() {
            let (Ok(near), Ok(far)) = (near, TcpStream::connect(target)) else { continue };
            SockRef::from(&far).set_recv_buffer_size(BUFFER).unwrap();
            let ends = [(&near, &far), (&far, &near)];
            for (from, to) in ends.map(|(from, to)| (from.try_clone(), to.try_clone())) {
                let (from, to) = (from.unwrap(), to.unwrap());
                thread::spawn(move || carry(from, to));
            }
        }
    });
    address
}

/// Carries bytes one way until an end closes.
fn carry(mut from: TcpStream, mut to: TcpStream) {
    let mut bytes = [0; STEP.0];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if to.write_all(&bytes[..count]).is_err() {
            break;
        }
        thread::sleep(STEP.1);
    }
    _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}

#[test]
fn a_message_that_takes_longer_than_silence_may_is_delivered() {
    let overlay = Overlay::new("", &["a", "b"], &[["a", "b"]], FREE);
    let _b = overlay.start("b");
    let address = overlay.config().daemons[1].address.unwrap();
    let line = slow_line(address);
    let text = overlay.text.replace(&address.to_string(), &line.to_string());
    let _a = Running::start(overlay.with(&text), "a");
    let mut clients = ["a", "b"].map(|daemon| overlay.client("client", daemon));
    let names = clients.each_ref().map(|client| client.name);
    clients.iter_mut().for_each(|client| client.join("chat"));
    for client in &mut clients {
        client.until_members("chat", &names);
    }
    clients[0].say(Service::Agreed, &["chat"], vec![7; SIZE]);
    // A notice would say that the daemons have lost each other.
    assert_eq!(clients[1].message().1.data, vec![7; SIZE]);
}
