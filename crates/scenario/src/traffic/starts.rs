//! Random starts of flows.

use ratewire_net::random;
use ratewire_sim::setup::Setup;
use ratewire_units::Duration;

/// A flow whose `start` is a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RandomStart {
    /// Index of the flow, whose start in the setup is the first of the range.
    pub flow: usize,
    /// Length of the range.
    pub most: Duration,
}

/// Draws the starts of these flows, each from a stream of its own: a draw depends on the seed and
/// the flow's name, and on no other flow.
pub(crate) fn draw(starts: &[RandomStart], setup: &mut Setup) {
    setup.has_random_starts = !starts.is_empty();
    for start in starts {
        let flow = &mut setup.flows[start.flow];
        let drawn = random::draw(setup.seed, &format!("start of {}", flow.name), 0);
        flow.start += start.most.scale(drawn);
        for program in setup.programs.iter_mut().filter(|one| one.flow == Some(start.flow)) {
            program.start = Some(flow.start);
        }
    }
}
