//! JetMax: `bpf/laws/jetmax.h`.

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::arithmetic::{fixed, share};

/// What a port of JetMax is set to.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JetmaxConstants {
    gamma: u32,
    interval_us: u32,
}

/// JetMax at one output queue.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct JetmaxPort {
    capacity: u64,
    constants: JetmaxConstants,
    input: u64,
    responsive: u64,
    sum_x: u64,
    interval_us: u64,
    interval_at_ns: u64,
    id: u32,
    number: u32,
    fair_field: u32,
    load_field: u32,
    input_bw: u64,
    unresponsive_bw: u64,
    flows: u64,
    fair: u64,
}

/// Words that routers read and write in a packet with data, as in the option.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JetmaxHeader {
    bottleneck: u32,
    proposed: u32,
    fair: u32,
    number: u32,
    proposed_fair: u32,
    load: u32,
    rate: u32,
    marker: u32,
}

/// Words that a receiver returns, as in the option.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JetmaxAnswer {
    router: u32,
    fair: u32,
    number: u32,
    marker: u32,
}

/// JetMax at one sender.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct JetmaxSender {
    allowed: u64,
    desired: u64,
    fair: u64,
    bottleneck: u32,
    settling: u32,
    marker: u32,
    first: u32,
}

// Safe for the reasons given in `xcp.rs`. Arrays are passed by reference, and have the lengths
// that the C code declares.
unsafe extern "C" {
    safe fn rw_native_jetmax_tau() -> u32;
    safe fn rw_native_jetmax_constants(constants: &mut JetmaxConstants);
    safe fn rw_native_jetmax_init(
        port: &mut JetmaxPort,
        capacity: u64,
        constants: &JetmaxConstants,
        id: u32,
        now_ns: u64,
    );
    safe fn rw_native_jetmax_timers(port: &mut JetmaxPort, now_ns: u64);
    safe fn rw_native_jetmax_packet(
        port: &mut JetmaxPort,
        now_ns: u64,
        size: u64,
        header: Option<&mut JetmaxHeader>,
    );
    safe fn rw_native_jetmax_target(port: &JetmaxPort) -> u64;
    safe fn rw_native_jetmax_answer(header: &JetmaxHeader, answer: &mut JetmaxAnswer);
    safe fn rw_native_jetmax_start(sender: &mut JetmaxSender, window: u64, rtt_us: u64);
    safe fn rw_native_jetmax_send(sender: &JetmaxSender, header: &mut JetmaxHeader);
    safe fn rw_native_jetmax_heard(
        sender: &mut JetmaxSender,
        answer: &JetmaxAnswer,
        least: u64,
        is_repairing: u32,
        may_grow: u32,
    );
    safe fn rw_native_jetmax_loss(sender: &mut JetmaxSender, least: u64);
    safe fn rw_native_jetmax_read(words: &[u32; 6], header: &mut JetmaxHeader);
    safe fn rw_native_jetmax_read_answer(words: &[u32; 6], answer: &mut JetmaxAnswer);
    safe fn rw_native_jetmax_write(
        header: &JetmaxHeader,
        answer: &JetmaxAnswer,
        words: &mut [u32; 6],
    );
    safe fn rw_native_jetmax_read_alone(words: &[u32; 2], answer: &mut JetmaxAnswer);
    safe fn rw_native_jetmax_write_alone(answer: &JetmaxAnswer, words: &mut [u32; 2]);
    safe fn rw_native_rate_real(rate: u64) -> u32;
    safe fn rw_native_real_rate(field: u32) -> u64;
}

/// All ones, `RW_REAL_UNKNOWN`.
const UNKNOWN: u32 = 0x00ff_ffff;

fn known(field: u32) -> Option<Throughput> {
    (field != UNKNOWN).then(|| Throughput::new(rw_native_real_rate(field) as f64))
}

impl Default for JetmaxConstants {
    fn default() -> JetmaxConstants {
        let mut constants = JetmaxConstants { gamma: 0, interval_us: 0 };
        rw_native_jetmax_constants(&mut constants);
        constants
    }
}

