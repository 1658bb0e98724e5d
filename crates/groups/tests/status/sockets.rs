//! Clients whose sockets hold what they do not read.

use std::thread;

use ratewire_groups::client::{GroupName, Received, Service};
use ratewire_groups::daemon::Status;

use crate::log::Log;
use crate::running::{joined, message, one, one_with, start};

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

#[test]
fn a_member_that_reads_nothing_while_others_wait_is_cut_off() {
    let tables = "[flow-control]\nfee = 0\n[limits]\nlongest-stall = \"1 s\"\n";
    let log = Log::default();
    let daemon = start(one_with(tables), "paris", &log).unwrap();
    let [mut frozen, mut reader, mut sender] =
        ["frozen", "reader", "sender"].map(|name| daemon.client(name));
    let group: GroupName = "feed".parse().unwrap();
    for client in [&mut frozen, &mut reader] {
        client.join(group).unwrap();
        joined(client);
    }
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..MESSAGES {
                sender.multicast(Service::Fifo, &[group], 0, vec![7; SIZE as usize]).unwrap();
            }
        });
        (0..MESSAGES).for_each(|_| assert_eq!(message(&mut reader).len(), SIZE as usize));
    });
    let status = daemon.wait(|status| status.totals.cut_off == 1);
    assert!(status.clients.iter().all(|client| client.name != "#frozen#paris"));
    let why = "it reads nothing, and others wait";
    assert_eq!(status.last_cut_off, Some(format!("#frozen#paris: {why}")));
    let is_told = |line: &String| line.contains("client cut off") && line.contains(why);
    assert_eq!(log.lines().iter().filter(|line| is_told(line)).count(), 1);
    let mut left = false;
    while let Ok(received) = frozen.receive() {
        left = received == Received::Left(group);
    }
    assert!(left, "its last notice is that it has left");
}

/// Members of its group may lag, but who writes to it alone waits.
#[test]
fn a_member_that_may_lag_is_cut_off_if_private_messages_wait_for_it() {
    let tables = format!("{TABLES}[limits]\nlongest-stall = \"1 s\"\n");
    let daemon = start(one_with(&tables), "paris", &Log::default()).unwrap();
    let (mut frozen, mut sender) = (daemon.client("frozen"), daemon.client("sender"));
    frozen.join("feed".parse().unwrap()).unwrap();
    joined(&mut frozen);
    let private: GroupName = "#frozen#paris".parse().unwrap();
    let sending = thread::spawn(move || {
        for _ in 0..MESSAGES {
            sender.multicast(Service::Fifo, &[private], 0, vec![7; SIZE as usize]).unwrap();
        }
        sender
    });
    daemon.wait(|status| status.totals.cut_off == 1);
    sending.join().unwrap();
}

/// As Spread's `spflooder`, whose only thread sends all before it reads.
#[test]
fn a_program_may_send_itself_20_mb_before_it_reads() {
    let daemon = start(one(), "paris", &Log::default()).unwrap();
    let mut flooder = daemon.client("flooder");
    let group: GroupName = "flood".parse().unwrap();
    flooder.join(group).unwrap();
    joined(&mut flooder);
    for _ in 0..200 {
        flooder.multicast(Service::Safe, &[group], 0, vec![7; 100_000]).unwrap();
    }
    (0..200).for_each(|_| assert_eq!(message(&mut flooder).len(), 100_000));
}

/// More to itself than may wait: the wait ends with the connection.
#[test]
fn a_program_that_sends_itself_too_much_is_cut_off() {
    let tables = "[flow-control]\nfee = 0\n\
        [limits]\nlongest-stall = \"1 s\"\nqueue-per-client = \"256 KB\"\n";
    let daemon = start(one_with(tables), "paris", &Log::default()).unwrap();
    let mut flooder = daemon.client("flooder");
    let group: GroupName = "flood".parse().unwrap();
    flooder.join(group).unwrap();
    joined(&mut flooder);
    let mut send = || flooder.multicast(Service::Fifo, &[group], 0, vec![7; 100_000]);
    assert!((0..1000).any(|_| send().is_err()), "the connection has ended");
    daemon.wait(|status| status.totals.cut_off == 1 && status.clients.is_empty());
}

#[test]
fn a_client_joins_3000_groups_and_one_too_many_is_logged() {
    let log = Log::default();
    let daemon = start(one_with("[limits]\ngroups-per-client = 3000\n"), "paris", &log).unwrap();
    let mut client = daemon.client("many");
    let group = |number: usize| format!("g{number}").parse::<GroupName>().unwrap();
    for number in 0..3000 {
        client.join(group(number)).unwrap();
        joined(&mut client);
    }
    client.join(group(3000)).unwrap();
    assert!(matches!(client.receive().unwrap(), Received::Rejected { .. }));
    let is_told = |line: &String| line.contains("join rejected: too many groups");
    assert_eq!(log.lines().iter().filter(|line| is_told(line)).count(), 1);
    client.leave(group(7)).unwrap();
    assert_eq!(client.receive().unwrap(), Received::Left(group(7)));
    client.join(group(3000)).unwrap();
    joined(&mut client);
    assert_eq!(daemon.status().clients[0].group_count, 3000);
}
