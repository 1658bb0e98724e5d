//! Time of the router's program for a packet, over a program that does nothing. Needs root.

use ratewire_live::KernelLaw;
use ratewire_live::probe::{Probe, ProbeMemory};
use ratewire_units::Rate;

const PACKETS: u32 = 1_000_000;

fn main() {
    for law in KernelLaw::OF_ROUTERS {
        let mut room = ProbeMemory::uninit();
        let cost = Probe::new(&mut room, law, Rate::from_bps(100_000_000_000)).and_then(|probe| {
            let frame = frame(law);
            Ok((probe.cost_of_nothing(&frame, PACKETS)?, probe.cost(&frame, PACKETS)?))
        });
        match cost {
            Ok((nothing, with)) => println!(
                "{:<9} {:>4} ns a packet over the {} ns of a program that does nothing",
                law.name(),
                with.saturating_sub(nothing).as_nanos(),
                nothing.as_nanos()
            ),
            Err(e) => println!("{:<9} {e}", law.name()),
        }
    }
}

/// A full-size segment with timestamps and the law's option.
fn frame(law: KernelLaw) -> Vec<u8> {
    let mut options = vec![1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 1];
    match law {
        KernelLaw::Xcp => options.extend([254, 20, 0x52, 0x78]),
        KernelLaw::Jetmax => options.extend([254, 28, 0x52, 0x6a]),
        _ => options.extend([254, 16, 0x52, 0x72]),
    }
    // 16 MB/s, 50 ms, and a large wish; then the returned part. JetMax reads the packet as bound
    // elsewhere.
    options.extend([0, 0x0f, 0x42, 0x40, 0, 0, 0xc3, 0x50, 0x7f, 0xff, 0xff, 0xff]);
    match law {
        KernelLaw::Xcp => options.extend([0; 4]),
        KernelLaw::Jetmax => options.extend([0; 12]),
        _ => {}
    }
    let mut frame =
        vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, 0, 5, 0xdc, 0, 1, 0x40, 0, 64, 6];
    frame.extend([0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x9c, 0x40, 0x14, 0x51, 0, 0, 0, 1, 0, 0, 0, 1]);
    frame.extend([((20 + options.len()) / 4 * 16) as u8, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
    frame.extend(options);
    frame.resize(1514, 0);
    frame
}
