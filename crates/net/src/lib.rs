//! The network model: links, queues, routing and ports, sans-IO.

pub mod spec;
