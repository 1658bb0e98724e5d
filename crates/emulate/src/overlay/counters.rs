//! Figures of a daemon's status, over all lives of the daemon and its clients.

/// A figure that grows from zero in each life of what counts it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Grown {
    /// What earlier lives have counted.
    past: f64,
    last: f64,
    /// The sum when the run began.
    zero: f64,
}

impl Grown {
    /// Takes the present value in this life. A smaller one than before is of a new life.
    pub(super) fn set(&mut self, value: f64) {
        if value < self.last {
            self.end_life();
        }
        self.last = value;
    }

    /// The next value counts from zero.
    pub(super) fn end_life(&mut self) {
        self.past += std::mem::take(&mut self.last);
    }

    /// The run begins: what was counted so far does not count.
    pub(super) fn begin(&mut self) {
        self.zero = self.past + self.last;
    }

    pub(super) fn get(&self) -> f64 {
        self.past + self.last - self.zero
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lives_add_up_from_the_begin_of_the_run() {
        let mut grown = Grown::default();
        grown.set(3.0);
        grown.begin();
        grown.set(5.0);
        assert_eq!(grown.get(), 2.0);
        grown.set(1.0);
        grown.set(4.0);
        assert_eq!(grown.get(), 6.0);
        grown.end_life();
        grown.set(4.5);
        assert_eq!(grown.get(), 10.5);
    }
}
