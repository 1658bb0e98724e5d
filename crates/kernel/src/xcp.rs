//! XCP: `bpf/laws/xcp.h`.

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::arithmetic::{fixed, share};
use crate::header::Header;

/// A share with as many bits as fit: `struct rw_share`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    value: u32,
    shift: u32,
}

/// What a port of XCP is set to; by default what the draft says.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XcpConstants {
    alpha: u32,
    beta: u32,
    gamma: u32,
    min_interval_us: u32,
    max_interval_us: u32,
    allowed_queue_us: u32,
    memory: u32,
    pad: u32,
    queue_cap: u64,
    queue_limit: u64,
}

/// XCP at one output queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct XcpPort {
    capacity: u64,
    constants: XcpConstants,
    input: u64,
    sum_x: u64,
    sum_x_known: u64,
    sum_x_rtt: u64,
    residue_pos: u64,
    residue_neg: u64,
    cp: Share,
    cn: Share,
    gain: u64,
    avg_rtt_us: u64,
    interval_us: u64,
    control_at_ns: u64,
    queue: u64,
    least_queue: u64,
    queue_at_ns: u64,
    input_bw: u64,
    feedback: i64,
    unused: u64,
    flows: u64,
    told_rtt_us: u64,
    counted_queue: u64,
    most: u64,
}

/// What a sender of XCP takes for its throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XcpThroughput {
    /// The allowed rate, or while something else limits the sender the measured one.
    Measured,
    /// Outstanding data in each RTT.
    Outstanding,
    /// The allowed rate, used or not.
    Window,
}

/// What a sender of XCP does; by default what the draft says.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XcpRules {
    throughput: u32,
    aging: u32,
    paced: u32,
    bounded: u32,
    modest: u32,
    heeds_loss: u32,
    weight: u32,
}

/// XCP at one sender: the rate that routers allow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct XcpSender {
    allowed: u64,
    desired: u64,
    round_us: u64,
    sent: u64,
    limited: u32,
    was_limited: u32,
    measured: u64,
    rtt_us: u64,
    rules: XcpRules,
}

/// XCP at one receiver.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct XcpReceiver {
    sum: i64,
    bytes: u64,
}

// Safe: each function takes references to structs laid out as in C, which the tests compare, and
// reads or writes nothing else. `Option<&mut Header>` is a pointer that may be null.
unsafe extern "C" {
    safe fn rw_native_xcp_constants(constants: &mut XcpConstants);
    safe fn rw_native_xcp_init(
        port: &mut XcpPort,
        capacity: u64,
        constants: &XcpConstants,
        now_ns: u64,
    );
    safe fn rw_native_xcp_timers(port: &mut XcpPort, now_ns: u64, queue: u64);
    safe fn rw_native_xcp_packet(
        port: &mut XcpPort,
        now_ns: u64,
        size: u64,
        queue: u64,
        header: Option<&mut Header>,
    );
    safe fn rw_native_xcp_fraction() -> u32;
    safe fn rw_native_xcp_start(sender: &mut XcpSender, now_us: u64, window: u64, rtt_us: u64);
    safe fn rw_native_xcp_send(
        sender: &mut XcpSender,
        now_us: u64,
        size: u64,
        rtt_us: u64,
        limited: u32,
        outstanding: u64,
        packet: u64,
        least: u64,
        header: &mut Header,
    );
    safe fn rw_native_xcp_rules(rules: &mut XcpRules);
    safe fn rw_native_xcp_bound(sender: &mut XcpSender, window: u64, rtt_us: u64, least: u64);
    safe fn rw_native_xcp_acked(
        sender: &mut XcpSender,
        acked: u64,
        returned: i32,
        rtt_us: u64,
        least: u64,
        may_grow: u32,
    );
    safe fn rw_native_xcp_loss(sender: &mut XcpSender, least: u64);
    safe fn rw_native_xcp_arrived(receiver: &mut XcpReceiver, field: i32, bytes: u64);
    safe fn rw_native_xcp_returned(receiver: &XcpReceiver) -> i32;
    safe fn rw_native_xcp_answered(receiver: &mut XcpReceiver);
}

fn ns(now: Time) -> u64 {
    now.ps() / 1000
}
fn us(duration: Duration) -> u64 {
    duration.ps() / 1_000_000
}
fn bytes_per_second(rate: Throughput) -> u64 {
    rate.get() as u64
}

