//! The list of laws.

mod dispatch;
mod set;

pub use set::{LawFile, LawSet, RegisterError};

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;

use ratewire_units::{Bytes, Duration, Rate, Throughput, Time};

use crate::junction::{Declared, Feedback, Junction};
use crate::law::{
    Acked, Books, Buffer, Congestion, FlowContext, HeaderError, Law, LawInfo, LinkContext,
    MAX_HEADER, NO_BYTES, Named, Port, PortQueue, Promises, Properties, Sending, Sink, Source,
};
use crate::options::{OptionError, OptionSpec, Options};
use crate::reason::{Figure, Reason};
use crate::trust::{Claim, Grant, Hand, Lie};

macro_rules! registry {
    ($($variant:ident => $law:ty,)*) => {
        dispatch::dispatch! { $($variant => $law,)* External => crate::external::External, }

        const INFOS: &[&LawInfo] = &[$(&<$law as Named>::INFO,)*];

        /// Other names of laws, in the order of `INFOS`.
        const ALIASES: &[Option<&str>] = &[$(<$law as Named>::ALIAS,)*];

        /// Makes the law of this crate called `name` from its options, which `options` makes of
        /// their table; `None` if there is none.
        fn made(
            name: &str,
            options: impl Fn(&'static [OptionSpec]) -> Result<Options, OptionError>,
        ) -> Option<Result<AnyLaw, OptionError>> {
            $(if <$law as Named>::INFO.name == name {
                let options = options(<$law as Named>::INFO.options);
                let law = options.and_then(|options| <$law as Named>::from_options(&options));
                return Some(law.map(AnyLaw::$variant));
            })*
            None
        }

        impl AnyLaw {
            /// The law's name, explanation and options.
            pub fn info(&self) -> &'static LawInfo {
                match self {
                    $(AnyLaw::$variant(_) => &<$law as Named>::INFO,)*
                    AnyLaw::External(law) => law.info(),
                }
            }
        }
    };
}

registry! {
    Xcp => crate::xcp::Xcp,
    Rcp => crate::rcp::Rcp,
    PiqiRcp => crate::piqi_rcp::PiqiRcp,
    Jetmax => crate::jetmax::Jetmax,
    Emkc => crate::emkc::Emkc,
    Maxnet => crate::maxnet::Maxnet,
    Hpcc => crate::hpcc::Hpcc,
    Abc => crate::abc::Abc,
    Dctcp => crate::tcp::dctcp::Dctcp,
    NewReno => crate::tcp::newreno::NewReno,
    Cubic => crate::tcp::cubic::Cubic,
    Bbr1 => crate::bbr::Bbr1,
    Bbr3 => crate::bbr::Bbr3,
    Noq => crate::noq::Noq,
    Fixed => crate::fixed::Fixed,
    XcpKernel => crate::kernel::XcpKernel,
    RcpKernel => crate::kernel::RcpKernel,
    PiqiRcpKernel => crate::kernel::PiqiRcpKernel,
    JetmaxKernel => crate::kernel::JetmaxKernel,
}

impl AnyLaw {
    /// Makes the law of this crate called `name`, with options as users write them. See
    /// [`LawSet::make`] for laws outside this crate.
    ///
    /// # Errors
    /// When there is no such law, no such option, or a value is not allowed.
    pub fn new(name: &str, options: &[(&str, &str)]) -> Result<AnyLaw, OptionError> {
        LawSet::in_tree().make(name, options)
    }

    /// Whether the law's packets may be marked (ECN) whatever the scenario's transport.
    pub fn marks(&self) -> bool {
        self.properties().marks_above.is_some()
    }
}

/// Reads a law's name, with its options behind it: `name key=value ...`.
impl FromStr for AnyLaw {
    type Err = OptionError;

    fn from_str(text: &str) -> Result<AnyLaw, OptionError> {
        let mut words = text.split(' ');
        let name = words.next().unwrap_or_default();
        let options = words.map(|word| word.split_once('=').unwrap_or((word, "")));
        AnyLaw::new(name, &options.collect::<Vec<_>>())
    }
}

/// All laws of this crate, in the order of the registry.
pub fn list() -> &'static [&'static LawInfo] {
    INFOS
}

/// The law of this crate called `name`.
pub fn find(name: &str) -> Option<&'static LawInfo> {
    let name = full_name(name);
    INFOS.iter().copied().find(|info| info.name == name)
}

/// The name of the law that `name` stands for, if it stands for one; `name` itself otherwise.
fn full_name(name: &str) -> &str {
    let is_alias = |(_, alias): &(&&LawInfo, &Option<&str>)| **alias == Some(name);
    INFOS.iter().zip(ALIASES).find(is_alias).map_or(name, |(info, _)| info.name)
}

