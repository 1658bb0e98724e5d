//! The status of running daemons.
#![expect(clippy::disallowed_methods, reason = "daemons run in threads, and tests wait for them")]

mod events;
mod http;
mod log;
mod running;

use std::path::Path;

use log::Log;
use ratewire_groups::client::{Options, Service};
use ratewire_groups::config::{Config, Listen, Policy};
use ratewire_groups::daemon::{ClientStatus, DaemonError, StatusError, fetch_status};
use ratewire_testing::free_address;
use running::{joined, message, one, one_with, paris, start, two};

#[test]
fn clients_and_groups_are_shown() {
    let daemon = paris();
    let mut ann = daemon.client("ann");
    ann.join("chat".parse().unwrap()).unwrap();
    joined(&mut ann);
    for _ in 0..3 {
        ann.multicast(Service::Agreed, &["chat".parse().unwrap()], 0, vec![7; 1000]).unwrap();
        assert_eq!(message(&mut ann).len(), 1000);
    }
    let status = daemon.wait(|status| status.totals.messages_out >= 4);
    assert_eq!(
        (status.daemon.as_str(), status.version.as_str()),
        ("paris", env!("CARGO_PKG_VERSION"))
    );
    assert_eq!((status.view.members, status.view.is_changing), (vec!["paris".to_string()], false));
    assert!(status.view.absent.is_empty() && status.links.is_empty());
    let [client] = &status.clients[..] else { panic!("one client") };
    assert_eq!(client.name, "#ann#paris");
    assert!(client.from.starts_with("127.0.0.1:"), "{}", client.from);
    assert_eq!((client.groups.as_slice(), client.group_count), (&["chat".to_string()][..], 1));
    assert_eq!((client.sent, client.delivered, client.dropped), (3, 4, 0));
    assert_eq!((client.queue_bytes, client.is_full, client.is_blocked), (0, false, false));
    assert!(client.money_dollars > 0.0 && client.salary_period_s > 0.0);
    let [group] = &status.groups[..] else { panic!("one group") };
    assert_eq!((group.name.as_str(), group.policy), ("chat", Policy::Block));
    assert_eq!((group.local_members, group.members, status.group_count), (1, 1, 1));
    let totals = status.totals;
    assert_eq!((totals.accepted, totals.messages_in, totals.bytes_in), (1, 3, 3000));
    assert!(totals.bytes_out > 3000);
    let table = daemon.status().table();
    assert!(table.contains("\n#ann#paris  127.0.0.1:"), "{table}");
    assert!(table.contains("\nchat   block        1             1       1\n"), "{table}");
    assert!(table.contains("\nno links\n"), "{table}");
}

/// $3 buy 24 messages for a client of weight 2, to a group of weight 4. There is no second salary.
#[test]
fn clients_and_groups_have_salaries_and_weights() {
    let tables = "[flow-control]\nbudget = \"paper\"\nfirst-period = \"60 s\"\nrandomise = false\n\
        [[client]]\nname = \"an*\"\nsalary = 3\nweight = 2\n\
        [[group]]\nname = \"chat\"\nweight = 4\n";
    let daemon = start(one_with(tables), "paris", &Log::default()).unwrap();
    let mut ann = daemon.client("ann");
    ann.join("chat".parse().unwrap()).unwrap();
    joined(&mut ann);
    for _ in 0..30 {
        ann.multicast(Service::Fifo, &["chat".parse().unwrap()], 0, vec![7; 10]).unwrap();
    }
    let status = daemon.wait(|status| status.clients.iter().any(|client| client.is_blocked));
    let client = &status.clients[0];
    assert_eq!((client.sent, client.salary_dollars, client.weight), (24, Some(3.0), Some(2.0)));
    assert_eq!(status.groups[0].weight, Some(4.0));
    let _bob = daemon.client("bob");
    let status = daemon.wait(|status| status.clients.len() == 2);
    let bob = status.clients.iter().find(|client| client.name == "#bob#paris").unwrap();
    assert_eq!((bob.salary_dollars, bob.weight), (Some(10.0), Some(1.0)));
}

#[test]
fn latency_is_from_the_purchase_to_the_delivery() {
    for measures in [true, false] {
        let mut config = one_with("[flow-control]\nbudget = \"paper\"\n");
        config.measures_latency = measures;
        let daemon = start(config, "paris", &Log::default()).unwrap();
        let mut ann = daemon.client("ann");
        ann.join("chat".parse().unwrap()).unwrap();
        joined(&mut ann);
        // More than the first salary buys: some messages wait, which does not count.
        for _ in 0..100 {
            ann.multicast(Service::Fifo, &["chat".parse().unwrap()], 0, vec![7; 10]).unwrap();
        }
        (0..100).for_each(|_| assert_eq!(message(&mut ann).len(), 10));
        let status = daemon.status();
        assert_eq!(status.clients[0].owed_deliveries, 100);
        let Some(latency) = status.groups[0].latency else {
            assert!(!measures);
            continue;
        };
        assert!(measures && latency.messages == 100);
        assert!(latency.longest_s <= latency.sum_s);
        assert!(latency.sum_s < status.clients[0].blocked_s);
    }
}

