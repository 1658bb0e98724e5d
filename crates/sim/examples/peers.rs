//! Scratch: speed on the workloads of PEERS.
use ratewire_laws::AnyLaw;
use ratewire_sim::dumbbell::Dumbbell;
use ratewire_units::{Duration, Rate};
fn main() {
    let only = std::env::args().nth(1);
    let ms = Duration::from_millis;
    let xcp = |o: &[(&str, &str)]| AnyLaw::new("xcp", o).unwrap();
    let unpaced =
        [("pacing", "false"), ("throughput", "cwnd"), ("aging", "0"), ("desired", "100 Gbit/s")];
    let mut runs = Vec::new();
    let b = |law| {
        let mut d = Dumbbell::new(law, 10, Rate::from_mbps(100), ms(80), 1000);
        d.duration = Duration::from_secs(60);
        d
    };
    runs.push(("B-xcp-paced", b(xcp(&[]))));
    runs.push(("B-xcp", b(xcp(&unpaced))));
    runs.push(("B-newreno", b(AnyLaw::new("newreno", &[]).unwrap())));
    let mut c = Dumbbell::new(xcp(&unpaced), 3, Rate::from_mbps(1000), ms(50), 6250);
    c.stagger = Duration::from_secs(10);
    c.duration = Duration::from_secs(30);
    runs.push(("C-xcp", c));
    for (n, l) in [
        ("X100", xcp(&unpaced)),
        ("T100-newreno", AnyLaw::new("newreno", &[]).unwrap()),
        ("T100-cubic", AnyLaw::new("cubic", &[]).unwrap()),
    ] {
        let mut d = Dumbbell::new(l, 100, Rate::from_mbps(1000), ms(50), 6250);
        d.stagger = ms(10);
        d.duration = Duration::from_secs(20);
        runs.push((n, d));
    }
    let mut d = Dumbbell::new(
        AnyLaw::new("newreno", &[]).unwrap(),
        1000,
        Rate::from_mbps(10_000),
        ms(50),
        62500,
    );
    d.stagger = ms(1);
    d.duration = Duration::from_secs(5);
    runs.push(("T1000", d));
    let mut d = Dumbbell::new(xcp(&[]), 10000, Rate::from_mbps(10_000), ms(80), 62500);
    d.duration = Duration::from_secs(5);
    runs.push(("X10000-paced", d));
    for (name, d) in runs {
        if only.as_ref().is_some_and(|o| !name.starts_with(o.as_str())) {
            continue;
        }
        #[allow(clippy::disallowed_methods)]
        let t = std::time::Instant::now();
        let o = ratewire_sim::run(&d.setup(), &mut ratewire_sim::record::NoRecorder).unwrap();
        let s = t.elapsed().as_secs_f64();
        let l = &o.links[0];
        println!(
            "{name:14} {:8} data pkts {:5.2} s  {:5.2} M/s  {:4.1} events/pkt {:4.0} ns/event  util {:.4} qmax {} drops {:?} rtx {}",
            o.data_packets_delivered,
            s,
            o.data_packets_delivered as f64 / s / 1e6,
            o.events as f64 / o.data_packets_delivered as f64,
            s * 1e9 / o.events as f64,
            l.busy.secs() / d.duration.secs(),
            l.queue_packets_max,
            l.drops.total(),
            o.flows.iter().map(|f| f.retransmitted.get()).sum::<u64>()
        );
    }
}
