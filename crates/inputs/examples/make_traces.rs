//! Writes the Mahimahi traces that Ratewire ships in `data/mahimahi`:
//!
//! ```text
//! cargo run -p ratewire-inputs --example make_traces -- data/mahimahi
//! ```
//!
//! A packet gets its stamp in the millisecond in which the rate, summed up, has paid for its last
//! bit. All of it is integer arithmetic, so that any machine writes the same bytes.

use std::path::Path;

use ratewire_inputs::InputError;
use ratewire_inputs::mahimahi::{LinkTrace, OPPORTUNITY};

/// Each trace's file name and stamps.
pub fn traces() -> Result<[(&'static str, LinkTrace); 2], InputError> {
    Ok([
        ("steady-12mbps.down", following("steady", 1_000, |_| 12_000_000)?),
        ("sawtooth-2-10mbps.down", following("sawtooth", 10_000, sawtooth)?),
    ])
}

/// Two teeth of 5 s: from 2 to 10 Mbit/s in a straight line, then back at once. In bit/s, in the
/// middle of the given millisecond, so that a tooth pays for a whole number of packets.
fn sawtooth(ms: u64) -> u64 {
    2_000_000 + 800 * (2 * (ms % 5_000) + 1)
}

/// The opportunities of a link with the given rate in bit/s in each of `length` milliseconds.
fn following(name: &str, length: u64, rate: impl Fn(u64) -> u64) -> Result<LinkTrace, InputError> {
    // Bit/s for a millisecond: thousandths of a bit.
    let packet = OPPORTUNITY.bits() * 1_000;
    let mut paid = 0;
    let mut stamps = Vec::new();
    for ms in 0..length {
        paid += rate(ms);
        while paid >= packet {
            paid -= packet;
            stamps.push(ms + 1);
        }
    }
    LinkTrace::new(name, stamps)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("name the folder to write to")?;
    for (name, trace) in traces()? {
        let path = Path::new(&folder).join(name);
        std::fs::write(&path, trace.to_text())?;
        println!(
            "{}: {} opportunities in {}, {}",
            path.display(),
            trace.opportunities.len(),
            trace.period,
            trace.mean_rate()
        );
    }
    Ok(())
}