#[test]
fn a_client_of_a_unix_socket_is_a_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let mut config = one();
    config.daemons[0].listen.push(Listen::Unix(path.clone()));
    let daemon = start(config, "paris", &Log::default()).unwrap();
    let address = path.to_str().unwrap().parse().unwrap();
    let connection = ratewire_groups::client::blocking::Connection::connect(
        &address,
        Options { name: Some("bob".parse().unwrap()), ..Options::default() },
    );
    let from = &daemon.status().clients[0].from;
    assert!(from.starts_with(&format!("process {} of user ", std::process::id())), "{from}");
    drop(connection);
    assert_eq!(daemon.wait(|status| status.clients.is_empty()).totals.accepted, 1);
}

#[test]
fn refused_clients_and_violations_are_counted() {
    use std::io::{Read, Write};
    let daemon = paris();
    let _ann = daemon.client("ann");
    let again = Options { name: Some("ann".parse().unwrap()), ..Options::default() };
    assert!(daemon.connect(again).is_err());
    // The handshake of a client called `eve`, and then nonsense.
    let mut eve = std::net::TcpStream::connect(daemon.clients).unwrap();
    let hello = ratewire_groups::spread::Hello {
        version: ratewire_groups::spread::Version::NEWEST,
        membership: false,
        priority: 0,
        name: Some("eve".parse().unwrap()),
    };
    eve.write_all(&hello.encode()).unwrap();
    eve.write_all(&ratewire_groups::spread::choice()).unwrap();
    eve.write_all(&[0xff; 200]).unwrap();
    _ = eve.read_to_end(&mut Vec::new());
    let totals = daemon.wait(|status| status.totals.violations > 0).totals;
    assert_eq!((totals.accepted, totals.refused, totals.violations), (2, 1, 1));
}

#[test]
fn links_show_their_traffic_and_why_they_are_down() {
    let (config, log) = (two(), Log::default());
    let paris = start(config.clone(), "paris", &log).unwrap();
    let alone = paris.wait(|status| status.links[0].last_error.is_some());
    assert_eq!(alone.view.absent, ["tokyo"]);
    let why = alone.links[0].last_error.clone().unwrap();
    assert!(why.contains("refused"), "{why}");
    let tokyo = start(config, "tokyo", &Log::default()).unwrap();
    let both = |status: &ratewire_groups::daemon::Status| status.view.members.len() == 2;
    assert!(paris.wait(both).view.entered >= 1);
    tokyo.wait(both);
    let (mut ann, mut bob) = (paris.client("ann"), tokyo.client("bob"));
    bob.join("chat".parse().unwrap()).unwrap();
    joined(&mut bob);
    let group = ["chat".parse().unwrap()];
    paris.wait(|status| status.group_count == 1);
    for _ in 0..5 {
        ann.multicast(Service::Safe, &group, 0, vec![7; 1000]).unwrap();
        message(&mut bob);
    }
    let status = paris.status();
    let link = &status.links[0];
    assert_eq!((link.peer.as_str(), link.is_up, link.reconnects), ("tokyo", true, 0));
    assert_eq!(link.last_error, Some(why));
    assert!(!status.table().contains("refused"), "{}", status.table());
    assert_eq!(link.sent.messages, 5);
    assert!(link.sent.data_bytes > 5000 && link.sent.other_bytes > 0);
    assert_eq!(
        link.sent.bytes() - link.sent.data_bytes - link.sent.other_bytes,
        link.sent.update_bytes
    );
    let far = tokyo.status();
    assert_eq!(far.links[0].received.messages, 5);
    assert_eq!(far.links[0].received.data_bytes, link.sent.data_bytes);
    assert_eq!((far.groups[0].local_members, status.groups[0].local_members), (1, 0));
    the_reference_has_all(&paris);
    drop((ann, bob, tokyo));
    let after = paris.wait(|status| !status.links[0].is_up);
    let why = after.links[0].last_error.clone().unwrap();
    // A daemon that goes with bytes unread resets its connections.
    let ways = ["ended the connection", "refused", "reset by peer"];
    assert!(ways.iter().any(|way| why.contains(way)), "{why}");
    assert!(
        after.table().contains("  down  ") && after.table().contains(&why),
        "{}",
        after.table()
    );
    let events = [
        "WARN message=link cannot come up peer=\"tokyo\" reason=\"Connection refused",
        "INFO message=link up peer=\"tokyo\"",
        "INFO message=view entered number=",
        "WARN message=link down peer=\"tokyo\" reason=\"",
    ];
    for event in events {
        assert!(log.lines().iter().any(|line| line.starts_with(event)), "{event}");
    }
}

