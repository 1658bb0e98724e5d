//! Members by shares.

use super::{Frame, Member, Routing};

/// Each member gets its share, spread as evenly in time as possible: a frame goes to the member
/// that is furthest behind its share.
#[derive(Clone, Debug)]
pub struct Weighted {
    weights: Vec<f64>,
    behind: Vec<f64>,
}

impl Weighted {
    /// Weights above zero with a finite sum, one a member; missing weights are 1.
    pub fn new(weights: Vec<f64>) -> Weighted {
        Weighted { behind: vec![0.0; weights.len()], weights }
    }
}

impl Routing for Weighted {
    fn route(&mut self, _: &Frame<'_>, members: &[Member]) -> Option<usize> {
        self.weights.resize(members.len(), 1.0);
        self.behind.resize(members.len(), 0.0);
        let mut total = 0.0;
        let mut chosen: Option<usize> = None;
        for k in (0..members.len()).filter(|k| members[*k].is_up) {
            total += self.weights[k];
            self.behind[k] += self.weights[k];
            if chosen.is_none_or(|best| self.behind[k] > self.behind[best]) {
                chosen = Some(k);
            }
        }
        self.behind[chosen?] -= total;
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::testing::{NO_CONTENT, members, route};

    #[test]
    fn weights_are_kept_and_spread() {
        let mut routing = Weighted::new(vec![5.0, 1.0, 2.0]);
        assert_eq!(route(&mut routing, &members(&[true; 3]), NO_CONTENT), [0, 2, 0, 0, 1, 0, 2, 0]);
    }
}
