//! A toy: a window of ten packets, halved at each loss.
//!
//! Units: payload bytes. Its name is a word that other crates quote for other things.

use ratewire_units::Bytes;

use crate::law::{
    Acked, Congestion, FlowContext, Law, LawInfo, Named, NoHeader, NoPort, NoSink, Sending, Source,
};
use crate::options::{OptionError, OptionKind, OptionSpec, Options, Part, Size};
use crate::reason::{Figure, Reason};

/// A window of a set size.
#[derive(Clone, Debug)]
pub struct Window {
    initial: Size,
}

impl Named for Window {
    const INFO: LawInfo = LawInfo {
        name: "window",
        title: "Window",
        summary: "a window of ten packets, halved at each loss",
        explanation: include_str!("explain.md"),
        operations: "",
        options: &[OptionSpec {
            name: "initial",
            kind: OptionKind::Size(None),
            default: "10 packets",
            part: Part::Source,
            doc: "window before the first loss.",
        }],
    };

    fn from_options(options: &Options) -> Result<Window, OptionError> {
        Ok(Window { initial: options.size("initial").unwrap_or(Size::Packets(10.0)) })
    }
}

impl Law for Window {
    type Header = NoHeader;
    type Source = WindowSource;
    type Port = NoPort;
    type Sink = NoSink;

    fn source(&self, flow: &FlowContext) -> WindowSource {
        WindowSource { mss: flow.mss, window: self.initial.bytes(flow.mss) }
    }
}

/// The sender.
#[derive(Clone, Debug)]
pub struct WindowSource {
    mss: Bytes,
    window: Bytes,
}

impl Source for WindowSource {
    type Header = NoHeader;

    fn on_send(&mut self, _: &Sending) -> Option<NoHeader> {
        None
    }
    fn on_ack(&mut self, _: &Acked, _: Option<&NoHeader>) {}
    fn on_congestion(&mut self, _: &Congestion) {
        self.window = Bytes::new(self.window.get() / 2);
    }
    fn window(&self) -> Bytes {
        self.window.max(self.mss)
    }
    fn reason(&self) -> Reason {
        Reason::new("w = max(w_set, smss)", [
            Figure::bytes("w", self.window().as_f64()),
            Figure::bytes("w_set", self.window.as_f64()),
            Figure::bytes("smss", self.mss.as_f64()),
        ])
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use crate::AnyLaw;

    #[test]
    fn it_is_made_of_its_options() {
        let options: Vec<(&str, &str)> = [("initial", "3 packets")].into();
        assert_eq!(AnyLaw::new("window", &options).unwrap().info().title, "Window");
    }
}
