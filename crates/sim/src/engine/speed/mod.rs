//! Looking ahead, and hosts that take turns with the network (see [`Speed`](crate::Speed)).

pub(super) mod foresight;
pub(super) mod turns;