impl XcpPort {
    /// A port of a link of this capacity.
    pub fn new(capacity: Rate, constants: &XcpConstants, now: Time) -> XcpPort {
        let mut port = XcpPort::default();
        let capacity = bytes_per_second(capacity.throughput());
        rw_native_xcp_init(&mut port, capacity, constants, ns(now));
        port
    }
    /// Handles a packet that joins a queue of `queue` bytes.
    #[inline]
    pub fn on_packet(&mut self, now: Time, size: Bytes, queue: Bytes, header: Option<&mut Header>) {
        rw_native_xcp_packet(self, ns(now), size.get(), queue.get(), header);
    }
    /// Does what is due.
    pub fn on_timer(&mut self, now: Time, queue: Bytes) {
        rw_native_xcp_timers(self, ns(now), queue.get());
    }
    /// When [`XcpPort::on_timer`] is due.
    pub fn next_timer(&self) -> Time {
        Time::from_ps(self.control_at_ns.min(self.queue_at_ns).saturating_mul(1000))
    }
    /// Sets the link's capacity.
    pub fn set_capacity(&mut self, capacity: Rate) {
        self.capacity = bytes_per_second(capacity.throughput());
    }
    /// Capacity that the port assumes.
    pub fn capacity(&self) -> Throughput {
        Throughput::new(self.capacity as f64)
    }
    /// Arrival rate in the last control interval.
    pub fn input(&self) -> Throughput {
        Throughput::new(self.input_bw as f64)
    }
    /// The change of the total that the last control interval asked for.
    pub fn feedback(&self) -> Throughput {
        Throughput::new(self.feedback as f64)
    }
    /// Number of recent flows.
    pub fn flows(&self) -> f64 {
        self.flows as f64 / 65536.0
    }
    /// Gift to each flow in this control interval, `Cp`: this much more rate a second.
    pub fn given(&self) -> Throughput {
        Throughput::new(self.gain as f64)
    }
    /// Taking in this control interval for each byte per second of a flow's rate, `Cn`: a share a
    /// second.
    pub fn taken(&self) -> f64 {
        let fraction_bits = self.cn.shift + rw_native_xcp_fraction();
        f64::from(self.cn.value) / (1_u128 << fraction_bits) as f64
    }
    /// Gains of spare capacity and of the queue, `alpha` and `beta`.
    pub fn gains(&self) -> [f64; 2] {
        [self.constants.alpha, self.constants.beta].map(share)
    }
    /// The persistent queue as it counted in the last control interval.
    pub fn queue(&self) -> Bytes {
        Bytes::new(self.counted_queue)
    }
    /// Rate that flows were permitted and that has not come, as it counts.
    pub fn unused(&self) -> Throughput {
        Throughput::new(self.unused as f64)
    }
    /// The most that the last control interval could give, to a queue of a known size.
    pub fn most(&self) -> Option<Throughput> {
        (self.constants.queue_cap > 0).then(|| Throughput::new(self.most as f64))
    }
    /// Whether a control interval knows the size of the queue, or remembers what it permitted.
    pub fn is_extended(&self) -> bool {
        let XcpConstants { queue_cap, queue_limit, memory, .. } = self.constants;
        queue_cap > 0 || queue_limit > 0 || memory > 0
    }
    /// Mean RTT, within the bounds of the control interval.
    pub fn mean_rtt(&self) -> Duration {
        Duration::from_micros(self.avg_rtt_us)
    }
}

impl Default for XcpConstants {
    fn default() -> XcpConstants {
        let mut constants = XcpConstants {
            alpha: 0,
            beta: 0,
            gamma: 0,
            min_interval_us: 0,
            max_interval_us: 0,
            allowed_queue_us: 0,
            memory: 0,
            pad: 0,
            queue_cap: 0,
            queue_limit: 0,
        };
        rw_native_xcp_constants(&mut constants);
        constants
    }
}

