//! Clients that do not read what the daemon itself says.

use std::thread;

use ratewire_groups::spread::{ByteOrder, Change, Received, Request};

use super::client::group;
use super::overlay::{FREE, Overlay};
use super::slow::{Held, LIMITS, Pair, QUEUE, READ, fill_with};

#[test]
fn a_client_that_reads_no_rejections_is_not_heard_until_it_reads() {
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}groups-per-client = 1\n"));
    let mut client = overlay.local("client");
    client.enter("first");
    let mut reader = client.sender();
    let mut others = Pair(overlay.local("x"), overlay.local("y"));
    let request = Request::Join(group("second"));
    let rejected = Received::Rejected { sender: client.name, request: request.clone() };
    let size = rejected.encode(ByteOrder::NATIVE).len();
    let sockets = 2 * client.stream.send_buffer();
    // Requests whose rejections fill the queue and the socket, and those that are not heard.
    let heard = (QUEUE + sockets) / size + 1;
    let most = heard * client.encode(&request).len() + sockets + 2 * READ;
    let held = fill_with(client, |_| request.clone(), most, &mut others);
    let Held { mut sender, begun, rest } = held;
    thread::scope(|scope| {
        scope.spawn(move || sender.stream.write(&rest));
        (0..begun).for_each(|_| assert_eq!(reader.receive(), rejected));
    });
    reader.leave("first");
    assert_eq!(reader.receive(), Received::Left(group("first")));
}

#[test]
fn a_member_that_reads_no_notices_is_cut_off_and_others_get_all() {
    let (overlay, _daemon) = Overlay::single(&format!("{FREE}{LIMITS}"));
    // They make notices long.
    let mut quiet: Vec<_> = (0..50).map(|i| overlay.quiet(&format!("q{i}"), "localhost")).collect();
    for client in &mut quiet {
        client.join("big");
        client.assert_nothing_more();
    }
    let mut dead = overlay.local("dead");
    dead.enter("big");
    let mut fast = overlay.local("fast");
    let size = 32 * fast.enter("big").members.len();
    let mut churner = overlay.quiet("churner", "localhost");
    let most = (QUEUE + 2 * dead.stream.send_buffer()) / size + 100;
    let is_gone = |change: &Change| *change == Change::Disconnect(dead.name);
    let mut changes = 0;
    loop {
        churner.join("big");
        churner.leave("big");
        let told = [(); 2].map(|()| fast.membership().change);
        changes += 2;
        if told.iter().any(is_gone) {
            break;
        }
        assert_eq!(told, [Change::Join(churner.name), Change::Leave(churner.name)]);
        assert!(changes < most, "{changes} notices wait for a member that does not read");
    }
    // It is told that it has left, if it reads now.
    let mut last = None;
    while let Some(received) = dead.next() {
        last = Some(received);
    }
    assert_eq!(last, Some(Received::Left(group("big"))));
    overlay.local("dead").enter("big");
}
