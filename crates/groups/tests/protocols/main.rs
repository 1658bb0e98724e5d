//! What daemons and clients write and read.

mod client;
mod codec;
mod corpus;
mod limits;
mod links;
mod session;