impl XcpConstants {
    /// Gains of spare capacity and of the queue, and the shuffled share, 0 to 2.
    #[must_use]
    pub fn gains(self, alpha: f64, beta: f64, gamma: f64) -> XcpConstants {
        XcpConstants { alpha: fixed(alpha), beta: fixed(beta), gamma: fixed(gamma), ..self }
    }
    /// Bounds of a control interval and of the mean RTT, at most a second.
    #[must_use]
    pub fn intervals(self, min: Duration, max: Duration) -> XcpConstants {
        let [min_interval_us, max_interval_us] = [min, max].map(|time| us(time) as u32);
        XcpConstants { min_interval_us, max_interval_us, ..self }
    }
    /// Shortest interval of the queue estimator.
    #[must_use]
    pub fn allowed_queue(self, time: Duration) -> XcpConstants {
        XcpConstants { allowed_queue_us: us(time) as u32, ..self }
    }
    /// Share, 0 to 0.999, of the rate that flows were permitted and that did not come which
    /// counts on in the next interval.
    #[must_use]
    pub fn memory(self, share: f64) -> XcpConstants {
        XcpConstants { memory: fixed(share), ..self }
    }
    /// Size of a queue that is filled to 0.6 at most by what is given, and most that the queue
    /// holds; zero for none.
    #[must_use]
    pub fn queue(self, cap: Bytes, limit: Bytes) -> XcpConstants {
        XcpConstants { queue_cap: cap.get(), queue_limit: limit.get(), ..self }
    }
    /// The fields of `struct rw_xcp_constants`, in order: those of 32 bits but for the padding, and
    /// those of 64.
    pub fn fields(&self) -> ([u32; 7], [u64; 2]) {
        let XcpConstants {
            alpha,
            beta,
            gamma,
            min_interval_us,
            max_interval_us,
            allowed_queue_us,
            memory,
            queue_cap,
            queue_limit,
            ..
        } = *self;
        let short =
            [alpha, beta, gamma, min_interval_us, max_interval_us, allowed_queue_us, memory];
        (short, [queue_cap, queue_limit])
    }
}

impl Default for XcpRules {
    fn default() -> XcpRules {
        let mut rules = XcpRules {
            throughput: 0,
            aging: 0,
            paced: 0,
            bounded: 0,
            modest: 0,
            heeds_loss: 0,
            weight: 0,
        };
        rw_native_xcp_rules(&mut rules);
        rules
    }
}

impl XcpRules {
    /// What its throughput is.
    #[must_use]
    pub fn throughput(self, throughput: XcpThroughput) -> XcpRules {
        XcpRules { throughput: throughput as u32, ..self }
    }
    /// Share, 0 to 1, of the unused rate that ages in each RTT.
    #[must_use]
    pub fn aging(self, share: f64) -> XcpRules {
        XcpRules { aging: fixed(share), ..self }
    }
    /// Whether packets are spread over the RTT.
    #[must_use]
    pub fn paced(self, paced: bool) -> XcpRules {
        XcpRules { paced: paced.into(), ..self }
    }
    /// Whether the rate is at most what the receiver's window carries.
    #[must_use]
    pub fn bounded(self, bounded: bool) -> XcpRules {
        XcpRules { bounded: bounded.into(), ..self }
    }
    /// Whether it has no wish while application or receiver limit it.
    #[must_use]
    pub fn modest(self, modest: bool) -> XcpRules {
        XcpRules { modest: modest.into(), ..self }
    }
    /// Whether a loss halves the rate.
    #[must_use]
    pub fn heeds_loss(self, heeds_loss: bool) -> XcpRules {
        XcpRules { heeds_loss: heeds_loss.into(), ..self }
    }
    /// Number of flows as which it counts, 0.001 to 1,000.
    #[must_use]
    pub fn weight(self, weight: f64) -> XcpRules {
        XcpRules { weight: fixed(weight), ..self }
    }
    /// Whether packets are spread over the RTT.
    pub fn is_paced(&self) -> bool {
        self.paced != 0
    }
    /// Whether a loss halves the rate.
    pub fn does_heed_loss(&self) -> bool {
        self.heeds_loss != 0
    }
    /// The fields of `struct rw_xcp_rules`, in order.
    pub fn fields(&self) -> [u32; 7] {
        let XcpRules { throughput, aging, paced, bounded, modest, heeds_loss, weight } = *self;
        [throughput, aging, paced, bounded, modest, heeds_loss, weight]
    }
}

