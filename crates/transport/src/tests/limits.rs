//! Limits of a sender: its law, the application, or the receiver. The law must know which: an
//! unused window does not measure the path.

use ratewire_units::Rate;

use crate::testing::{Pipe, at, config, newreno, packets};
use crate::{App, KeptBy, ReceiveWindow, TransportConfig, Writer};

#[test]
fn a_window_that_is_used_grows() {
    let mut pipe = Pipe::new(&newreno(), &config(), &App::unlimited());
    pipe.run_to(at(250));
    assert_eq!(pipe.sender.kept_by(), KeptBy::Law);
    assert_eq!(pipe.window(), 40.0);
}

#[test]
fn a_window_that_the_application_does_not_use_does_not_grow() {
    // A packet every 11.68 ms: eight or nine an RTT.
    let app = App { writer: Writer::Constant { rate: Rate::from_mbps(1) }, ..App::unlimited() };
    let mut pipe = Pipe::new(&newreno(), &config(), &app);
    pipe.run_to(at(2000));
    assert_eq!(pipe.sender.kept_by(), KeptBy::Application);
    assert_eq!(pipe.window(), 10.0);
}

#[test]
fn a_window_that_the_receiver_does_not_allow_does_not_grow() {
    let receive_window = ReceiveWindow::Fixed(packets(15));
    let config = TransportConfig { receive_window, ..config() };
    let mut pipe = Pipe::new(&newreno(), &config, &App::unlimited());
    pipe.run_to(at(2000));
    assert_eq!(pipe.sender.kept_by(), KeptBy::Receiver);
    // The first round used all ten; from then on the receiver's 15 are the limit.
    assert!((15.0..=20.0).contains(&pipe.window()), "{}", pipe.window());
}

#[test]
fn the_end_of_a_burst_does_not_count_once_more_is_written() {
    let app = App { writer: Writer::Constant { rate: Rate::from_mbps(20) }, ..App::unlimited() };
    let mut pipe = Pipe::new(&newreno(), &config(), &app);
    pipe.run_to(at(5000));
    // 171 packets an RTT are written: slow start goes on until the window is that large and what
    // was written meanwhile has been sent.
    let window = pipe.window();
    assert!((171.0..=640.0).contains(&window), "{window}");
    pipe.run_to(at(9000));
    assert_eq!(pipe.window(), window);
}
