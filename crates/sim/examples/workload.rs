//! One workload of `make bench`, timed from outside: `workload LAW FLOWS MBITPS RTT_MS QUEUE
//! STAGGER_MS DURATION_S [record|paused|ensemble|shared]`.
//!
//! With the law `overlay`, the flows are clients of an overlay over fifty nodes, whose connections
//! use NewReno. With `shared` the flows belong to ten pairs of hosts, otherwise each has its own
//! hosts.
//!
//! Prints the delivered data packets, the events, the packet transmissions over all links, and the
//! bottleneck's utilisation.

mod outside;

use std::process::ExitCode;

use ratewire_laws::AnyLaw;
use ratewire_sim::dumbbell::Dumbbell;
use ratewire_sim::record::NoRecorder;
use ratewire_transport::ReceiveWindow;
use ratewire_units::{Bytes, Duration, Rate};

/// The command's allocator, so that the workload shows the command's speed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Number of pairs of hosts that share the flows.
const PAIRS: u32 = 10;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("{reason}");
            ExitCode::from(2)
        }
    }
}

fn run(args: &[String]) -> Result<String, String> {
    let [law, numbers @ ..] = args else {
        return Err("usage: workload LAW FLOWS MBITPS RTT_MS QUEUE STAGGER_MS DURATION_S".into());
    };
    let has = |word: &str| numbers.iter().any(|a| a == word);
    let is_overlay = law == "overlay";
    let (record, paused, ensemble) = (has("record"), has("paused"), has("ensemble"));
    let shared = has("shared");
    let numbers: Vec<u64> = numbers
        .iter()
        .filter(|a| !["record", "paused", "ensemble", "shared"].contains(&a.as_str()))
        .map(|a| a.parse().map_err(|_| format!("{a:?} is not a whole number")))
        .collect::<Result<_, _>>()?;
    let [flows, mbitps, rtt, queue, stagger, duration] = numbers[..] else {
        return Err("six numbers follow the law".into());
    };
    if shared && (!flows.is_multiple_of(u64::from(PAIRS)) || is_overlay || paused || ensemble) {
        return Err(format!("`shared` is of plain flows, in multiples of {PAIRS}"));
    }
    let law = make_law(if is_overlay { "newreno" } else { law }).map_err(|e| e.to_string())?;
    let rate = Rate::from_mbps(mbitps);
    let rtt = Duration::from_millis(rtt);
    let (pairs, flows_a_pair) =
        if shared { (PAIRS, flows as u32 / PAIRS) } else { (flows as u32, 1) };
    let mut dumbbell = Dumbbell::new(law, pairs, rate, rtt, queue as u32);
    dumbbell.flows_a_pair = flows_a_pair;
    if paused {
        dumbbell.paused = true;
        // Without this limit, paused senders fill all the headroom.
        dumbbell.transport.receive_window = ReceiveWindow::Fixed(Bytes::new(100_000));
    }
    dumbbell.stagger = Duration::from_millis(stagger);
    dumbbell.duration = Duration::from_secs(duration);
    let mut setup = if is_overlay {
        let law = dumbbell.law.clone();
        ratewire_sim::overlay::workload(law, flows as u32, rate, rtt, queue as u32)
    } else if ensemble {
        dumbbell.through_a_switch(false)
    } else {
        dumbbell.setup()
    };
    setup.duration = dumbbell.duration;
    if record {
        setup.sample_interval = Some(dumbbell.duration / 1000);
    }
    let outcome = ratewire_sim::run(&setup, &mut NoRecorder).map_err(|e| e.to_string())?;
    let utilisation = outcome.links[0].busy.secs() / dumbbell.duration.secs();
    // With an ensemble a packet is delivered at the switch, and again at the other end.
    let packets = outcome.data_packets_delivered / if ensemble { 2 } else { 1 };
    let (events, transmissions) = (outcome.events, outcome.transmissions());
    Ok(format!(
        "packets {packets} events {events} transmissions {transmissions} \
         utilisation {utilisation:.4}"
    ))
}

/// Makes a law. `xcp-window` is XCP as in ns-2: by window, not paced, not aged. `rcp-outside` is
/// RCP as a law of another crate; compared with `rcp` it shows the cost of pointers.
fn make_law(name: &str) -> Result<AnyLaw, ratewire_laws::OptionError> {
    let as_in_ns2 =
        [("throughput", "cwnd"), ("pacing", "false"), ("aging", "0"), ("rtt_zero", "ignore")];
    match name {
        "xcp-window" => AnyLaw::new("xcp", &as_in_ns2),
        "rcp-outside" => Ok(outside::law()),
        _ => AnyLaw::new(name, &[]),
    }
}
