//! Looking ahead where hosts take turns with the network (see [`super::super::foresight`]).

use ratewire_net::spec::LinkId;
use ratewire_net::{Ahead, Network};

use super::Due;
use crate::flow::FlowTable;

/// How far ahead on the agenda of hosts: what a packet carries; the end of a flow at which it arrives; what its sender has
/// noted and the link that its answer takes; and what it needs there.
pub(super) const LEAD: usize = 20;
const END: usize = 8;
const ANSWER: usize = 3;
const PORT: usize = 2;

/// To be called at each event of a link in the network's turn.
#[inline]
pub(super) fn look_at_link(link: LinkId, network: &Network) {
    if network.is_delay_line(link) {
        network.foresee_line_of_routers(link);
    } else {
        network.foresee_next(link);
    }
}

/// To be called before hosts do each of what is on their agenda, and [`LEAD`] times before the first: looks at what
/// they do so much later, and less at what comes sooner.
#[inline]
pub(super) fn look_at_agenda(agenda: &[Due], step: usize, network: &Network, flows: &FlowTable) {
    if let Some(due) = agenda.get(step) {
        if let Due::Packet(label) = due {
            network.foresee_arrived(label);
        }
        flows.foresee_slot(due.flow());
    }
    if let Some(due) = agenda.get(step.wrapping_sub(LEAD - END)) {
        let end = end_of(due, network);
        if let Due::Packet(label) = due {
            network.foresee_beyond(label);
        }
        flows.foresee(end.flow, end.is_data);
    }
    if let Some(due) = agenda.get(step.wrapping_sub(LEAD - ANSWER)) {
        let end = end_of(due, network);
        if let Some((route, link)) = flows.answer(end.flow, end.is_data) {
            network.foresee_route(route);
            if end.is_data {
                network.foresee(link);
            } else {
                network.foresee_burst(link);
            }
        }
        if !end.is_data {
            flows.foresee_sent(end.flow);
        }
    }
    if network.has_ports()
        && let Some(due) = agenda.get(step.wrapping_sub(LEAD - PORT))
    {
        let end = end_of(due, network);
        if let Some((_, link)) = flows.answer(end.flow, end.is_data) {
            network.foresee_place(link);
        }
    }
}

/// The end of a flow that does what is due.
#[inline]
fn end_of(due: &Due, network: &Network) -> Ahead {
    match due {
        Due::Packet(label) => network.end_of(label),
        Due::Timer(_, slot) => Ahead { flow: *slot, is_data: false },
    }
}
