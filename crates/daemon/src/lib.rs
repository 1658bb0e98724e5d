//! Parts that Ratewire's daemons share: the group daemon and the Anypoint switch.

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod config;
