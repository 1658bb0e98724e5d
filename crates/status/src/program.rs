//! The words of one daemon.

/// What messages call a daemon.
#[derive(Debug, PartialEq, Eq)]
pub struct Program {
    /// The command that the daemon belongs to, for example `ratewire-groups`.
    pub command: &'static str,
    /// A noun for the daemon that follows "a" and "the", for example `daemon`.
    pub noun: &'static str,
    /// Usual name of the configuration file, for example `groups.toml`.
    pub file: &'static str,
}
