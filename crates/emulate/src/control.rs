//! Which congestion control of the kernel sends under a law.

use ratewire_laws::AnyLaw;

/// A congestion control of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    /// As the kernel calls it.
    pub(crate) name: &'static str,
    /// The law of `bpf/` that it is, as [`ratewire_live::Law`] spells it; `None` for one that the kernel has.
    pub(crate) live: Option<&'static str>,
    /// Identifier of the TCP option that holds its congestion header.
    pub(crate) option: Option<u16>,
}

const fn own(name: &'static str) -> Option<Control> {
    Some(Control { name, live: None, option: None })
}

const fn loaded(name: &'static str, live: &'static str, option: u16) -> Option<Control> {
    Some(Control { name, live: Some(live), option: Some(option) })
}

const XCP: u16 = 0x5278;
const RCP: u16 = 0x5272;

/// The congestion control that sends under a law; `None` if no kernel has one.
pub(crate) fn control(law: &AnyLaw) -> Option<Control> {
    match law {
        AnyLaw::Xcp(_) | AnyLaw::XcpKernel(_) => loaded("rw_xcp", "xcp", XCP),
        AnyLaw::Rcp(_) | AnyLaw::RcpKernel(_) => loaded("rw_rcp", "rcp", RCP),
        AnyLaw::PiqiRcp(_) | AnyLaw::PiqiRcpKernel(_) => loaded("rw_piqi_rcp", "piqi-rcp", RCP),
        AnyLaw::NewReno(_) => own("reno"),
        AnyLaw::Cubic(_) => own("cubic"),
        AnyLaw::Bbr(_) => own("bbr"),
        AnyLaw::Dctcp(_) => own("dctcp"),
        _ => None,
    }
}
