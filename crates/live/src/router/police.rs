//! What a port's policer is set to.

/// A policer at a port, which holds senders to what their packets claim and to what the port
/// granted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Police {
    /// Largest number of flows watched at once, 1 to 1,000,000: the kernel forgets one that has
    /// long sent nothing for one more.
    pub suspects: u32,
    /// Share, 0 to 1, by which a flow may exceed its granted rate before packets are dropped.
    pub tolerance: f64,
}

impl Default for Police {
    fn default() -> Police {
        Police { suspects: 1024, tolerance: 0.05 }
    }
}
