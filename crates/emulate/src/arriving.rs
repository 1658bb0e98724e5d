//! Lists arriving flows one by one: in real time their sockets are open from the start.

use ratewire_sim::setup::{FlowSpec, Setup};
use ratewire_sim::traffic::arrivals;

use crate::ports::MOST_FLOWS;

/// A setup whose flows are all listed, with the arriving flows last, and the class of each of
/// these. A simulated run has the same flows at the same times.
pub(crate) fn listed(setup: &Setup) -> (Setup, Vec<usize>) {
    let (flows, classes): (Vec<FlowSpec>, Vec<usize>) =
        arrivals(setup, MOST_FLOWS + 1).into_iter().unzip();
    let mut listed = Setup { traffic: Vec::new(), ..setup.clone() };
    listed.flows.extend(flows);
    (listed, classes)
}
