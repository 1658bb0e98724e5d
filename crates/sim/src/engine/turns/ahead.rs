//! Looks ahead at what links and hosts do next, so that memory is fetched before they need it.

use ratewire_net::{FlowEnd, LookAhead};

use super::Due;
use crate::flow::FlowTable;
use crate::tuning::{AGENDA_ANSWER, AGENDA_END, AGENDA_LEAD, AGENDA_PORT};

/// Must be called before each task of the hosts' agenda, and [`AGENDA_LEAD`] times before the
/// first. Fetches for tasks further ahead, and less for nearer ones.
#[inline]
pub(super) fn look_at_agenda(agenda: &[Due], step: usize, ahead: LookAhead<'_>, flows: &FlowTable) {
    if let Some(due) = agenda.get(step) {
        if let Due::Packet(label) = due {
            ahead.foresee_arrived(label);
        }
        flows.foresee_slot(due.flow());
    }
    if let Some(due) = agenda.get(step.wrapping_sub(AGENDA_LEAD - AGENDA_END)) {
        let end = end_of(due, ahead);
        if let Due::Packet(label) = due {
            ahead.foresee_beyond(label);
        }
        flows.foresee(end.flow, end.is_data);
    }
    if let Some(due) = agenda.get(step.wrapping_sub(AGENDA_LEAD - AGENDA_ANSWER)) {
        let end = end_of(due, ahead);
        if let Some((route, link)) = flows.answer(end.flow, end.is_data) {
            ahead.foresee_route(route);
            ahead.foresee(link);
        }
        if !end.is_data {
            flows.foresee_sent(end.flow);
        }
    }
    if ahead.has_ports()
        && let Some(due) = agenda.get(step.wrapping_sub(AGENDA_LEAD - AGENDA_PORT))
    {
        let end = end_of(due, ahead);
        if let Some((_, link)) = flows.answer(end.flow, end.is_data) {
            ahead.foresee_place(link);
        }
    }
}

/// The flow's end that does the task.
#[inline]
fn end_of(due: &Due, ahead: LookAhead<'_>) -> FlowEnd {
    match due {
        Due::Packet(label) => ahead.end_of(label),
        Due::Timer(_, slot) => FlowEnd { flow: *slot, is_data: false },
    }
}
