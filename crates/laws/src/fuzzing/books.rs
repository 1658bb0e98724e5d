//! What a law must not lose, nor make out of nothing.
//!
//! A router can only be stricter than those before it, and leaves alone what is on its way back.
//! Beyond that:
//!
//! | law | at a port | at a receiver |
//! |---|---|---|
//! | XCP | left to give, less left to take, is F when an interval begins; a packet is granted no more than its wish, and what it is granted leaves these; with nothing left to give, nobody is sped up | returns the sum of what packets were granted |
//! | RCP, PIQI-RCP | a packet leaves with the lesser of its rate and R | |
//! | JetMax | what the flows bound here are given, together, is what the others leave of gamma C | |
//! | EMKC | the load less the loss is gamma C, or less on an idle link | |
//! | MaxNet | no price is below zero | |
//! | HPCC | each byte that leaves is counted once | |
//! | the kernel's | a packet leaves with no more than it came with, and nothing else of it changes | |
//! | ABC | each packet that accelerates takes a token of those that f has brought | counts each packet once |
//!
//! The one thing that XCP's draft does let a port give beyond what is left is the rest of the share of
//! the packet that takes the last of it.

use ratewire_units::{Bytes, Throughput};
use ratewire_wire::xcp::{Format, XcpHeader};

use crate::abc::AbcHeader;
use crate::kernel::{JetmaxKernelHeader, KernelHeader};
use crate::rcp::Kind;
use crate::reason::Reason;
use crate::registry::{AnyPort, Header};

/// Relative rounding error of sums of many numbers.
const GRAIN: f64 = 1e-9;

/// A port's.
#[derive(Default)]
pub(super) struct PortBooks {
    /// ABC's, brought so far and not taken.
    tokens: f64,
}

impl PortBooks {
    /// A packet has left: its header, and the port's reason, as they were and as they are.
    pub(super) fn departed(
        &mut self,
        size: Bytes,
        (was, before): (&Header, &Reason),
        (is, after): (&Header, &Reason),
    ) {
        if returns(was) {
            assert_eq!(is, was, "changed on its way back");
            return;
        }
        match (was, is) {
            (Header::Xcp(was), Header::Xcp(is)) => xcp_grants((was, before), (is, after)),
            (Header::Rcp(was), Header::Rcp(is)) | (Header::PiqiRcp(was), Header::PiqiRcp(is)) => {
                assert_eq!(is.rate.get(), was.rate.get().min(figure(after, "R")), "rate");
            }
            (Header::Jetmax(was), Header::Jetmax(is)) => {
                assert!(is.loss >= was.loss, "loss {} after {}", is.loss, was.loss);
            }
            (Header::Emkc(was), Header::Emkc(is)) => {
                assert_eq!(is.loss, was.loss.max(figure(after, "p")), "loss");
            }
            (Header::Maxnet(was), Header::Maxnet(is)) => {
                assert_eq!(is.price, was.price.max(figure(after, "p")), "price");
            }
            (Header::Hpcc(was), Header::Hpcc(is)) => {
                assert!(is.hops() >= was.hops() && is.hops() - was.hops() <= 1, "hops");
                let [tx, sum] = [before, after].map(|reason| figure(reason, "txBytes"));
                close(sum, tx + size.as_f64(), sum, "txBytes");
            }
            (
                Header::Abc(AbcHeader::Data { accelerate: was }),
                Header::Abc(AbcHeader::Data { accelerate: is }),
            ) => {
                assert!(*was || !is, "a brake was lifted");
                self.tokens += figure(after, "f") - f64::from(u8::from(*is));
                assert!(self.tokens > -GRAIN, "accelerated without a token: {}", self.tokens);
            }
            (Header::XcpKernel(was), Header::XcpKernel(is)) => kernel_grants(was, is),
            (Header::RcpKernel(was), Header::RcpKernel(is))
            | (Header::PiqiRcpKernel(was), Header::PiqiRcpKernel(is)) => kernel_grants(was, is),
            (
                Header::JetmaxKernel(JetmaxKernelHeader::Request(was)),
                Header::JetmaxKernel(JetmaxKernelHeader::Request(is)),
            ) => assert_eq!(is.rate(), was.rate(), "a rate is its sender's"),
            _ => assert_eq!(is, was, "a header of another kind"),
        }
    }

