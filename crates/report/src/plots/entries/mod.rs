//! The plots, a file each, and their registry.

use super::PlotEntry;

pub(super) mod at_link;
mod captions;
mod drops;
mod groups;
mod in_flight;
mod marks;
mod pace;
mod price;
mod queue;
mod receive_window;
mod round_trip;
mod sampled;
pub(super) mod throughput;
mod total;
mod utilisation;
mod waiting;
mod window;

/// All plots, in the order in which a page shows them; those of one chart follow each other.
pub(crate) const REGISTRY: &[&PlotEntry] = &[
    &throughput::PLOT,
    &sampled::PLOT,
    &at_link::PLOT,
    &pace::PLOT,
    &total::PLOT,
    &window::PLOT,
    &in_flight::PLOT,
    &receive_window::PLOT,
    &round_trip::PLOT,
    &queue::PLOT,
    &groups::PLOT,
    &price::PLOT,
    &waiting::PLOT,
    &utilisation::PLOT,
    &drops::PLOT,
    &marks::PLOT,
];
