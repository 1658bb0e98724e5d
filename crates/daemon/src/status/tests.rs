//! A server and its client, in the words of another daemon than the groups'.
#![expect(clippy::disallowed_methods, reason = "the server runs in a thread of its own")]

use std::cell::Cell;
use std::rc::Rc;
use std::thread;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::task::LocalSet;

use super::*;
use crate::metrics::{self, Format};
use ratewire_status::{Program, fetch};

const SWITCH: Program = Program { command: "ratewire-switch", noun: "switch", file: "switch.toml" };

/// Counts the requests for its state.
#[derive(Default)]
struct Counting(Cell<u64>);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Count {
    asked: u64,
}

impl Served for Counting {
    type Status = Count;

    fn status(&self) -> Count {
        self.0.set(self.0.get() + 1);
        Count { asked: self.0.get() }
    }

    fn metrics(status: Count, format: Format) -> Result<String, std::fmt::Error> {
        metrics::text("ratewire_switch", format, status, |out, status| {
            out.gauge("asked", "Requests", None, status.asked)
        })
    }

    fn not_accepted(&self, error: &std::io::Error) {
        panic!("{error}");
    }
}

/// A state that has a key which no daemon sends.
#[derive(Debug, Deserialize)]
struct Other {
    #[expect(dead_code, reason = "it is never sent")]
    unknown: u64,
}

#[test]
fn a_state_is_served_in_the_words_of_its_daemon() {
    let (ready, address) = std::sync::mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        LocalSet::new().block_on(&runtime, async {
            let server = Server::bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
            ready.send(server.address()).unwrap();
            tokio::select! {
                () = server.serve(&SWITCH, Rc::new(Counting::default())) => {}
                _ = stopped => {}
            }
        });
    });
    let address = address.recv().unwrap();
    for asked in 1..=2 {
        assert_eq!(fetch::<Count>(&SWITCH, address).unwrap(), Count { asked });
    }
    let wrong = fetch::<Other>(&SWITCH, address).unwrap_err();
    let said = format!("the answer from {address} is not the status of a switch of this version");
    assert_eq!(wrong.to_string(), said);
    assert!(wrong.help().starts_with("run the switch's version of this command, or name the"));
    drop(stop);
    serving.join().unwrap();
    let wrong = fetch::<Count>(&SWITCH, address).unwrap_err();
    assert_eq!(wrong.to_string(), format!("no switch tells its status at {address}"));
    let help = "start a switch, or name the address that `status` has in its switch.toml";
    assert_eq!(wrong.help(), help);
}