    /// The port's timer was due.
    pub(super) fn timer(&self, port: &AnyPort, before: &Reason) {
        let after = port.reason();
        let of = |name| figure(&after, name);
        match port {
            AnyPort::Xcp(_) => {
                let shares = ["F", "left to give", "left to take"];
                let [f, give, take] = shares.map(of);
                // The queue's timer leaves all three as they are.
                if shares.map(|name| figure(before, name)) != [f, give, take] {
                    close(give - take, f, give + take, "left to give, less left to take");
                }
            }
            AnyPort::Jetmax(_) if of("N") > 0.0 => {
                let left = (of("gamma C") - of("u")).max(0.0);
                close(of("g") * of("N").max(1.0), left, left, "given to all");
            }
            AnyPort::Emkc(_) => {
                let [load, loss, capacity] = ["S", "p", "gamma C"].map(of);
                let rest = load * (1.0 - loss);
                assert!(loss <= 1.0 && rest <= capacity + GRAIN * (load + capacity), "{after:?}");
            }
            AnyPort::Maxnet(_) => assert!(of("p") >= 0.0, "{after:?}"),
            _ => {}
        }
    }
}

fn kernel_grants(was: &KernelHeader, is: &KernelHeader) {
    let (Some(came), Some(left)) = (was.request, is.request) else {
        return assert_eq!(is, was, "changed without a request");
    };
    assert!(left.change() <= came.change() && left.rate() <= came.rate(), "{left:?} of {came:?}");
    assert_eq!((left.rtt(), is.returned), (came.rtt(), was.returned));
}

fn xcp_grants((was, before): (&XcpHeader, &Reason), (is, after): (&XcpHeader, &Reason)) {
    let [wish, granted] = [was, is].map(|header| header.delta_throughput.get());
    assert!(granted <= wish, "granted {granted} for a wish of {wish}");
    let [given, left] = [before, after].map(|reason| figure(reason, "left to give"));
    let [taken, owed] = [before, after].map(|reason| figure(reason, "left to take"));
    if given == 0.0 {
        assert!(granted <= 0.0, "granted {granted} of nothing");
    } else if left > 0.0 {
        let spent = (given - left) - (taken - owed);
        let scale = given + left + taken + owed + granted.abs();
        assert!(granted <= spent + GRAIN * scale, "granted {granted}, spent {spent}");
        // More was to be taken than was left; and who knows no RTT may be left out of the books.
        let all_is_counted = owed > 0.0 || granted == wish;
        if all_is_counted && !was.rtt.is_zero() {
            close(granted, spent, scale, "granted of what was spent");
        }
    }
}

/// A receiver's.
#[derive(Default)]
pub(super) struct SinkBooks {
    granted: Throughput,
    accelerated: u32,
    braked: u32,
}

impl SinkBooks {
    pub(super) fn received(&mut self, header: &Header) {
        match *header {
            Header::Xcp(header) => self.granted += header.delta_throughput,
            Header::Abc(AbcHeader::Data { accelerate: true }) => self.accelerated += 1,
            Header::Abc(AbcHeader::Data { accelerate: false }) => self.braked += 1,
            _ => {}
        }
    }

    pub(super) fn answered(&mut self, header: &Header) {
        let SinkBooks { granted, accelerated, braked } = core::mem::take(self);
        match *header {
            Header::Xcp(header) => assert_eq!(header.reverse_feedback, granted, "returned"),
            Header::Abc(echo) => assert_eq!(echo, AbcHeader::Echo { accelerated, braked }),
            _ => {}
        }
    }
}

/// Whether the header is on its way back to the sender.
fn returns(header: &Header) -> bool {
    match header {
        Header::Xcp(h) => h.format == Format::Minimal,
        Header::Rcp(h) | Header::PiqiRcp(h) => h.kind == Kind::Reply,
        Header::Jetmax(h) => h.returned,
        Header::Emkc(h) => h.returned,
        Header::Maxnet(h) => h.returned,
        Header::Hpcc(h) => h.returning(),
        Header::Abc(h) => matches!(h, AbcHeader::Echo { .. }),
        _ => false,
    }
}

fn figure(reason: &Reason, name: &str) -> f64 {
    let found = reason.figures.iter().find(|figure| figure.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {reason:?}")).value
}

/// Equal but for the rounding of numbers of the size of `scale`.
fn close(found: f64, wanted: f64, scale: f64, what: &str) {
    let error = (found - wanted).abs();
    assert!(error <= GRAIN * scale.abs(), "{what}: {found}, not {wanted}");
}