/// Every key and metric of a daemon with a link, a client and a group is in the reference.
fn the_reference_has_all(daemon: &running::Running) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/groups-status.md");
    let page = std::fs::read_to_string(path).unwrap();
    let json = daemon.ask("GET /status.json", "").1;
    let mut keys: Vec<&str> =
        json.split("\":").filter_map(|before| before.rsplit('"').next()).collect();
    // The last part follows the last key.
    keys.pop();
    assert!(
        keys.contains(&"reconnects") && keys.contains(&"blocked_s") && keys.contains(&"policy")
    );
    let metrics = daemon.ask("GET /metrics", "").1;
    let metrics =
        metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    for name in keys.into_iter().chain(metrics) {
        assert!(page.contains(&format!("`{name}`")), "{name} is not in the reference");
    }
}

#[test]
fn slow_clients_are_cut_off_or_miss_messages() {
    let mut text = format!(
        "[[daemon]]\nname = \"paris\"\nlisten = [\"{}\"]\nstatus = \"{}\"\n",
        free_address(),
        free_address()
    );
    text += "[flow-control]\nfee = 0\n[limits]\nqueue-per-client = \"256 KB\"\n";
    text += "[[group]]\nname = \"late\"\nlag = 5\n[[group]]\nname = \"lossy\"\npolicy = \"drop\"\n";
    let config = Config::parse(Path::new("groups.toml"), &text).unwrap();
    let log = Log::default();
    let daemon = start(config, "paris", &log).unwrap();
    // Neither reads after it has joined; their sockets take some megabytes.
    let (mut late, mut lossy) = (daemon.client("late"), daemon.client("lossy"));
    late.join("late".parse().unwrap()).unwrap();
    joined(&mut late);
    lossy.join("lossy".parse().unwrap()).unwrap();
    joined(&mut lossy);
    let mut ann = daemon.client("ann");
    let groups = [["late".parse().unwrap()], ["lossy".parse().unwrap()]];
    for _ in 0..20 {
        for _ in 0..20 {
            ann.multicast(Service::Reliable, &groups[0], 0, vec![7; 100_000]).unwrap();
            ann.multicast(Service::Unreliable, &groups[1], 0, vec![7; 100_000]).unwrap();
        }
    }
    let status = daemon.wait(|status| status.totals.messages_in == 800);
    assert_eq!(status.totals.cut_off, 1);
    let why = "#late#paris: it is more messages behind than `lag` of the group allows";
    assert_eq!(status.last_cut_off.as_deref(), Some(why));
    assert!(status.table().contains(&format!("1, last {why}")), "{}", status.table());
    assert!(status.totals.dropped > 0);
    let of = |name: &str| status.clients.iter().find(|client| client.name == name);
    let deaf = of("#lossy#paris").expect("a client that misses messages stays");
    assert_eq!(deaf.dropped, status.totals.dropped);
    let text = status.groups.iter().map(|group| (group.name.as_str(), group.policy));
    assert!(text.eq([("lossy", Policy::Drop)]), "the group of the lost member is gone");
    let cut = log.lines().iter().filter(|line| line.contains("client cut off")).count();
    assert_eq!(cut, 1);
}

#[test]
fn a_blocked_client_is_shown_with_its_wait() {
    let daemon = paris();
    let mut deaf = daemon.client("deaf");
    deaf.join("chat".parse().unwrap()).unwrap();
    joined(&mut deaf);
    let mut ann = daemon.client("ann");
    let sending = std::thread::spawn(move || {
        let group = ["chat".parse().unwrap()];
        while ann.multicast(Service::Reliable, &group, 0, vec![7; 100_000]).is_ok() {}
    });
    let is_waiting = |client: &ClientStatus| client.is_blocked && client.blocked_s > 1.0;
    let status = daemon.wait(|status| status.clients.iter().any(is_waiting));
    let ann = status.clients.iter().find(|client| is_waiting(client)).unwrap();
    assert_eq!((ann.name.as_str(), ann.is_full), ("#ann#paris", false));
    assert!(status.table().contains("  blocked  "), "{}", status.table());
    let (_, metrics) = daemon.ask("GET /metrics", "");
    assert!(metrics.contains("\nratewire_groups_clients_blocked 1\n"), "{metrics}");
    // The daemon's end ends the wait.
    drop(daemon);
    sending.join().unwrap();
}

#[test]
fn a_taken_address_keeps_only_daemons_with_a_file_from_running() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let mut config = one();
    config.daemons[0].status = Some(address);
    let Err(error) = start(config.clone(), "paris", &Log::default()) else { panic!("it runs") };
    assert!(matches!(error, DaemonError::Status(at, _) if at == address));
    assert_eq!(error.to_string(), format!("cannot serve the status at {address}"));
    let mut single = Config::single();
    single.daemons = config.daemons;
    start(single, "paris", &Log::default()).unwrap();
}

#[test]
fn no_daemon_at_the_address_is_an_error_with_a_remedy() {
    let address = free_address();
    let error = fetch_status(address).unwrap_err();
    assert_eq!(error.to_string(), format!("no daemon tells its status at {address}"));
    assert!(error.help().starts_with("start a daemon, or name the address"), "{}", error.help());
    // A daemon's address for clients waits for the client to introduce itself.
    let daemon = paris();
    let error = fetch_status(daemon.clients).unwrap_err();
    assert!(matches!(error, StatusError::Connection(..) | StatusError::Late(_)), "{error}");
}