#[cfg(test)]
mod dummy_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Signal;

    #[test]
    fn every_law_can_be_made_with_its_defaults() {
        for info in list() {
            let law = AnyLaw::new(info.name, &[]).expect(info.name);
            assert_eq!(law.info().name, info.name);
            assert_eq!(law.has_header(), law.has_format(), "{}", info.name);
        }
    }

    /// Bounds the size of a port: a flow may pass four ports and more of its own. A law with a
    /// larger port should box fields that few packets need.
    #[test]
    fn a_port_takes_four_cache_lines() {
        assert_eq!(size_of::<AnyPort>(), 256);
    }

    #[test]
    fn a_port_that_acts_on_arrival_only_has_no_timer_and_heeds_no_departure() {
        let draw = crate::Draw::new(1);
        let link = LinkContext { rate: Rate::from_mbps(10), delay: Duration::ZERO, id: 1, draw };
        let laws = list().iter().map(|info| AnyLaw::new(info.name, &[]).expect(info.name));
        let mut ports: Vec<AnyPort> = laws.filter_map(|law| law.port(&link)).collect();
        ports.retain(AnyPort::acts_on_arrival_only);
        assert!(!ports.is_empty());
        let queue = |packets| PortQueue { bytes: Bytes::new(1500) * u64::from(packets), packets };
        for mut port in ports {
            assert_eq!(port.next_timer(), Time::NEVER);
            let size = Bytes::new(1500);
            port.on_arrival(Time::from_millis(1), size, &mut Header::None, queue(70));
            let before = alloc::format!("{port:?}");
            port.on_departure(Time::from_millis(2), size, &mut Header::None, queue(3));
            assert_eq!(alloc::format!("{port:?}"), before);
        }
    }

    /// A law outside this crate keeps its parts behind pointers and its header in 32 bytes, so that
    /// it does not enlarge other laws' parts.
    #[test]
    fn headers_and_parts_are_no_larger_for_laws_outside() {
        let external =
            [size_of::<crate::ExternalHeader>(), size_of::<Box<dyn crate::ExternalSource>>()];
        assert_eq!(external, [36, 16]);
        assert_eq!(size_of::<Header>(), 48);
        assert_eq!([size_of::<AnySource>(), size_of::<AnySink>()], [288, 48]);
    }

    /// No law of this crate changes its window or pace between two calls, so a source may answer
    /// with what it gave in the last one.
    #[test]
    fn window_and_pace_are_those_after_the_last_call() {
        let mss = Bytes::new(1460);
        let flow = FlowContext {
            mss,
            packet: Bytes::new(1500),
            line_rate: Rate::from_mbps(100),
            back_pressured: false,
            draw: crate::law::Draw::new(7),
        };
        let ms = Duration::from_millis;
        let mut changes = 0;
        for info in list() {
            let mut source = AnyLaw::new(info.name, &[]).expect(info.name).source(&flow);
            for n in 0..400 {
                let (now, in_flight) = (Time::from_millis(10 * n), mss * (n % 40));
                let (srtt, rto, receive_window) = (ms(50), ms(200), Bytes::MAX);
                let given = (source.window(), source.pacing());
                match n % 50 {
                    0 => drop(source.on_open(now)),
                    1 => source.on_opened(now, Some(ms(50)), &Header::None),
                    30..=32 => {
                        let signals = [Signal::Loss, Signal::Mark, Signal::Timeout];
                        let signal = signals[n as usize % 3];
                        source.on_congestion(&Congestion { now, signal, in_flight, srtt });
                    }
                    40 => source.on_spurious(now),
                    41 => source.on_recovered(now),
                    48 => source.on_timer(now),
                    _ if n % 2 == 0 => {
                        let limited = false;
                        let packet = flow.packet;
                        let sending =
                            Sending { now, packet, in_flight, receive_window, srtt, rto, limited };
                        source.on_send(&sending);
                    }
                    _ => {
                        let acked = Acked {
                            now,
                            bytes: mss,
                            in_flight,
                            was_in_flight: in_flight + mss,
                            rtt: Some(ms(50 + n % 7)),
                            srtt,
                            cumulative: mss.get() * n,
                            next: mss.get() * (n + 40),
                            receive_window,
                            limited: false,
                            in_recovery: false,
                            marked: n % 90 == 5,
                            lost: Bytes::ZERO,
                        };
                        source.on_ack(&acked, &Header::None);
                    }
                }
                let gives = (source.window(), source.pacing());
                changes += u32::from(gives != given);
                source.ask();
                assert_eq!((source.window(), source.pacing()), gives, "{} at {n}", info.name);
            }
        }
        assert!(changes > 1000, "{changes}");
    }

    #[test]
    fn an_alias_stands_for_its_law_and_is_taken() {
        let laws = LawSet::in_tree();
        let aliases: Vec<_> =
            INFOS.iter().zip(ALIASES).filter(|(_, alias)| alias.is_some()).collect();
        assert!(!aliases.is_empty());
        for (info, alias) in aliases {
            let alias = alias.unwrap();
            assert_eq!(find(alias).map(|found| found.name), Some(info.name));
            assert_eq!(laws.make(alias, &[]).unwrap().info().name, info.name);
            assert!(INFOS.iter().all(|other| other.name != alias), "{alias}");
        }
    }

    #[test]
    fn unknown_names_and_values_are_explained() {
        let e = AnyLaw::new("xpc", &[]).unwrap_err();
        assert!(e.message.contains("known: xcp, rcp"), "{e}");
        let e = AnyLaw::new("xcp", &[("alfa", "1")]).unwrap_err();
        assert!(e.message.contains("no such option; known: "), "{e}");
        let e = AnyLaw::new("xcp", &[("alpha", "7")]).unwrap_err();
        assert!(e.message.contains("allowed is a number from"), "{e}");
    }

    /// Only a law that is made wrong on purpose has a number beyond its range.
    #[test]
    fn a_law_is_made_wrong_with_any_number() {
        let laws = LawSet::in_tree();
        let wrong = |option, value| laws.make_wrong("xcp", &[("alpha", "0.3")], (option, value));
        let law = wrong("alpha", "-0.4").expect("a wrong law");
        assert!(matches!(law, AnyLaw::Xcp(xcp) if xcp.alpha == -0.4));
        assert!(laws.make("xcp", &[("alpha", "-0.4")]).is_err());
        for (option, value) in [("alpha", "inf"), ("pacing", "-1"), ("alfa", "1")] {
            assert!(wrong(option, value).is_err(), "{option}");
        }
    }
}
