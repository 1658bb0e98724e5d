//! The router's part: draft -03, section 4.2. Numbers in comments are the draft's line numbers.

mod allotment;
mod extensions;
mod meter;

use alloc::boxed::Box;

use ratewire_units::{Bytes, Duration, Rate, Time};
use ratewire_wire::xcp::{Format, XcpHeader};

use self::allotment::Allotment;
use self::extensions::Extensions;
use self::meter::Meter;
use super::{PacketLimit, QueueMeasure, RttZero, WithoutX, Xcp};
use crate::law::{Draw, LinkContext, Port, PortQueue};
use crate::reason::{Figure, Reason};

const PS_PER_SECOND: f64 = 1e12;
/// Minimum of ns-2's first timer, in seconds.
const SHORTEST_FIRST: f64 = 4e-3;

/// XCP at one output queue. Fields that a packet needs lie in two cache lines: one for its arrival,
/// one for its departure.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct XcpPort {
    rtt_zero: RttZero,
    without_x: WithoutX,
    capacity_is_set: bool,
    packet_limit: PacketLimit,
    sums: Sums,
    /// MAX_INTERVAL, in picoseconds.
    max_rtt_ps: f64,
    meter: Option<Box<Meter>>,
    capacity: f64,
    alpha: f64,
    beta: f64,
    gamma: f64,
    avg_rtt: f64,
    estimator: QueueEstimator,
    allotment: Allotment,
    interval: f64,
    min_interval: f64,
    next_control: Time,
    /// Factor of `Cp` and `Cn`.
    feedback_scale: f64,
    extensions: Option<Box<Extensions>>,
}

/// Arrivals of this control interval. Times are summed in picoseconds, as packets carry them, and
/// converted to seconds once an interval.
#[derive(Clone, Debug, Default)]
struct Sums {
    input: f64,
    x: f64,
    /// Sum of X of packets that know their RTT: the divisor of `x_rtt`.
    x_with_rtt: f64,
    x_rtt: f64,
}

/// The persistent queue, on a timer of its own. On the control interval, a growing RTT would feed
/// back on itself (draft -03, 4.2.4).
#[derive(Clone, Debug)]
#[repr(C)]
struct QueueEstimator {
    measure: QueueMeasure,
    allowed: f64,
    next: Time,
    /// The estimate, in bytes.
    queue: f64,
    min: f64,
    sum: f64,
    samples: f64,
}

impl XcpPort {
    pub(super) fn new(law: &Xcp, link: &LinkContext) -> XcpPort {
        let min_interval = law.min_interval.max(link.delay);
        let first = law.initial_interval;
        let [control, queue] = first_timers(first.secs(), law.initial_spread, link.draw);
        let capacity = law.capacity.unwrap_or(link.rate).throughput().get();
        XcpPort {
            sums: Sums::default(),
            allotment: Allotment::initial(law, capacity),
            estimator: QueueEstimator {
                measure: law.queue_measure,
                queue: 0.0,
                min: 0.0,
                sum: 0.0,
                samples: 0.0,
                allowed: law.allowed_queue.secs(),
                next: queue,
            },
            capacity,
            capacity_is_set: law.capacity.is_some() || law.measure_capacity,
            meter: law.measure_capacity.then(|| Box::new(Meter::new(law.probe))),
            alpha: law.alpha,
            beta: law.beta,
            gamma: law.gamma,
            avg_rtt: first.secs(),
            interval: first.secs(),
            min_interval: min_interval.secs(),
            max_rtt_ps: law.max_interval.max(link.delay).ps() as f64,
            next_control: control,
            feedback_scale: law.feedback_scale,
            extensions: Extensions::new(law).map(Box::new),
            rtt_zero: law.rtt_zero,
            without_x: law.without_x,
            packet_limit: law.packet_limit,
        }
    }

    fn takes_part(&self, header: &XcpHeader) -> bool {
        header.format == Format::Standard
            && !(self.rtt_zero == RttZero::Ignore && header.rtt.is_zero())
    }

    /// Sets `Cp` as for one flow after an interval without `X`, which gives no `Cp`: `sum_x` of one
    /// flow is the interval's length. A flow whose RTT is longer than any interval may not appear
    /// in two consecutive intervals.
    #[cold]
    fn give_though_rarely_seen(&mut self) {
        if self.allotment.cp <= 0.0 {
            self.allotment.cp = self.allotment.residue_pos / (self.interval * PS_PER_SECOND);
        }
    }

