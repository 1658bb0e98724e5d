//! RCP and PIQI-RCP: `bpf/laws/rcp.h`.

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::arithmetic::{fixed, share};
use crate::header::Header;

/// How a router's rate moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// RCP's.
    Rcp,
    /// PIQI-RCP's, as reconstructed.
    Piqi,
}

/// What a port of either is set to: `struct rw_rcp_rule`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RcpConstants {
    spare: u32,
    queue: u32,
    target: u32,
    slot_us: u32,
}

/// RCP or PIQI-RCP at one output queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RcpPort {
    capacity: u64,
    constants: RcpConstants,
    rate: u64,
    input: u64,
    rtt_bytes: u64,
    sum_rtt: u64,
    rtt: u64,
    sample: u64,
    slot_us: u64,
    slot_at_ns: u64,
    input_bw: u64,
    queue: u64,
    recent_input: u64,
    recent_rate: u64,
}

/// RCP or PIQI-RCP at one sender.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct RcpSender {
    allowed: u64,
    desired: u64,
    offered: u64,
    recent: u64,
    cap: u64,
    climbed_us: u64,
    ramp: u32,
    pad: u32,
}

// Safe for the reasons given in `xcp.rs`.
unsafe extern "C" {
    safe fn rw_native_rcp_send(sender: &RcpSender, rtt_us: u64, header: &mut Header);
    safe fn rw_native_rcp_offered(
        sender: &mut RcpSender,
        now_us: u64,
        rate: u64,
        rtt_us: u64,
        least: u64,
        is_repairing: u32,
    );
    safe fn rw_native_rcp_unheard(sender: &mut RcpSender, now_us: u64, rtt_us: u64);
    safe fn rw_native_rcp_loss(sender: &mut RcpSender, least: u64);
    safe fn rw_native_piqi_ramp() -> u32;
    safe fn rw_native_rcp_rule(constants: &mut RcpConstants);
    safe fn rw_native_piqi_rule(constants: &mut RcpConstants);
    safe fn rw_native_rcp_init(
        port: &mut RcpPort,
        capacity: u64,
        constants: &RcpConstants,
        now_ns: u64,
    );
    safe fn rw_native_rcp_timers(port: &mut RcpPort, now_ns: u64, queue: u64);
    safe fn rw_native_rcp_packet(
        port: &mut RcpPort,
        now_ns: u64,
        size: u64,
        queue: u64,
        header: Option<&mut Header>,
    );
}

impl RcpConstants {
    /// Those by which the rate moves so.
    pub fn of(rule: Rule) -> RcpConstants {
        let mut constants = RcpConstants::default();
        match rule {
            Rule::Rcp => rw_native_rcp_rule(&mut constants),
            Rule::Piqi => rw_native_piqi_rule(&mut constants),
        }
        constants
    }
    /// Gain of spare capacity, `alpha` or `integral`, up to 10.
    #[must_use]
    pub fn spare(self, gain: f64) -> RcpConstants {
        RcpConstants { spare: fixed(gain), ..self }
    }
    /// Gain of the queue, `beta`, from 0.00002 to 10: without one the rule is PIQI-RCP's.
    #[must_use]
    pub fn queue(self, gain: f64) -> RcpConstants {
        RcpConstants { queue: fixed(gain), ..self }
    }
    /// Share of the capacity that the port fills, `gamma`.
    #[must_use]
    pub fn target(self, share: f64) -> RcpConstants {
        RcpConstants { target: fixed(share), ..self }
    }
    /// Longest slot, at most a second.
    #[must_use]
    pub fn slot(self, time: Duration) -> RcpConstants {
        RcpConstants { slot_us: (time.ps() / 1_000_000) as u32, ..self }
    }
    /// The fields of `struct rw_rcp_rule`, in order.
    pub fn fields(&self) -> [u32; 4] {
        let RcpConstants { spare, queue, target, slot_us } = *self;
        [spare, queue, target, slot_us]
    }
}