impl XcpSender {
    /// A sender with this desired rate and these rules.
    pub fn new(desired: Throughput, rules: XcpRules) -> XcpSender {
        XcpSender { desired: bytes_per_second(desired), rules, ..XcpSender::default() }
    }
    /// Starts sending, once the first RTT is known, at `window` in each RTT.
    pub fn start(&mut self, now: Time, window: Bytes, rtt: Duration) {
        rw_native_xcp_start(self, ns(now) / 1000, window.get(), us(rtt));
    }
    /// Header of a departing packet of `size` bytes, while `outstanding` bytes are out. Full
    /// packets have `packet` bytes; `least` is the sender's minimum rate.
    pub fn on_send(
        &mut self,
        now: Time,
        (size, outstanding): (Bytes, Bytes),
        rtt: Duration,
        limited: bool,
        packet: Bytes,
        least: Throughput,
    ) -> Header {
        let mut header = Header::default();
        let (now, rtt, least) = (ns(now) / 1000, us(rtt), bytes_per_second(least));
        let (size, packet, limited) = (size.get(), packet.get(), u32::from(limited));
        let outstanding = outstanding.get();
        rw_native_xcp_send(self, now, size, rtt, limited, outstanding, packet, least, &mut header);
        header
    }
    /// Handles the receiver's window, in network-layer bytes, and the RTT, as an acknowledgement
    /// tells them.
    pub fn on_window(&mut self, window: Bytes, rtt: Duration, least: Throughput) {
        rw_native_xcp_bound(self, window.get(), us(rtt), bytes_per_second(least));
    }
    /// Handles an acknowledgement of this much, with the result of [`XcpReceiver::on_ack`].
    pub fn on_ack(
        &mut self,
        acked: Bytes,
        returned: i32,
        rtt: Duration,
        least: Throughput,
        may_grow: bool,
    ) {
        let least = bytes_per_second(least);
        rw_native_xcp_acked(self, acked.get(), returned, us(rtt), least, u32::from(may_grow));
    }
    /// Handles a loss.
    pub fn on_loss(&mut self, least: Throughput) {
        rw_native_xcp_loss(self, bytes_per_second(least));
    }
    /// Allowed rate; zero before the first RTT is known.
    pub fn rate(&self) -> Throughput {
        Throughput::new((self.allowed >> 8) as f64)
    }
}

impl XcpReceiver {
    /// Handles data with this header.
    pub fn on_data(&mut self, header: &Header, bytes: Bytes) {
        rw_native_xcp_arrived(self, header.change, bytes.get());
    }
    /// The mean granted change, by bytes, since the last acknowledgement, as on the wire; see
    /// [`XcpSender::on_ack`].
    pub fn on_ack(&mut self) -> i32 {
        let field = rw_native_xcp_returned(self);
        rw_native_xcp_answered(self);
        field
    }
}

#[cfg(test)]
mod layout {
    use super::*;

    crate::tests::laid_out_as_in_c! {
        share: Share, rw_layout_of_rw_share, [value, shift];
        constants: XcpConstants, rw_layout_of_rw_xcp_constants, [alpha, beta, gamma, min_interval_us, max_interval_us, allowed_queue_us, memory, pad, queue_cap, queue_limit];
        port: XcpPort, rw_layout_of_rw_xcp, [capacity, constants, input, sum_x, sum_x_known, sum_x_rtt, residue_pos, residue_neg, cp, cn, gain, avg_rtt_us, interval_us, control_at_ns, queue, least_queue, queue_at_ns, input_bw, feedback, unused, flows, told_rtt_us, counted_queue, most];
        sender: XcpSender, rw_layout_of_rw_xcp_sender, [allowed, desired, round_us, sent, limited, was_limited, measured, rtt_us, rules];
        rules: XcpRules, rw_layout_of_rw_xcp_rules, [throughput, aging, paced, bounded, modest, heeds_loss, weight];
        receiver: XcpReceiver, rw_layout_of_rw_xcp_receiver, [sum, bytes];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_packets_tell_of_their_rtt_is_kept_without_the_bounds_of_the_interval() {
        let mut port = XcpPort::new(Rate::from_mbps(100), &XcpConstants::default(), Time::ZERO);
        for us in 0..200 {
            let now = Time::ZERO + Duration::from_micros(us * 100);
            let rtt = Duration::from_micros(if us % 2 == 0 { 300 } else { 500 });
            let mut header = Header::new(Throughput::new(1e6), rtt, Throughput::new(1e10));
            port.on_packet(now, Bytes::new(1500), Bytes::ZERO, Some(&mut header));
        }
        assert!(port.told_rtt_us.abs_diff(400) <= 2, "{}", port.told_rtt_us);
        assert_eq!(port.mean_rtt(), Duration::from_millis(5));
    }
}
