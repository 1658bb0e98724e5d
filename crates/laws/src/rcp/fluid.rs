//! For tests: a port and equal senders around one loop, in parcels of a hundredth of a round trip.
//!
//! Rates and queue are those of a fluid; port, source and sink are the laws' own. Packets claim the
//! RTT of the path, as in the stability results, which ignore queueing delay.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Time};

use super::{RateLaw, RcpHeader, Variant};
use crate::law::{Acked, Draw, Law, LinkContext, Named, Port, PortQueue, Sending, Sink, Source};
use crate::options::Options;
use crate::testing::{FLOW, acked, sending};

const RTT: Duration = Duration::from_millis(100);
/// Number of parcels, and of slots, in a round trip. The fluid model has no slots, so slots are
/// short.
const PARCELS: u64 = 100;
const FLOWS: f64 = 10.0;
/// Capacity of the link, B/s.
const CAPACITY: f64 = 1e7;
/// Bytes of a packet of the fluid, few compared with a parcel.
const DROP: Bytes = Bytes::new(50);

/// Arrival rates at the port as shares of the capacity, one a parcel, of ten flows that start
/// together, for so many round trips.
pub(crate) fn arrivals<V: Variant>(options: &[(&str, &str)], round_trips: u64) -> Vec<f64> {
    let fixed = [("slot", "1 ms"), ("initial_rtt", "100 ms")];
    let mut all = Options::defaults(V::INFO.options);
    for (name, value) in fixed.iter().chain(options) {
        all.set(name, value).unwrap();
    }
    let law = RateLaw::<V>::from_options(&all).unwrap();
    let rate = Rate::from_bps(8 * CAPACITY as u64);
    let mut port =
        law.port(&LinkContext { rate, delay: Duration::ZERO, id: 1, draw: Draw::new(0) }).unwrap();
    let mut source = law.source(&FLOW);
    let mut sink = law.sink(&FLOW).unwrap();
    let parcel = RTT / PARCELS;

    let mut now = Time::ZERO;
    let mut opening = source.on_open(now);
    port.on_departure(now, FLOW.packet, opening.as_mut(), PortQueue::default());
    opening.iter().for_each(|header| sink.on_data(now, header));
    let reply = sink.on_ack(now);
    source.on_opened(now, Some(RTT), reply.as_ref());

    // The whole round trip lies between port and sender.
    let mut returning: VecDeque<Option<RcpHeader>> = [reply; PARCELS as usize].into();
    let mut queue = 0.0;
    let mut uncounted = 0.0;
    let mut shares = Vec::new();
    for _ in 0..PARCELS * round_trips {
        let reply = returning.pop_front().flatten();
        source.on_ack(&Acked { now, srtt: RTT, ..acked() }, reply.as_ref());
        let input = FLOWS * source.pacing().map_or(0.0, |pace| pace.get());
        let mut header = source.on_send(&Sending { now, srtt: RTT, ..sending() });
        uncounted += input * parcel.secs();
        while uncounted >= DROP.as_f64() {
            uncounted -= DROP.as_f64();
            port.on_arrival(now, DROP, header.as_mut(), PortQueue::default());
        }
        queue = f64::max(queue + (input - CAPACITY) * parcel.secs(), 0.0);
        now += parcel;
        let waiting = PortQueue { bytes: Bytes::new(queue as u64), packets: 0 };
        port.on_timer(now, waiting);
        port.on_departure(now, DROP, header.as_mut(), waiting);
        header.iter().for_each(|header| sink.on_data(now, header));
        returning.push_back(sink.on_ack(now));
        shares.push(input / CAPACITY);
    }
    shares
}

/// Half of the difference between the lowest and the highest share in the last ten round trips.
pub(crate) fn swing(shares: &[f64]) -> f64 {
    let last = &shares[shares.len() - 10 * PARCELS as usize..];
    let (low, high) =
        last.iter().fold((f64::MAX, f64::MIN), |(low, high), s| (low.min(*s), high.max(*s)));
    (high - low) / 2.0
}
