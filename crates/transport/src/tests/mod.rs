//! Both ends over the test pipe.

mod applications;
mod ecn;
mod limits;
mod loss;
mod opening;
mod pacing;
mod properties;
mod rack;
mod receiving;
mod small_queues;
mod timeouts;
mod transfer;
mod windows;
mod writers;
