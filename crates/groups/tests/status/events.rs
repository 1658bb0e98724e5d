//! Events for the log.

use ratewire_groups::client::Options;

use crate::log::Log;
use crate::running::{one, start};

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