impl JetmaxConstants {
    /// Share of the capacity that the port fills, `gamma`.
    #[must_use]
    pub fn gamma(self, share: f64) -> JetmaxConstants {
        JetmaxConstants { gamma: fixed(share), ..self }
    }
    /// Length of an interval, at most a second.
    #[must_use]
    pub fn interval(self, time: Duration) -> JetmaxConstants {
        JetmaxConstants { interval_us: (time.ps() / 1_000_000) as u32, ..self }
    }
    /// The fields of `struct rw_jetmax_constants`, in order.
    pub fn fields(&self) -> [u32; 2] {
        [self.gamma, self.interval_us]
    }
}

impl JetmaxPort {
    /// A port of a link of this capacity; `id` tells the routers of a path apart.
    pub fn new(capacity: Rate, constants: &JetmaxConstants, id: u16, now: Time) -> JetmaxPort {
        let mut port = JetmaxPort::default();
        let capacity = capacity.throughput().get() as u64;
        rw_native_jetmax_init(&mut port, capacity, constants, id.into(), now.ps() / 1000);
        port
    }
    /// Handles an arriving packet.
    #[inline]
    pub fn on_packet(&mut self, now: Time, size: Bytes, header: Option<&mut JetmaxHeader>) {
        rw_native_jetmax_packet(self, now.ps() / 1000, size.get(), header);
    }
    /// Runs the timers that are due.
    pub fn on_timer(&mut self, now: Time) {
        rw_native_jetmax_timers(self, now.ps() / 1000);
    }
    /// When [`JetmaxPort::on_timer`] is due.
    pub fn next_timer(&self) -> Time {
        Time::from_ps(self.interval_at_ns.saturating_mul(1000))
    }
    /// Sets the link's capacity.
    pub fn set_capacity(&mut self, capacity: Rate) {
        self.capacity = capacity.throughput().get() as u64;
    }
    /// Capacity that the port shares out, `gamma C`.
    pub fn target(&self) -> Throughput {
        Throughput::new(rw_native_jetmax_target(self) as f64)
    }
    /// Arrival rate of flows bound elsewhere, in the last interval.
    pub fn unresponsive(&self) -> Throughput {
        Throughput::new(self.unresponsive_bw as f64)
    }
    /// Number of flows bound here in that interval.
    pub fn flows(&self) -> f64 {
        self.flows as f64 / 65536.0
    }
    /// Rate that each of them is given.
    pub fn fair(&self) -> Throughput {
        Throughput::new(self.fair as f64)
    }
}

impl JetmaxHeader {
    /// Header of a sender bound by that router (0 for none), at that rate.
    pub fn new(bottleneck: u16, rate: Throughput) -> JetmaxHeader {
        JetmaxHeader {
            bottleneck: bottleneck.into(),
            fair: UNKNOWN,
            proposed_fair: UNKNOWN,
            rate: rw_native_rate_real(rate.get() as u64),
            ..JetmaxHeader::default()
        }
    }
    /// Rate that the sender's router gives, once it has said so.
    pub fn fair(&self) -> Option<Throughput> {
        known(self.fair)
    }
    /// Another router and the rate that it would give.
    pub fn proposed(&self) -> Option<(u32, Throughput)> {
        known(self.proposed_fair).map(|fair| (self.proposed, fair))
    }
    /// Rate of the sender.
    pub fn rate(&self) -> Throughput {
        Throughput::new(rw_native_real_rate(self.rate) as f64)
    }
    /// A header from words of the option.
    pub fn from_words(words: &[u32; 6]) -> JetmaxHeader {
        let mut header = JetmaxHeader::default();
        rw_native_jetmax_read(words, &mut header);
        header
    }
    /// The option's words, with an answer.
    pub fn to_words(&self, answer: &JetmaxAnswer) -> [u32; 6] {
        let mut words = [0; 6];
        rw_native_jetmax_write(self, answer, &mut words);
        words
    }
}

/// An answer before any router has been heard.
impl Default for JetmaxAnswer {
    fn default() -> JetmaxAnswer {
        JetmaxAnswer { router: 0, fair: UNKNOWN, number: 0, marker: 0 }
    }
}