    /// Ends the control interval (lines 7 to 18).
    fn control(&mut self, now: Time, waiting: f64) {
        let sums = core::mem::take(&mut self.sums);
        let input_bw = sums.input / self.interval;
        if let Some(meter) = &mut self.meter {
            self.capacity = meter.read(self.capacity, input_bw, self.interval);
        }
        if sums.x > 0.0 || self.without_x != WithoutX::Keep {
            self.allot(&sums, input_bw, waiting);
        }
        self.interval = self.avg_rtt.max(self.min_interval);
        self.next_control = now + Duration::from_secs_f64(self.interval);
    }

    /// Computes the feedback of the next control interval from the sums of the last one.
    fn allot(&mut self, sums: &Sums, input_bw: f64, waiting: f64) {
        if sums.x_with_rtt > 0.0 {
            self.avg_rtt = (sums.x_rtt / sums.x_with_rtt * 1e-12).max(self.min_interval);
        }
        let mut queue = self.estimator.queue;
        let (mut unused, mut most) = (0.0, f64::INFINITY);
        if let Some(extensions) = &mut self.extensions {
            unused = extensions.unused(&self.allotment, input_bw);
            queue = extensions.effective_queue(queue, waiting);
            most = extensions.most(waiting) / self.avg_rtt;
            (extensions.counted, extensions.most) = (queue, most);
        }
        let feedback = (self.alpha * (self.capacity - input_bw - unused)
            - self.beta * queue / self.avg_rtt)
            .min(most);
        let shuffled = (self.gamma * input_bw - feedback.abs()).max(0.0);
        let residue_pos = shuffled + feedback.max(0.0);
        let residue_neg = shuffled + (-feedback).max(0.0);
        let sum_x = match self.without_x {
            WithoutX::Second if sums.x <= 0.0 => PS_PER_SECOND,
            _ => sums.x,
        };
        let scaled = |residue: f64, sum: f64| {
            if sum > 0.0 { self.feedback_scale * residue / sum } else { 0.0 }
        };
        self.allotment = Allotment {
            residue_pos,
            residue_neg,
            cp: scaled(residue_pos, sum_x),
            cn: scaled(residue_neg, sums.input),
            most: residue_pos,
            input_bw,
            feedback,
        };
    }
}

/// First ends of the control interval and the queue interval. They are normally distributed about
/// `mean` seconds, and no sooner than ns-2's 4 ms or `mean`. Without a spread both are at `mean`.
/// As in ns-2, the first rate is computed over `mean`.
fn first_timers(mean: f64, spread: f64, draw: Draw<'_>) -> [Time; 2] {
    if spread == 0.0 {
        return [Time::ZERO + Duration::from_secs_f64(mean); 2];
    }
    let draw = draw.get();
    // Box and Muller: two independent normal numbers from two uniform ones.
    let uniform = |bits: u64| (bits as u32 as f64 + 1.0) / 4_294_967_296.0;
    let radius = libm::sqrt(-2.0 * libm::log(uniform(draw)));
    let angle = core::f64::consts::TAU * uniform(draw >> 32);
    [libm::cos(angle), libm::sin(angle)].map(|normal| {
        let first = (mean * (1.0 + spread * radius * normal)).max(mean.min(SHORTEST_FIRST));
        Time::ZERO + Duration::from_secs_f64(first)
    })
}

impl Port for XcpPort {
    type Header = XcpHeader;

    /// Counts an arrival (lines 1 to 6). Other traffic fills the link too, so its bytes count.
    #[inline]
    fn on_arrival(
        &mut self,
        _now: Time,
        size: Bytes,
        header: Option<&mut XcpHeader>,
        _queue: PortQueue,
    ) {
        self.sums.input += size.as_f64();
        let Some(header) = header.filter(|h| self.takes_part(h)) else { return };
        let x = header.x.ps() as f64;
        self.sums.x += x;
        if !header.rtt.is_zero() || self.rtt_zero == RttZero::Count {
            self.sums.x_with_rtt += x;
            self.sums.x_rtt += x * (header.rtt.ps() as f64).min(self.max_rtt_ps);
        }
    }

    /// Grants feedback to a departing packet (lines 19 to 28), and updates the queue's minimum
    /// (line 29).
    #[inline]
    fn on_departure(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut XcpHeader>,
        queue: PortQueue,
    ) {
        self.estimator.observe(queue.bytes.as_f64());
        if let Some(meter) = &mut self.meter {
            meter.observe(now, size, queue);
        }
        let Some(header) = header else { return };
        if header.format != Format::Standard {
            return;
        }
        if self.takes_part(header) {
            if header.rtt.ps() as f64 > self.max_rtt_ps {
                self.give_though_rarely_seen();
            }
            let wish = header.delta_throughput.get();
            let most = self.allotment.most(self.packet_limit);
            let granted = self.allotment.grant(wish, header.x.ps() as f64, size.as_f64(), most);
            header.delta_throughput = ratewire_units::Throughput::new(granted);
        } else {
            header.delta_throughput = header.delta_throughput.min(ratewire_units::Throughput::ZERO);
        }
    }

