use alloc::format;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use ratewire_kernel::{Header, JetmaxConstants, RcpConstants, Rule, XcpConstants, XcpRules};
use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};
use ratewire_wire::xcp::{Format, XcpHeader};

use super::header::{KernelHeader, RCP, XCP};
use crate::law::{Draw, HeaderFormat, Law, LinkContext, MAX_HEADER, Named, Port, PortQueue};
use crate::options::Options;
use crate::rcp::{Rcp, RcpHeader, RcpKind};
use crate::xcp::Xcp;

use super::{JetmaxKernel, PiqiRcpKernel, RcpKernel, XcpKernel};

const FOREVER: f64 = 1e10;

pub(super) fn made<L: Named>(given: &[(&str, &str)]) -> L {
    let mut options = Options::defaults(L::INFO.options);
    for (name, value) in given {
        options.set(name, value).expect("an option");
    }
    L::from_options(&options).expect("a law")
}

pub(super) fn link(capacity: Rate) -> LinkContext<'static> {
    LinkContext { rate: capacity, delay: Duration::ZERO, id: 1, draw: Draw::new(0) }
}

/// One of the flows that share a port: packets of one size at a steady pace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flow {
    pub(super) rate: f64,
    rtt: Duration,
    pub(super) size: u64,
}

/// Arrivals of the flows' packets in a second and a half, in order: time and index of the flow.
pub(super) fn arrivals(flows: &[Flow]) -> Vec<(Time, usize)> {
    let mut arrivals = Vec::new();
    for (i, flow) in flows.iter().enumerate() {
        let gap = flow.size as f64 / flow.rate;
        let count = (1.5 / gap) as u64;
        arrivals.extend((0..count).map(|n| {
            let at = (n as f64 + 0.1 * i as f64) * gap;
            (Time::ZERO + Duration::from_secs_f64(at), i)
        }));
    }
    arrivals.sort();
    arrivals
}

pub(super) fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let flow = (1e5..3e6_f64, 20_u64..300, 500_u64..1500);
    let flow =
        flow.prop_map(|(rate, ms, size)| Flow { rate, rtt: Duration::from_millis(ms), size });
    prop::collection::vec(flow, 1..8)
}

/// Calls the timers that are due, as the simulator does.
pub(super) fn catch_up(port: &mut impl Port, now: Time, queue: PortQueue) {
    while port.next_timer() <= now {
        port.on_timer(port.next_timer(), queue);
    }
}

