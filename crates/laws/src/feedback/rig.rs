//! For tests: paced flows through ports of one law, without queues, so that only the law has an
//! effect.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use ratewire_units::{Bytes, Duration, Rate, Time};

use crate::law::{Draw, FlowContext, LinkContext, Named, Port, PortQueue, Sending, Sink, Source};
use crate::options::Options;
use crate::testing;

pub(crate) const PACKET: Bytes = Bytes::new(1500);
pub(crate) const NO_QUEUE: PortQueue = PortQueue { bytes: Bytes::ZERO, packets: 0 };
/// A flow on a link of 10 Gbit/s; half of each packet is payload.
pub(crate) const FLOW: FlowContext = FlowContext {
    mss: Bytes::new(750),
    packet: PACKET,
    line_rate: Rate::from_mbps(10_000),
    back_pressured: false,
    draw: Draw::new(0),
};

pub(crate) fn law<L: Named>(options: &[(&str, &str)]) -> L {
    let mut all = Options::defaults(L::INFO.options);
    for (key, value) in options {
        all.set(key, value).unwrap();
    }
    L::from_options(&all).unwrap()
}

pub(crate) fn port<L: Named>(options: &[(&str, &str)], rate: Rate, id: u32) -> L::Port {
    law::<L>(options)
        .port(&LinkContext { rate, delay: Duration::ZERO, id, draw: Draw::new(0) })
        .unwrap()
}

pub(crate) fn near(found: f64, wanted: f64, relative: f64) {
    assert!((found - wanted).abs() <= wanted.abs() * relative, "{found} for {wanted}");
}

pub(crate) fn secs(s: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(s)
}

/// Links, and flows over them.
pub(crate) struct Rig<L: Named> {
    law: L,
    pub(crate) ports: Vec<L::Port>,
    pub(crate) flows: Vec<Flow<L>>,
    pub(crate) now: Time,
}

pub(crate) struct Flow<L: Named> {
    pub(crate) source: L::Source,
    sink: L::Sink,
    packet: Bytes,
    /// Ports on the path, in order. A packet passes all of them at once; its answer arrives a round
    /// trip later.
    path: Vec<usize>,
    rtt: Duration,
    next_send: Time,
    answers: VecDeque<(Time, Option<L::Header>)>,
    opening: bool,
    stopped: bool,
}

impl<L: Named> Rig<L> {
    /// Links with these rates, numbered from 1.
    pub(crate) fn new(options: &[(&str, &str)], links: &[Rate]) -> Rig<L> {
        let ports = links.iter().zip(1..).map(|(rate, id)| port::<L>(options, *rate, id)).collect();
        Rig { law: law(options), ports, flows: Vec::new(), now: Time::ZERO }
    }

    /// Opens a flow over the links of `path` now. Returns its number.
    pub(crate) fn start(&mut self, path: &[usize], rtt: Duration) -> usize {
        self.start_as(&FLOW, path, rtt)
    }

    /// Starts a flow with packets and a link of its own.
    pub(crate) fn start_as(&mut self, flow: &FlowContext, path: &[usize], rtt: Duration) -> usize {
        let mut source = self.law.source(flow);
        let mut sink = self.law.sink(flow).unwrap();
        let header = source.on_open(self.now).map(|mut header| {
            self.pass(path, flow.packet, &mut header);
            sink.on_data(self.now, &header);
            header
        });
        let answer = header.and_then(|_| sink.on_ack(self.now));
        self.flows.push(Flow {
            source,
            sink,
            packet: flow.packet,
            path: path.to_vec(),
            rtt,
            next_send: self.now + rtt,
            answers: VecDeque::from([(self.now + rtt, answer)]),
            opening: true,
            stopped: false,
        });
        self.flows.len() - 1
    }

    /// Stops a flow.
    pub(crate) fn stop(&mut self, flow: usize) {
        self.flows[flow].stopped = true;
    }

    /// The rates at which the flows send, B/s.
    pub(crate) fn rates(&self) -> Vec<f64> {
        self.flows
            .iter()
            .map(|f| if f.stopped { 0.0 } else { f.source.pacing().unwrap().get() })
            .collect()
    }

    pub(crate) fn run_until(&mut self, end: f64) {
        let end = secs(end);
        loop {
            let timer = self.ports.iter().map(Port::next_timer).min().unwrap_or(Time::NEVER);
            let answer = self.flows.iter().filter_map(|f| f.answers.front()).map(|a| a.0).min();
            let answer = answer.unwrap_or(Time::NEVER);
            let send = self.flows.iter().filter(|f| !f.stopped).map(|f| f.next_send).min();
            let send = send.unwrap_or(Time::NEVER);
            let now = timer.min(answer).min(send);
            if now > end {
                self.now = end;
                return;
            }
            self.now = now;
            if timer == now {
                for port in self.ports.iter_mut().filter(|p| p.next_timer() == now) {
                    port.on_timer(now, NO_QUEUE);
                }
            } else if answer == now {
                self.answer();
            } else {
                self.send();
            }
        }
    }

    fn answer(&mut self) {
        let now = self.now;
        for flow in &mut self.flows {
            while flow.answers.front().is_some_and(|a| a.0 == now) {
                let Some((_, header)) = flow.answers.pop_front() else { return };
                if core::mem::take(&mut flow.opening) {
                    flow.source.on_opened(now, Some(flow.rtt), header.as_ref());
                    continue;
                }
                let acked = crate::law::Acked {
                    now,
                    rtt: Some(flow.rtt),
                    srtt: flow.rtt,
                    ..testing::acked()
                };
                flow.source.on_ack(&acked, header.as_ref());
                // As in the transport, a risen pace takes effect at once.
                let gap = flow.source.pacing().unwrap().time_for(flow.packet);
                flow.next_send = flow.next_send.min(now + gap);
            }
        }
    }

    fn send(&mut self) {
        let now = self.now;
        for i in 0..self.flows.len() {
            if self.flows[i].stopped || self.flows[i].next_send != now {
                continue;
            }
            let flow = &mut self.flows[i];
            let sending =
                Sending { now, packet: flow.packet, srtt: flow.rtt, ..testing::sending() };
            let mut header = flow.source.on_send(&sending).unwrap();
            let packet = flow.packet;
            let path = core::mem::take(&mut flow.path);
            self.pass(&path, packet, &mut header);
            let flow = &mut self.flows[i];
            flow.path = path;
            flow.sink.on_data(now, &header);
            let answer = flow.sink.on_ack(now);
            flow.answers.push_back((now + flow.rtt, answer));
            flow.next_send = now + flow.source.pacing().unwrap().time_for(flow.packet);
        }
    }

    fn pass(&mut self, path: &[usize], size: Bytes, header: &mut L::Header) {
        for link in path {
            self.ports[*link].on_arrival(self.now, size, Some(header), NO_QUEUE);
            self.ports[*link].on_departure(self.now, size, Some(header), NO_QUEUE);
        }
    }
}
