//! The laws that the kernel can run.

/// A law that the kernel can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// XCP.
    Xcp,
    /// RCP.
    Rcp,
    /// PIQI-RCP, as reconstructed.
    PiqiRcp,
    /// JetMax.
    Jetmax,
    /// No congestion window where queues pause their senders: hosts only.
    Noq,
}

impl Law {
    /// All laws.
    pub const ALL: [Law; 5] = [Law::Xcp, Law::Rcp, Law::PiqiRcp, Law::Jetmax, Law::Noq];
    /// Laws with a part for routers.
    pub const OF_ROUTERS: [Law; 4] = [Law::Xcp, Law::Rcp, Law::PiqiRcp, Law::Jetmax];

    /// The law's name, as everywhere in Ratewire.
    pub fn name(self) -> &'static str {
        match self {
            Law::Xcp => "xcp",
            Law::Rcp => "rcp",
            Law::PiqiRcp => "piqi-rcp",
            Law::Jetmax => "jetmax",
            Law::Noq => "noq",
        }
    }
    /// The law of this name.
    pub fn named(name: &str) -> Option<Law> {
        Law::ALL.into_iter().find(|law| law.name() == name)
    }
    /// The congestion control that sockets may ask for, and that connections that take part get.
    pub fn control(self) -> &'static str {
        match self {
            Law::Xcp => "rw_xcp",
            Law::Rcp => "rw_rcp",
            Law::PiqiRcp => "rw_piqi",
            Law::Jetmax => "rw_jetmax",
            Law::Noq => "rw_noq",
        }
    }

    /// The law's number in the programs: `ROUTER_XCP` of `bpf/router.h`, `HOST_XCP` of `bpf/host.h`
    /// and so on.
    pub(crate) fn number(self) -> u32 {
        match self {
            Law::Xcp => 0,
            Law::Rcp => 1,
            Law::PiqiRcp => 2,
            Law::Jetmax => 3,
            Law::Noq => 4,
        }
    }
    pub(crate) fn numbered(number: u32) -> Option<Law> {
        Law::ALL.into_iter().find(|law| law.number() == number)
    }
    /// Identifier of the law's option, and its lengths with data and without, as in
    /// `bpf/laws/option.h`.
    pub(crate) fn option(self) -> (u32, u32, u32) {
        match self {
            Law::Xcp => (0x5278, 20, 8),
            Law::Rcp | Law::PiqiRcp => (0x5272, 16, 8),
            Law::Jetmax => (0x526a, 28, 12),
            Law::Noq => (0, 0, 0),
        }
    }
}
