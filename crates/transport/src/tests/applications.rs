//! Applications that stop, and receivers that are full.

use ratewire_laws::{AnyLaw, Header};
use ratewire_units::{Bytes, Time};

use crate::testing::{MSS, Pipe, RTT, at, config, fixed, ms, packets};
use crate::{App, Reader, ReceiveWindow, Receiver, Reply, Stamp, TransportConfig};

/// A receiver that gets packets; the test checks what it has read.
fn receiver(law: &AnyLaw, buffer: u64, reader: Reader) -> Receiver {
    let config =
        TransportConfig { receive_window: ReceiveWindow::Fixed(packets(buffer)), ..config() };
    let flow = ratewire_laws::FlowContext {
        mss: packets(1),
        packet: config.packet,
        line_rate: ratewire_units::Rate::from_mbps(10),
        back_pressured: false,
        draw: ratewire_laws::Draw::new(0),
    };
    Receiver::new(law.sink(&flow), &config, packets(1), &App { reader, ..App::unlimited() })
}

fn give(receiver: &mut Receiver, now: Time, packet: u64) -> Reply {
    receiver.on_data(now, packet * MSS, packets(1), &Header::None, false, Stamp::NONE)
}

/// The advertised window, in packets.
fn window(receiver: &mut Receiver, now: Time) -> u64 {
    receiver.acknowledge(now).window.get() / MSS
}

#[test]
fn a_square_wave_reads_at_two_speeds() {
    let reader = Reader::Alternating { per_frame: [ms(1), ms(10)], every: ms(20) };
    let mut receiver = receiver(&fixed(1), 100, reader);
    for packet in 0..40 {
        give(&mut receiver, at(0), packet);
    }
    // Twenty in the first 20 ms, two in the next, then twenty again; a frame that is begun is
    // finished.
    for (now, read) in [(0, 0), (1, 1), (19, 19), (20, 20), (29, 20), (30, 21), (40, 22), (58, 40)]
    {
        assert_eq!(window(&mut receiver, at(now)), 60 + read, "at {now} ms");
    }
    // A single look gives the same result.
    let reader = Reader::Alternating { per_frame: [ms(3), ms(10)], every: ms(20) };
    let mut once = self::receiver(&fixed(1), 100, reader);
    (0..40).for_each(|packet| assert_eq!(give(&mut once, at(0), packet), Reply::Now));
    // The seventh begins at 18 ms and ends at 21; then 31, 41; from 41 on 3 ms each.
    assert_eq!(window(&mut once, at(47)), 60 + 7 + 2 + 2);
}

#[test]
fn who_holds_back_by_rate_advertises_all_and_drops() {
    let soft = AnyLaw::new("xcp", &[("flow_control", "soft")]).unwrap();
    let strict = AnyLaw::new("xcp", &[]).unwrap();
    for (law, advertised, refused) in [(&soft, 4, 2), (&strict, 0, 2)] {
        let mut receiver = receiver(law, 4, Reader::Slow(ms(50)));
        for packet in 0..6 {
            assert_eq!(give(&mut receiver, at(0), packet), Reply::Now);
        }
        assert_eq!(receiver.delivered(), packets(4));
        assert_eq!(window(&mut receiver, at(0)), advertised);
        assert_eq!(receiver.refused(), refused);
        // A window probe is no dropped packet.
        receiver.on_data(at(0), 6 * MSS, Bytes::ZERO, &Header::None, false, Stamp::NONE);
        assert_eq!(receiver.refused(), refused);
        assert_eq!(give(&mut receiver, at(50), 4), Reply::Now);
        assert_eq!((receiver.delivered(), receiver.refused()), (packets(5), refused));
    }
}

#[test]
fn who_is_held_sends_nothing_until_it_resumes() {
    let mut pipe = Pipe::new(&fixed(5), &config(), &App::unlimited());
    pipe.run_to(at(250));
    pipe.sender.hold();
    pipe.run_to(at(1000));
    assert_eq!(pipe.sender.in_flight(), Bytes::ZERO);
    assert!(!pipe.sender.is_done());
    let sent = pipe.sent().count();
    assert_eq!(sent, 15, "five a round trip of {RTT}");
    pipe.sender.resume();
    pipe.sender.resume();
    assert_eq!(pipe.sender.poll_transmit(at(1000)).map(|s| s.offset), Some(15 * MSS));
    // Data with an end is not held.
    let mut pipe = Pipe::new(&fixed(5), &config(), &App::sized(packets(9)));
    pipe.sender.hold();
    pipe.run();
    assert!(pipe.sender.is_done());
    pipe.sender.resume();
    assert!(pipe.sender.is_done());
}