/// From the same packets both arithmetics grant each flow the same change of rate over the last
/// half second. Tolerances: 1 % of the largest change of any flow; and the effect of one packet of
/// each flow more or less in an interval. The kernel's intervals are whole microseconds and may end
/// on the other side of a packet.
fn compare_xcp(
    flows: &[Flow],
    capacity: f64,
    queue: u64,
    (alpha, beta, gamma, min_ms): (f64, f64, f64, u64),
    more: &[(&str, &str)],
) -> Result<(), TestCaseError> {
    let capacity = Rate::from_bps((capacity * 8.0) as u64);
    let [alpha, beta, gamma] = [alpha, beta, gamma].map(|gain| gain.to_string());
    let shortest = format!("{min_ms} ms");
    let set = [
        ("alpha", &*alpha),
        ("beta", &beta),
        ("gamma", &gamma),
        ("min_interval", &shortest),
        ("allowed_queue", "3 ms"),
    ];
    let set = [&set[..], more].concat();
    let exact: Xcp = made(&[&set[..], &[("initial_interval", &shortest)]].concat());
    let kernel: XcpKernel = made(&set);
    let mut exact = exact.port(&link(capacity)).expect("a port");
    let mut kernel = kernel.port(&link(capacity)).expect("a port");
    let queue = PortQueue { bytes: Bytes::new(queue), packets: (queue / 1000) as u32 };
    let mut granted = vec![[0.0_f64; 2]; flows.len()];
    let mut packets_of = vec![0.0; flows.len()];
    for (now, i) in arrivals(flows) {
        let flow = flows[i];
        let size = Bytes::new(flow.size);
        let spacing = flow.size as f64 / flow.rate;
        catch_up(&mut exact, now, queue);
        catch_up(&mut kernel, now, queue);
        let mut header = XcpHeader {
            protocol: 6,
            format: Format::Standard,
            rtt: flow.rtt,
            x: Duration::from_secs_f64(spacing),
            reverse_feedback: Throughput::ZERO,
            delta_throughput: Throughput::new(FOREVER),
        };
        exact.on_arrival(now, size, Some(&mut header), queue);
        exact.on_departure(now, size, Some(&mut header), queue);
        let wish = Header::new(Throughput::new(flow.rate), flow.rtt, Throughput::new(1e12));
        let mut option = KernelHeader::request(wish, size);
        kernel.on_arrival(now, size, Some(&mut option), queue);
        let change = option.request.expect("it is one").change().get();
        if now >= Time::ZERO + Duration::from_secs(1) {
            packets_of[i] += 1.0;
            granted[i][0] += header.delta_throughput.get() / spacing;
            granted[i][1] += change;
        }
    }
    for reason in [exact.reason(), kernel.reason()] {
        let figure = |name: &str| reason.figures.iter().find(|f| f.name == name).map(|f| f.value);
        let [alpha, beta, c, y, q, rtt, stated] =
            ["alpha", "beta", "C", "y", "q", "avg_rtt", "F"].map(|name| figure(name).unwrap());
        let (u, m) = (figure("u").unwrap_or(0.0), figure("m").unwrap_or(f64::INFINITY));
        let of_figures = (alpha * (c - y - u) - beta * q / rtt).min(m);
        prop_assert!((of_figures - stated).abs() < 1e-3 * c + 2.0, "{reason:?}");
    }
    for (sums, packets) in granted.iter_mut().zip(&packets_of) {
        *sums = sums.map(|sum| sum / packets);
    }
    let total: f64 = flows.iter().map(|flow| flow.rate).sum();
    let packets: f64 = flows.iter().map(|flow| flow.size as f64).sum();
    let mean_rtt = flows.iter().map(|flow| flow.rate * flow.rtt.secs()).sum::<f64>() / total;
    let interval = mean_rtt.max(min_ms as f64 / 1000.0);
    let largest = granted.iter().flatten().fold(0.0_f64, |m, c| m.max(c.abs()));
    // Its effect on F and on the shuffled part, by alpha and gamma, and on the sums that divide
    // them.
    let of_packets = packets / interval / interval + 2.0 * packets / (total * interval) * largest;
    let tolerance = 0.01 * largest + of_packets + 2.0 * 1024.0;
    for (flow, [exact, kernel]) in flows.iter().zip(&granted) {
        prop_assert!(
            (exact - kernel).abs() < tolerance,
            "{flow:?}: {exact} for {kernel} of {granted:?}"
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn xcp_grants_what_the_law_in_rust_grants(
        flows in flows(),
        load in 0.3..1.5_f64,
        queue in 0_u64..200_000,
        set in (0.1..0.6_f64, 0.0..0.4_f64, 0.0..0.2_f64, 2_u64..60),
    ) {
        let total: f64 = flows.iter().map(|f| f.rate).sum();
        compare_xcp(&flows, total / load, queue, (0.4, 0.226, 0.1, 5), &[])?;
        compare_xcp(&flows, total / load, queue, set, &[])?;
        for extension in [("queue_cap", "300 KB"), ("queue_limit", "210 KB"), ("memory", "0.9")] {
            compare_xcp(&flows, total / load, queue, set, &[extension])?;
        }
    }

    /// From the same packets both ports reach the same rate. Tolerances: 2 % and two units of the
    /// option; 2 % of the rate's total change, because the rate is multiplied from slot to slot,
    /// and differences with it; and alpha T/d, at most half of alpha, of a packet's part of a
    /// slot, because a packet counts wholly in one slot.
    #[test]
    fn rcp_says_what_the_law_in_rust_says(
        flows in flows(),
        load in 0.7..1.3_f64,
        queue in 0_u64..20_000,
        (alpha, beta, gamma, slot_ms) in (0.2..0.6_f64, 0.1..0.4_f64, 0.8..1.0_f64, 8_u64..40),
    ) {
        let [by_alpha, by_beta, by_gamma] = [alpha, beta, gamma].map(|gain| gain.to_string());
        let slot = format!("{slot_ms} ms");
        let set = [("alpha", &*by_alpha), ("beta", &by_beta), ("gamma", &by_gamma), ("slot", &slot)];
        let total: f64 = flows.iter().map(|f| f.rate).sum();
        let capacity = Rate::from_bps((total / load * 8.0) as u64);
        let exact: Rcp = made(&[&set[..], &[("initial_rtt", "10 ms")]].concat());
        let kernel: RcpKernel = made(&set);
        let mut exact = exact.port(&link(capacity)).expect("a port");
        let mut kernel = kernel.port(&link(capacity)).expect("a port");
        let queue = PortQueue { bytes: Bytes::new(queue), packets: (queue / 1000) as u32 };
        let mut said = [0.0; 2];
        for (now, i) in arrivals(&flows) {
            let flow = flows[i];
            let size = Bytes::new(flow.size);
            catch_up(&mut exact, now, queue);
            catch_up(&mut kernel, now, queue);
            let mut header = RcpHeader::request(FOREVER, flow.rtt);
            exact.on_arrival(now, size, Some(&mut header), queue);
            exact.on_departure(now, size, Some(&mut header), queue);
            let wish = Header::new(Throughput::new(FOREVER), flow.rtt, Throughput::ZERO);
            let mut option = KernelHeader::request(wish, size);
            kernel.on_arrival(now, size, Some(&mut option), queue);
            said = [header.rate.get(), option.request.expect("it is one").rate().get()];
            prop_assert_eq!(header.kind, RcpKind::Request);
        }
        let way = libm::log(said[0] / (capacity.throughput().get() / 20.0)).abs();
        let largest = flows.iter().map(|f| f.size).max().unwrap_or(0) as f64;
        let tolerance = 0.02 * (1.0 + way) + alpha / 2.0 * largest / (total * slot_ms as f64 / 1000.0);
        prop_assert!((said[0] - said[1]).abs() < tolerance * said[0] + 32.0, "{:?}", said);
    }

    #[test]
    fn headers_come_back_from_their_bytes(words: [u32; 4]) {
        let header = Header::from_fields([words[0], words[1], words[2]]);
        for form in [XCP, RCP] {
            let mut header = KernelHeader { returned: words[3], ..KernelHeader::request(header, Bytes::new(1500)) };
            if form.len == RCP.len {
                header.request = Some(Header::from_fields([words[0], words[1], 0]));
            }
            let mut bytes = [0; MAX_HEADER];
            let len = form.encode(&header, Bytes::new(1500), &mut bytes);
            prop_assert_eq!(len, form.len);
            prop_assert_eq!(form.decode(&bytes[..len], Bytes::new(1500)), Ok(header));
        }
    }
}

/// Byte for byte as `bpf/laws/option.h` draws it: 1.25 MB/s, 40 ms, 1,024,000 B/s a second, -2
/// returned.
#[test]
fn options_are_laid_out_as_drawn() {
    let rate = Throughput::new(1_250_000.0);
    let header = Header::new(rate, Duration::from_millis(40), Throughput::new(1_024_000.0));
    let header =
        KernelHeader { returned: u32::MAX - 1, ..KernelHeader::request(header, Bytes::new(1500)) };
    let mut bytes = [0; MAX_HEADER];
    let len = XCP.encode(&header, Bytes::new(1500), &mut bytes);
    let expected = [
        254, 20, 0x52, 0x78, 0, 1, 0x31, 0x2d, 0, 0, 0x9c, 0x40, 0, 0, 3, 0xe8, 255, 255, 255, 254,
    ];
    assert_eq!(bytes[..len], expected);
    let len = RCP.encode(&KernelHeader::answer(7), Bytes::new(1500), &mut bytes);
    assert_eq!(bytes[..len], [254, 8, 0x52, 0x72, 0, 0, 0, 7]);
}

#[test]
fn bytes_that_are_no_option_say_why() {
    let why = |bytes: &[u8]| XCP.decode(bytes, Bytes::new(1500)).unwrap_err().message;
    assert_eq!(why(&[254, 8]), "2 bytes are no option");
    assert_eq!(
        why(&[253, 8, 0x52, 0x78]),
        "kind 253 and identifier 0x5278; this law's are 254 and 0x5278"
    );
    assert_eq!(why(&[254, 20, 0x52, 0x78, 0]), "a length of 20 in 5 bytes; allowed are 8 and 20");
    assert_eq!(
        why(&[254, 9, 0x52, 0x78, 0, 0, 0, 0, 0]),
        "a length of 9 in 9 bytes; allowed are 8 and 20"
    );
}

/// What a port is set to without options: by the C and by the tables of options.
#[test]
fn defaults_of_options_are_those_of_the_kernel() {
    assert_eq!(made::<XcpKernel>(&[]).constants(), XcpConstants::default());
    assert_eq!(made::<RcpKernel>(&[]).constants(), RcpConstants::of(Rule::Rcp));
    assert_eq!(made::<PiqiRcpKernel>(&[]).constants(), RcpConstants::of(Rule::Piqi));
    assert_eq!(made::<JetmaxKernel>(&[]).constants(), JetmaxConstants::default());
    assert_eq!(made::<XcpKernel>(&[]).rules(), XcpRules::default());
}

/// The kernel's port has one rule for an interval without X, and no factor of its own.
#[test]
fn options_of_modelnets_port_are_refused_by_name() {
    for (name, value) in [("without_x", "keep"), ("feedback_scale", "1.1"), ("initial_cp", "1000")]
    {
        let refused = XcpKernel::new(&[(name, value)]).expect_err("not the kernel's");
        let said = refused.to_string();
        assert!(said.contains(name) && said.contains("no such option"), "{said}");
    }
}

#[test]
fn intervals_that_no_kernel_has_are_refused() {
    let refused = |given: &[(&str, &str)]| XcpKernel::new(given).expect_err("no such interval");
    for (name, time) in
        [("min_interval", "500 us"), ("max_interval", "2 s"), ("allowed_queue", "0 ms")]
    {
        let said = refused(&[(name, time)]).to_string();
        assert!(said.contains(name) && said.contains("from 1 ms to 1 s"), "{said}");
    }
    assert!(XcpKernel::new(&[("min_interval", "1 ms"), ("alpha", "0.2")]).is_ok());
    refused(&[("min_interval", "20 ms"), ("max_interval", "10 ms")]);
    for size in ["0 packets", "1 packets", "5 GB"] {
        refused(&[("queue_limit", size)]);
        refused(&[("queue_cap", size)]);
    }
}
