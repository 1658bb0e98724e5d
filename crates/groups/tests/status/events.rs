//! Events for the log.

use std::fmt;
use std::sync::{Arc, Mutex};

use ratewire_groups::client::Options;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Dispatch, Event, Metadata, Subscriber};

use crate::running::{one, start};

/// Keeps events as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "ratewire_groups"
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 += &format!(" {}={value:?}", field.name());
    }
}

#[test]
fn refused_clients_do_not_fill_the_log() {
    let log = Log::default();
    let daemon = start(one(), "paris", Dispatch::new(log.clone())).unwrap();
    let _ann = daemon.client("ann");
    for _ in 0..100 {
        let again = Options { name: Some("ann".parse().unwrap()), ..Options::default() };
        assert!(daemon.connect(again).is_err());
    }
    let totals = daemon.wait(|status| status.totals.refused == 100).totals;
    drop(daemon);
    let lines = log.0.lock().unwrap().clone();
    let refused: Vec<&String> =
        lines.iter().filter(|line| line.contains("client refused")).collect();
    assert_eq!(refused.len() as u64 + totals.log_left_out, 100);
    assert!(totals.log_left_out > 0, "{lines:#?}");
    let first = refused[0];
    assert!(first.starts_with("WARN message=client refused from=\"127.0.0.1:"), "{first}");
    assert!(first.contains("reason=\"another client of the daemon has this name\""), "{first}");
    let event = |text: &str| lines.iter().any(|line| line.starts_with(text));
    assert!(event("INFO message=status served address=\"127.0.0.1:"), "{lines:#?}");
    assert!(event("INFO message=daemon ready daemon=\"paris\" version="), "{lines:#?}");
    assert!(event("INFO message=daemon stops daemon=\"paris\""), "{lines:#?}");
}
