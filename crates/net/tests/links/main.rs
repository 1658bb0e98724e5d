//! Links and queues, driven packet by packet.

mod bench;
mod booking;
mod buckets;
mod changes;
mod delays;
mod disciplines;
mod duplicates;
mod jitter;
mod lag;
mod loss;
mod media;
mod pausing;
mod properties;
mod queues;
mod traces;
