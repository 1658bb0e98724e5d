//! Nanoseconds that each routing module takes for a frame, and how it spreads frames.
//!
//! `cargo run --release -p ratewire-wasm --example measure -- FILE.wasm ...` adds modules of your
//! own. Eight members are up, and owe what the frames before have put on them.

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ratewire_anypoint::routing::{
    Frame, KeyHash, LeastOutstanding, Member, PowerOfTwo, Prefix, RoundRobin, Routing, Weighted,
};
use ratewire_units::Bytes;
use ratewire_wasm::{Module, WasmRouting};

const MEMBERS: usize = 8;
const FRAMES: u64 = 1_000_000;
/// The best of this many runs counts: others had the processor's time taken away.
const RUNS: usize = 5;

/// Time for a run of frames, and how many each member got.
#[expect(clippy::disallowed_methods, clippy::disallowed_types, reason = "it measures")]
fn run(routing: &mut dyn Routing) -> (Duration, [u64; MEMBERS]) {
    let mut members = [Member { is_up: true, ..Member::default() }; MEMBERS];
    for (member, micros) in members.iter_mut().zip([90, 80, 70, 60, 50, 40, 30, 20]) {
        member.latency = ratewire_units::Duration::from_micros(micros);
    }
    let mut counts = [0; MEMBERS];
    let start = std::time::Instant::now();
    for number in 0..FRAMES {
        let content = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        if let Some(chosen) = routing.route(&Frame { number, content: &content }, &members) {
            counts[chosen] += 1;
            members[chosen].outstanding += Bytes::new(1_000);
        }
        // One member acknowledges what it owes.
        members[number as usize % MEMBERS].outstanding = Bytes::ZERO;
    }
    (start.elapsed(), counts)
}

fn print(name: &str, routing: &mut dyn Routing) {
    let runs = (0..RUNS).map(|_| run(routing));
    let Some((time, counts)) = runs.min_by_key(|(time, _)| *time) else { return };
    let nanos = time.as_nanos() as f64 / FRAMES as f64;
    println!("{name:32} {nanos:8.1} ns   {counts:?}");
}

fn main() -> Result<(), Box<dyn Error>> {
    print("round robin", &mut RoundRobin::default());
    print("weighted", &mut Weighted::new(vec![1.0; MEMBERS]));
    print("least outstanding", &mut LeastOutstanding::default());
    print("power of two", &mut PowerOfTwo::new(1));
    print("key hash", &mut KeyHash { offset: 0, len: 8 });
    print("prefix", &mut Prefix::new((0..8).map(|k| (vec![k as u8 * 32], k)).collect()));
    print("round robin, shared", &mut Arc::new(Mutex::new(RoundRobin::default())));
    let last = include_bytes!("last.wat");
    let mut wasm = WasmRouting::new(Module::load(last)?, Box::new(RoundRobin::default()));
    print("last.wat", &mut wasm);
    for path in std::env::args().skip(1) {
        let file = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
        let module = Module::load(&file).map_err(|error| format!("{path}: {error}"))?;
        let mut wasm = WasmRouting::new(module, Box::new(RoundRobin::default()));
        print(&path, &mut wasm);
        println!("{:32} {:?}", "", wasm.faults());
    }
    Ok(())
}
