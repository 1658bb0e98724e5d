//! The laws that the kernel can run.

/// A law that the kernel can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelLaw {
    /// XCP.
    Xcp,
    /// RCP.
    Rcp,
    /// PIQI-RCP, as reconstructed.
    PiqiRcp,
    /// JetMax.
    Jetmax,
    /// No congestion window where queues pause their senders; a router's part is no program of the
    /// kernel's ([`noq`](crate::noq)).
    Noq,
}

impl KernelLaw {
    /// All laws.
    pub const ALL: [KernelLaw; 5] =
        [KernelLaw::Xcp, KernelLaw::Rcp, KernelLaw::PiqiRcp, KernelLaw::Jetmax, KernelLaw::Noq];
    /// Laws with a port that the kernel runs.
    pub const OF_ROUTERS: [KernelLaw; 4] =
        [KernelLaw::Xcp, KernelLaw::Rcp, KernelLaw::PiqiRcp, KernelLaw::Jetmax];

    /// The law's name, as everywhere in Ratewire.
    pub const fn name(self) -> &'static str {
        match self {
            KernelLaw::Xcp => "xcp",
            KernelLaw::Rcp => "rcp",
            KernelLaw::PiqiRcp => "piqi-rcp",
            KernelLaw::Jetmax => "jetmax",
            KernelLaw::Noq => "noq",
        }
    }
    /// The law of this name.
    pub fn named(name: &str) -> Option<KernelLaw> {
        KernelLaw::ALL.into_iter().find(|law| law.name() == name)
    }
    /// The congestion control that sockets may ask for, and that connections that take part get.
    pub fn control(self) -> &'static str {
        match self {
            KernelLaw::Xcp => "rw_xcp",
            KernelLaw::Rcp => "rw_rcp",
            KernelLaw::PiqiRcp => "rw_piqi",
            KernelLaw::Jetmax => "rw_jetmax",
            KernelLaw::Noq => "rw_noq",
        }
    }

    /// The law's number in the programs: `ROUTER_XCP` of `bpf/router.h`, `HOST_XCP` of `bpf/host.h`
    /// and so on.
    pub(crate) fn number(self) -> u32 {
        match self {
            KernelLaw::Xcp => 0,
            KernelLaw::Rcp => 1,
            KernelLaw::PiqiRcp => 2,
            KernelLaw::Jetmax => 3,
            KernelLaw::Noq => 4,
        }
    }
    pub(crate) fn numbered(number: u32) -> Option<KernelLaw> {
        KernelLaw::ALL.into_iter().find(|law| law.number() == number)
    }
    /// Identifier of the law's option, and its lengths with data and without, as in
    /// `bpf/laws/option.h`.
    pub(crate) fn option(self) -> (u32, u32, u32) {
        match self {
            KernelLaw::Xcp => (0x5278, 20, 8),
            KernelLaw::Rcp | KernelLaw::PiqiRcp => (0x5272, 16, 8),
            KernelLaw::Jetmax => (0x526a, 28, 12),
            KernelLaw::Noq => (0, 0, 0),
        }
    }
}
