//! Clients whose sockets hold what they do not read.

use ratewire_groups::client::Service;
use ratewire_groups::daemon::Status;

use crate::log::Log;
use crate::running::{joined, one_with, start};

/// Prices that hold nobody back, and a group whose members may be far behind.
const TABLES: &str = "[flow-control]\nfee = 0\n[[group]]\nname = \"feed\"\nlag = 100000\n";
const MESSAGES: u64 = 4000;
const SIZE: u64 = 1000;
/// Bytes that the kernel keeps for the reader of a socket, and what else may be under way. The
/// kernel would keep some megabytes for the writer.
const UNSEEN: u64 = 1_000_000;

#[test]
fn what_a_member_has_not_read_is_seen() {
    let daemon = start(one_with(TABLES), "paris", &Log::default()).unwrap();
    let (mut slow, mut sender) = (daemon.client("slow"), daemon.client("sender"));
    let group = "feed".parse().unwrap();
    slow.join(group).unwrap();
    joined(&mut slow);
    for _ in 0..MESSAGES {
        sender.multicast(Service::Fifo, &[group], 0, vec![7; SIZE as usize]).unwrap();
    }
    let queue = |status: &Status| {
        let slow = status.clients.iter().find(|client| client.name == "#slow#paris").unwrap();
        (slow.queue_bytes, slow.queue_messages)
    };
    let status = daemon.wait(|status| {
        let is_all = status.totals.messages_in == MESSAGES;
        is_all && queue(status).0 + UNSEEN > MESSAGES * SIZE
    });
    let (bytes, messages) = queue(&status);
    assert!(messages <= MESSAGES && bytes > messages * SIZE, "{bytes} bytes of {messages}");
    // What is read is gone, from the kernel too.
    for _ in 0..MESSAGES {
        slow.receive().unwrap();
    }
    daemon.wait(|status| queue(status) == (0, 0));
}
