//! Packets that an ensemble's switch takes and sends.

use ratewire_anypoint::Output;
use ratewire_net::{Body, Content, Label};
use ratewire_transport::Ack;

use super::Hosts;
use crate::engine::environment::Environment;

impl Hosts<'_> {
    /// Notes new data of an edge from a switch, which are about to be delivered.
    #[inline]
    pub(crate) fn note_growth(&mut self, env: &Environment, label: &Label) {
        if let Body::Data { offset, payload, .. } = env.network.content(label).body
            && let Some(flow) = self.flows.at(label.flow)
            && offset + u64::from(payload) > flow.receiver.delivered().get()
        {
            flow.grew = env.clock.now;
        }
    }

    /// Takes a packet that has arrived at a switch out of the network.
    #[inline]
    pub(crate) fn take(&mut self, env: &mut Environment, label: &Label) -> (Content, Option<Ack>) {
        let (content, ack) = (*env.network.content(label), env.network.ack(label));
        self.packets.delivered += 1;
        if let Body::Data { .. } = content.body {
            self.data_packets += 1;
            if let Some(sent) = env.network.sent(label) {
                self.delays.one_way(env.clock.now, label.generation, env.clock.now.since(sent));
            }
        }
        env.network.remove(label);
        (content, ack)
    }

    /// Sends the output of a switch for a flow; `continues` says whether it takes the place of the
    /// followed packet. Returns the flow's slot if this acknowledges its last byte.
    #[inline]
    pub(crate) fn forward(
        &mut self,
        env: &mut Environment,
        id: u32,
        output: Output,
        continues: bool,
    ) -> Option<u32> {
        let slot = self.slots[id as usize]?;
        let flow = self.flows.get(slot, id)?;
        let (now, network, schedule) = (env.clock.now, &mut env.network, &mut env.schedule);
        self.packets.sent += 1;
        match output {
            Output::Segment(_, mut segment) => {
                let address = flow.out(slot, &mut segment, self.setup);
                if continues {
                    network.send_followed(now, &address, &segment, schedule);
                } else {
                    network.send(now, &address, &segment, schedule);
                }
                None
            }
            Output::Skip(_, mut segment) => {
                let mut address = flow.out(slot, &mut segment, self.setup);
                address.size = flow.headers;
                network.send(now, &address, &segment, schedule);
                None
            }
            Output::Ack(_, mut ack) => {
                let address = flow.back(slot, &mut ack, self.setup);
                if continues {
                    network.acknowledge_followed(now, &address, &ack, schedule);
                } else {
                    network.acknowledge(now, &address, &ack, schedule);
                }
                (ack.cumulative >= flow.end && !flow.completed).then_some(slot)
            }
        }
    }
}