    fn next_timer(&self) -> Time {
        self.next_control.min(self.estimator.next)
    }

    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        if self.next_control <= now {
            self.control(now, queue.bytes.as_f64());
        }
        if self.estimator.next <= now {
            self.estimator.expire(now, queue.bytes.as_f64(), self.avg_rtt, self.capacity);
        }
    }

    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        if !self.capacity_is_set {
            self.capacity = rate.throughput().get();
        }
    }

    fn reason(&self) -> Reason {
        let mut equation = "delta_throughput <= Cp * X - Cn * size, shared out from F = alpha (C - y) - beta q / avg_rtt";
        let (mut queue, mut unused, mut most) = (self.estimator.queue, 0.0, f64::INFINITY);
        if let Some(extensions) = &self.extensions {
            equation = "delta_throughput <= Cp * X - Cn * size, shared out from F = min(alpha (C - y - u) - beta q / avg_rtt, m)";
            (queue, unused, most) = (extensions.counted, extensions.unused, extensions.most);
        }
        Reason::new(
            equation,
            [
                Figure::acceleration("Cp", self.allotment.cp * PS_PER_SECOND),
                Figure::per_second("Cn", self.allotment.cn),
                Figure::rate("C", self.capacity),
                Figure::rate("y", self.allotment.input_bw),
                Figure::bytes("q", queue),
                Figure::seconds("avg_rtt", self.avg_rtt),
                Figure::one("alpha", self.alpha),
                Figure::one("beta", self.beta),
                Figure::rate("F", self.allotment.feedback),
                Figure::rate("left to give", self.allotment.residue_pos),
                Figure::rate("left to take", self.allotment.residue_neg),
            ],
        )
        .with([Figure::rate("u", unused), Figure::rate("m", most)])
    }
}

impl QueueEstimator {
    #[inline]
    fn observe(&mut self, bytes: f64) {
        if bytes < self.min {
            self.min = bytes;
        }
        self.sum += bytes;
        self.samples += 1.0;
    }

    fn expire(&mut self, now: Time, bytes: f64, avg_rtt: f64, capacity: f64) {
        self.queue = match self.measure {
            QueueMeasure::Minimum => self.min,
            QueueMeasure::Mean if self.samples > 0.0 => self.sum / self.samples,
            QueueMeasure::Mean => bytes,
        };
        self.min = bytes;
        self.sum = 0.0;
        self.samples = 0.0;
        let queueing = if capacity > 0.0 { bytes / capacity } else { 0.0 };
        let next = ((avg_rtt - queueing) / 2.0).max(self.allowed);
        self.next = now + Duration::from_secs_f64(next);
    }
}

#[cfg(test)]
impl XcpPort {
    pub(super) fn set_interval(&mut self, secs: f64) {
        self.interval = secs;
        self.next_control = Time::ZERO + Duration::from_secs_f64(secs);
        self.estimator.next = Time::NEVER;
    }
    pub(super) fn set_queue(&mut self, bytes: f64) {
        self.estimator.queue = bytes;
    }
    pub(super) fn capacity(&self) -> f64 {
        self.capacity
    }
    pub(super) fn first_timers(&self) -> [f64; 2] {
        [self.next_control, self.estimator.next].map(|at| at.since(Time::ZERO).secs())
    }
    pub(super) fn sum_x(&self) -> f64 {
        self.sums.x
    }
    pub(super) fn coefficients(&self) -> (f64, f64) {
        (self.allotment.cp, self.allotment.cn)
    }
    pub(super) fn residues(&self) -> (f64, f64) {
        (self.allotment.residue_pos, self.allotment.residue_neg)
    }
}

#[cfg(test)]
mod tests {
    use core::mem::offset_of;

    use super::{Allotment, QueueEstimator, XcpPort};

    #[test]
    fn a_packet_touches_two_cache_lines() {
        assert!(offset_of!(XcpPort, meter) + size_of::<usize>() <= 64, "one as it arrives");
        let first = offset_of!(XcpPort, estimator) + offset_of!(QueueEstimator, min);
        let last = offset_of!(XcpPort, allotment) + offset_of!(Allotment, most);
        assert_eq!((first, last / 64), (128, 2), "one as it leaves");
    }
}