impl JetmaxAnswer {
    /// Answer to a packet with this header.
    pub fn to(header: &JetmaxHeader) -> JetmaxAnswer {
        let mut answer = JetmaxAnswer::default();
        rw_native_jetmax_answer(header, &mut answer);
        answer
    }
    /// Fair rate that a router has said, if any has.
    pub fn fair(&self) -> Option<Throughput> {
        known(self.fair)
    }
    /// Router that the sender is bound by from now on; 0 for no change.
    pub fn router(&self) -> u32 {
        self.router
    }
    /// An answer from words of an option with a header.
    pub fn from_words(words: &[u32; 6]) -> JetmaxAnswer {
        let mut answer = JetmaxAnswer::default();
        rw_native_jetmax_read_answer(words, &mut answer);
        answer
    }
    /// An answer from words of an option without a header.
    pub fn from_words_alone(words: &[u32; 2]) -> JetmaxAnswer {
        let mut answer = JetmaxAnswer::default();
        rw_native_jetmax_read_alone(words, &mut answer);
        answer
    }
    /// Words of an option without a header.
    pub fn to_words_alone(&self) -> [u32; 2] {
        let mut words = [0; 2];
        rw_native_jetmax_write_alone(self, &mut words);
        words
    }
}

impl JetmaxSender {
    /// A sender with this desired rate.
    pub fn new(desired: Throughput) -> JetmaxSender {
        JetmaxSender { desired: desired.get() as u64, ..JetmaxSender::default() }
    }
    /// Starts sending, once the first RTT is known, at `window` in each RTT.
    pub fn start(&mut self, window: Bytes, rtt: Duration) {
        rw_native_jetmax_start(self, window.get(), rtt.ps() / 1_000_000);
    }
    /// Share of the way to the fair rate in a round trip.
    pub fn tau(&self) -> f64 {
        share(rw_native_jetmax_tau())
    }
    /// Header of a departing packet.
    pub fn on_send(&self) -> JetmaxHeader {
        let mut header = JetmaxHeader::default();
        rw_native_jetmax_send(self, &mut header);
        header
    }
    /// Handles the other end's answer. A loss may still be under repair, and a limit other than the
    /// law may keep the rate from growing.
    pub fn on_ack(
        &mut self,
        answer: &JetmaxAnswer,
        least: Throughput,
        is_repairing: bool,
        may_grow: bool,
    ) {
        let (is_repairing, may_grow) = (u32::from(is_repairing), u32::from(may_grow));
        rw_native_jetmax_heard(self, answer, least.get() as u64, is_repairing, may_grow);
    }
    /// Handles a loss.
    pub fn on_loss(&mut self, least: Throughput) {
        rw_native_jetmax_loss(self, least.get() as u64);
    }
    /// Allowed rate; zero before the first RTT is known.
    pub fn rate(&self) -> Throughput {
        Throughput::new((self.allowed >> 8) as f64)
    }
    /// Fair rate that the sender approaches.
    pub fn fair(&self) -> Throughput {
        Throughput::new(self.fair as f64)
    }
    /// Router that the sender is bound by; 0 before it knows one.
    pub fn bottleneck(&self) -> u32 {
        self.bottleneck
    }
}

#[cfg(test)]
mod layout {
    use super::*;

    crate::tests::laid_out_as_in_c! {
        port: JetmaxPort, rw_layout_of_rw_jetmax, [
            capacity, constants, input, responsive, sum_x, interval_us, interval_at_ns, id, number, fair_field, load_field,
            input_bw, unresponsive_bw, flows, fair
        ];
        constants: JetmaxConstants, rw_layout_of_rw_jetmax_constants, [gamma, interval_us];
        header: JetmaxHeader, rw_layout_of_rw_jetmax_header,
            [bottleneck, proposed, fair, number, proposed_fair, load, rate, marker];
        answer: JetmaxAnswer, rw_layout_of_rw_jetmax_answer, [router, fair, number, marker];
        sender: JetmaxSender, rw_layout_of_rw_jetmax_sender,
            [allowed, desired, fair, bottleneck, settling, marker, first];
    }
}
