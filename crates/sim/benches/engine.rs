//! Benchmarks of the hot path: the event queue, and whole runs by data packet.

use divan::Bencher;
use divan::counter::ItemsCount;
use ratewire_laws::AnyLaw;
use ratewire_sim::Wheel;
use ratewire_sim::dumbbell::Dumbbell;
use ratewire_sim::record::NoRecorder;
use ratewire_units::{Duration, Rate, Time};

/// The command's allocator, so that the benchmark shows the command's speed.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    divan::main();
}

/// The hold model: pops the next event, and pushes one some time later.
#[divan::bench(args = [64, 1_000, 30_000, 1_000_000])]
fn hold(bencher: Bencher, pending: u64) {
    let mut wheel = Wheel::default();
    let mut state = 1u64;
    let mut later = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        Duration::from_nanos(1 + (state >> 33) % 20_000_000)
    };
    for i in 0..pending {
        wheel.push(Time::ZERO + later(), i as u32);
    }
    bencher.counter(ItemsCount::new(1000u64)).bench_local(move || {
        for _ in 0..1000 {
            if let Some((now, what)) = wheel.pop() {
                wheel.push(now + later(), what);
            }
        }
    });
}

/// Delivered data packets of a dumbbell; the mean time of an item is the cost of a packet.
#[divan::bench(args = ["xcp", "newreno", "cubic"], sample_count = 5, sample_size = 1)]
fn dumbbell(bencher: Bencher, law: &str) {
    let law = AnyLaw::new(law, &[]).expect("a registered law");
    let rate = Rate::from_mbps(100);
    let mut dumbbell = Dumbbell::new(law, 10, rate, Duration::from_millis(80), 1000);
    dumbbell.duration = Duration::from_secs(20);
    let setup = dumbbell.setup();
    let run = || ratewire_sim::run(&setup, &mut NoRecorder).expect("a dumbbell runs");
    let packets = run().data_packets_delivered;
    bencher.counter(ItemsCount::new(packets)).bench_local(run);
}

/// A path with a switch: from the first source to a switch at the second router, and from there to
/// many destinations, or back. An item is a packet from end to end, as in [`dumbbell`].
#[divan::bench(
    args = [("xcp", 4, false), ("xcp", 256, false), ("xcp", 256, true), ("newreno", 256, false)],
    sample_count = 5,
    sample_size = 1
)]
fn ensemble(bencher: Bencher, (law, members, outbound): (&str, u32, bool)) {
    let law = AnyLaw::new(law, &[]).expect("a registered law");
    let rate = Rate::from_mbps(100);
    let mut dumbbell = Dumbbell::new(law, members, rate, Duration::from_millis(80), 1000);
    dumbbell.duration = Duration::from_secs(20);
    let setup = dumbbell.through_a_switch(outbound);
    let run = || ratewire_sim::run(&setup, &mut NoRecorder).expect("an ensemble runs");
    // A packet is delivered at the switch, and again at the other end.
    let packets = run().data_packets_delivered / 2;
    bencher.counter(ItemsCount::new(packets)).bench_local(run);
}