impl RcpPort {
    /// A port of a link of this capacity.
    pub fn new(capacity: Rate, constants: &RcpConstants, now: Time) -> RcpPort {
        let mut port = RcpPort::default();
        let capacity = capacity.throughput().get() as u64;
        rw_native_rcp_init(&mut port, capacity, constants, now.ps() / 1000);
        port
    }
    /// Handles a packet that joins a queue of `queue` bytes.
    #[inline]
    pub fn on_packet(&mut self, now: Time, size: Bytes, queue: Bytes, header: Option<&mut Header>) {
        rw_native_rcp_packet(self, now.ps() / 1000, size.get(), queue.get(), header);
    }
    /// Does what is due.
    pub fn on_timer(&mut self, now: Time, queue: Bytes) {
        rw_native_rcp_timers(self, now.ps() / 1000, queue.get());
    }
    /// When [`RcpPort::on_timer`] is due.
    pub fn next_timer(&self) -> Time {
        Time::from_ps(self.slot_at_ns.saturating_mul(1000))
    }
    /// Sets the link's capacity.
    pub fn set_capacity(&mut self, capacity: Rate) {
        self.capacity = capacity.throughput().get() as u64;
    }
    /// Capacity that the port assumes.
    pub fn capacity(&self) -> Throughput {
        Throughput::new(self.capacity as f64)
    }
    /// Rate for all flows.
    pub fn rate(&self) -> Throughput {
        Throughput::new((self.rate >> 8) as f64)
    }
    /// Arrival rate in the last slot.
    pub fn input(&self) -> Throughput {
        Throughput::new(self.input_bw as f64)
    }
    /// Number of recent flows at that rate.
    pub fn flows(&self) -> f64 {
        self.recent_input as f64 / (self.recent_rate.max(1) as f64 / 256.0)
    }
    /// Share of the capacity that the port fills, `gamma`.
    pub fn target(&self) -> f64 {
        share(self.constants.target)
    }
    /// Queue at the end of the last slot.
    pub fn queue(&self) -> Bytes {
        Bytes::new(self.queue)
    }
    /// Length of a slot.
    pub fn slot(&self) -> Duration {
        Duration::from_micros(self.slot_us)
    }
    /// Rule by which the rate moves.
    pub fn rule(&self) -> Rule {
        if self.constants.queue == 0 { Rule::Piqi } else { Rule::Rcp }
    }
    /// Gains of spare capacity, `alpha` or `integral`, and of the queue, `beta`.
    pub fn gains(&self) -> [f64; 2] {
        [self.constants.spare, self.constants.queue].map(share)
    }
    /// Mean RTT, 5 ms at least.
    pub fn mean_rtt(&self) -> Duration {
        Duration::from_micros(self.rtt >> 8)
    }
}

impl RcpSender {
    /// A sender with this desired rate.
    pub fn new(desired: Throughput, rule: Rule) -> RcpSender {
        let ramp = if rule == Rule::Piqi { rw_native_piqi_ramp() } else { 0 };
        RcpSender { desired: desired.get() as u64, ramp, ..RcpSender::default() }
    }
    /// Header of a departing packet.
    pub fn on_send(&self, rtt: Duration) -> Header {
        let mut header = Header::default();
        rw_native_rcp_send(self, rtt.ps() / 1_000_000, &mut header);
        header
    }
    /// Handles a rate that routers offer; a loss may still be under repair.
    pub fn on_ack(
        &mut self,
        now: Time,
        offered: Throughput,
        rtt: Duration,
        least: Throughput,
        is_repairing: bool,
    ) {
        let (now, rtt) = (now.ps() / 1_000_000, rtt.ps() / 1_000_000);
        let (offered, least) = (offered.get() as u64, least.get() as u64);
        rw_native_rcp_offered(self, now, offered, rtt, least, u32::from(is_repairing));
    }
    /// Handles an acknowledgement without the routers' word while a loss is under repair.
    pub fn on_unheard(&mut self, now: Time, rtt: Duration) {
        rw_native_rcp_unheard(self, now.ps() / 1_000_000, rtt.ps() / 1_000_000);
    }
    /// Handles a loss.
    pub fn on_loss(&mut self, least: Throughput) {
        rw_native_rcp_loss(self, least.get() as u64);
    }
    /// Last rate that routers offered, or the desired rate if it is less.
    pub fn offered(&self) -> Throughput {
        Throughput::new(self.offered as f64)
    }
    /// Allowed rate; zero before routers have said one.
    pub fn rate(&self) -> Throughput {
        Throughput::new((self.allowed >> 8) as f64)
    }
}

#[cfg(test)]
mod layout {
    use super::*;

    crate::tests::laid_out_as_in_c! {
        constants: RcpConstants, rw_layout_of_rw_rcp_rule, [spare, queue, target, slot_us];
        port: RcpPort, rw_layout_of_rw_rcp, [
            capacity, constants, rate, input, rtt_bytes, sum_rtt, rtt, sample, slot_us, slot_at_ns, input_bw, queue,
            recent_input, recent_rate
        ];
        sender: RcpSender, rw_layout_of_rw_rcp_sender, [allowed, desired, offered, recent, cap, climbed_us, ramp, pad];
    }
}
