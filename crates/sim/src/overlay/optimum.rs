//! The best that any sharing of a run's links could do.
