//! The router's part of all these laws: the calls of the C.

use ratewire_kernel::{Header, RcpPort, Rule, XcpPort};
use ratewire_units::{Bytes, Rate, Throughput, Time};

use super::header::KernelHeader;
use crate::law::{LinkContext, Port, PortQueue};
use crate::reason::{Figure, Reason};

/// The longest packet of any kernel (IPv6 jumbograms of BIG TCP). Sums in 64 bits hold all such
/// packets of an interval.
pub(super) const LONGEST_PACKET: Bytes = Bytes::new(1 << 19);

/// A law's arithmetic at one output queue.
pub trait Arithmetic {
    /// Handles a packet that joins the queue behind `queue` bytes.
    fn on_packet(&mut self, now: Time, size: Bytes, queue: Bytes, header: Option<&mut Header>);
    /// Does what is due.
    fn on_timer(&mut self, now: Time, queue: Bytes);
    /// When [`Arithmetic::on_timer`] is due.
    fn next_timer(&self) -> Time;
    /// Takes a new capacity of the link.
    fn set_capacity(&mut self, capacity: Rate);
    /// The port's equation, with its figures.
    fn reason(&self) -> Reason;
}

/// A law of the kernel at one output queue.
#[derive(Clone, Debug)]
pub struct KernelPort<A> {
    arithmetic: A,
    capacity_is_set: bool,
}

impl<A> KernelPort<A> {
    /// A port at this link. A given capacity replaces the link's rate.
    pub(super) fn new(
        capacity: Option<Rate>,
        link: &LinkContext,
        make: impl Fn(Rate) -> A,
    ) -> KernelPort<A> {
        let arithmetic = make(capacity.unwrap_or(link.rate));
        KernelPort { arithmetic, capacity_is_set: capacity.is_some() }
    }
}

impl<A: Arithmetic> Port for KernelPort<A> {
    type Header = KernelHeader;

    #[inline]
    fn on_arrival(
        &mut self,
        now: Time,
        size: Bytes,
        header: Option<&mut KernelHeader>,
        queue: PortQueue,
    ) {
        let size = size.min(LONGEST_PACKET);
        self.arithmetic.on_packet(now, size, queue.bytes, header.and_then(|h| h.request.as_mut()));
    }
    #[inline]
    fn on_departure(&mut self, _: Time, _: Bytes, _: Option<&mut KernelHeader>, _: PortQueue) {}
    fn next_timer(&self) -> Time {
        self.arithmetic.next_timer()
    }
    fn on_timer(&mut self, now: Time, queue: PortQueue) {
        self.arithmetic.on_timer(now, queue.bytes);
    }
    fn on_rate_change(&mut self, _now: Time, rate: Rate) {
        if !self.capacity_is_set {
            self.arithmetic.set_capacity(rate);
        }
    }
    fn reason(&self) -> Reason {
        self.arithmetic.reason()
    }
}

macro_rules! arithmetic {
    ($port:ty, $reason:expr) => {
        impl Arithmetic for $port {
            #[inline]
            fn on_packet(
                &mut self,
                now: Time,
                size: Bytes,
                queue: Bytes,
                header: Option<&mut Header>,
            ) {
                <$port>::on_packet(self, now, size, queue, header);
            }
            fn on_timer(&mut self, now: Time, queue: Bytes) {
                <$port>::on_timer(self, now, queue);
            }
            fn next_timer(&self) -> Time {
                <$port>::next_timer(self)
            }
            fn set_capacity(&mut self, capacity: Rate) {
                <$port>::set_capacity(self, capacity);
            }
            fn reason(&self) -> Reason {
                $reason(self)
            }
        }
    };
}

arithmetic!(XcpPort, |port: &XcpPort| {
    let equation = match port.is_extended() {
        true => {
            "change <= Cp - Cn * rate, shared out from F = min(alpha (C - y - u) - beta q / avg_rtt, m)"
        }
        false => "change <= Cp - Cn * rate, shared out from F = alpha (C - y) - beta q / avg_rtt",
    };
    let most = port.most().map_or(f64::INFINITY, Throughput::get);
    Reason::new(
        equation,
        [
            Figure::acceleration("Cp", port.given().get()),
            Figure::per_second("Cn", port.taken()),
            Figure::rate("C", port.capacity().get()),
            Figure::rate("y", port.input().get()),
            Figure::bytes("q", port.queue().as_f64()),
            Figure::seconds("avg_rtt", port.mean_rtt().secs()),
            Figure::one("alpha", port.gains()[0]),
            Figure::one("beta", port.gains()[1]),
            Figure::rate("F", port.feedback().get()),
        ],
    )
    .with([Figure::rate("u", port.unused().get()), Figure::rate("m", most)])
});

arithmetic!(RcpPort, |port: &RcpPort| {
    let [spare, queue] = port.gains();
    let (equation, [spare_name, queue_name]) = match port.rule() {
        Rule::Rcp => {
            ("R = R (1 + T/d (alpha (gamma C - y) - beta q/d) / (gamma C))", ["alpha", "beta"])
        }
        Rule::Piqi => ("R = R (1 + T/d integral (gamma C - y) / (gamma C))", ["integral", ""]),
    };
    let of_queue = [Figure::bytes("q", port.queue().as_f64()), Figure::one(queue_name, queue)];
    Reason::new(
        equation,
        [
            Figure::rate("R", port.rate().get()),
            Figure::rate("C", port.capacity().get()),
            Figure::rate("y", port.input().get()),
            Figure::one("gamma", port.target()),
            Figure::seconds("d", port.mean_rtt().secs()),
            Figure::seconds("T", port.slot().secs()),
            Figure::one(spare_name, spare),
        ],
    )
    .with(of_queue)
});
