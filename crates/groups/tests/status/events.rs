//! Events for the log.

use ratewire_groups::certificates::{Making, make};
use ratewire_groups::client::Options;
use ratewire_groups::client::blocking::Connection;
use ratewire_groups::config::Protection;

use crate::log::Log;
use crate::running::{one, start, two};

#[test]
fn refused_clients_do_not_fill_the_log() {
    let log = Log::default();
    let daemon = start(one(), "paris", &log).unwrap();
    let _ann = daemon.client("ann");
    for _ in 0..100 {
        let again = Options { name: Some("ann".parse().unwrap()), ..Options::default() };
        assert!(daemon.connect(again).is_err());
    }
    let totals = daemon.wait(|status| status.totals.refused == 100).totals;
    drop(daemon);
    let lines = log.lines();
    let refused: Vec<&String> =
        lines.iter().filter(|line| line.contains("client refused")).collect();
    assert_eq!(refused.len() as u64 + totals.log_left_out, 100);
    assert!(totals.log_left_out > 0, "{lines:#?}");
    let first = refused[0];
    assert!(first.starts_with("WARN message=client refused from=\"127.0.0.1:"), "{first}");
    assert!(first.contains("reason=\"another client of the daemon has this name\""), "{first}");
    let event = |text: &str| lines.iter().any(|line| line.starts_with(text));
    assert!(event("INFO message=status served address=\"127.0.0.1:"), "{lines:#?}");
    assert!(event("INFO message=daemon starts daemon=\"paris\" version="), "{lines:#?}");
    assert!(event("INFO message=daemon ready daemon=\"paris\""), "{lines:#?}");
    assert!(event("INFO message=daemon stops daemon=\"paris\""), "{lines:#?}");
}

#[test]
fn a_free_port_for_clients_is_logged() {
    let (mut config, log) = (one(), Log::default());
    config.daemons[0].listen = vec!["127.0.0.1:0".parse().unwrap()];
    let _daemon = start(config, "paris", &log).unwrap();
    let lines = log.lines();
    let address = lines.iter().find_map(|line| {
        line.strip_prefix("INFO message=clients served address=\"")?.strip_suffix('"')
    });
    let address = address.unwrap_or_else(|| panic!("{lines:#?}")).parse().unwrap();
    Connection::connect(&address, Options::default()).unwrap();
}

#[test]
fn daemons_of_two_sets_of_certificates_name_the_remedy() {
    let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let (config, logs) = (two(), [(); 2].map(|()| Log::default()));
    let daemons = [0, 1].map(|place| {
        let (folder, mut config) = (folders[place].path(), config.clone());
        make(folder, &["paris", "tokyo"], std::time::SystemTime::now(), Making::default()).unwrap();
        config.protection = Protection::Certificates(folder.to_path_buf());
        start(config, ["paris", "tokyo"][place], &logs[place]).unwrap()
    });
    // Paris connects. It may have tried before Tokyo was there.
    let is_told = |why: &str| why.contains("not made with the authority of this daemon's set");
    daemons[0].wait(|status| status.links[0].last_error.as_deref().is_some_and(is_told));
    drop(daemons);
    let remedy = "make one set with `ratewire-groups certificates`, copy it to all hosts";
    for (log, event) in logs.iter().zip(["link cannot come up", "no link for this connection"]) {
        let lines = log.lines();
        let is_told = |line: &String| line.contains(event) && line.contains(remedy);
        assert!(lines.iter().any(is_told), "{lines:#?}");
    }
}

/// With certificates and without. Paris has the lower number, but cannot connect with a daemon of
/// which it does not know.
#[test]
fn a_daemon_that_another_does_not_know_is_told_of_at_both_ends() {
    let folder = tempfile::tempdir().unwrap();
    let now = std::time::SystemTime::now();
    make(folder.path(), &["paris", "tokyo"], now, Making::default()).unwrap();
    let pairs = [Protection::Plaintext, Protection::Certificates(folder.path().to_path_buf())];
    let pairs = pairs.map(|protection| {
        let (mut whole, logs) = (two(), [(); 2].map(|()| Log::default()));
        whole.protection = protection;
        let mut first = whole.clone();
        first.daemons.truncate(1);
        first.links.clear();
        let configs = [(first, "paris"), (whole, "tokyo")].into_iter().zip(&logs);
        let daemons: Vec<_> =
            configs.map(|((config, name), log)| start(config, name, log).unwrap()).collect();
        (daemons, logs)
    });
    for (daemons, logs) in pairs {
        let is_told = |why: &str| why.contains("groups.toml of daemon `paris` does not have this");
        daemons[1].wait(|status| status.links[0].last_error.as_deref().is_some_and(is_told));
        drop(daemons);
        for (log, told) in logs.iter().zip([
            "groups.toml has no daemon `tokyo`; write it there behind all others, and reload",
            "does not have this daemon; copy the same file to all hosts, and reload it there",
        ]) {
            let lines = log.lines();
            assert!(lines.iter().any(|line| line.contains(told)), "{lines:#?}");
        }
    }
}
