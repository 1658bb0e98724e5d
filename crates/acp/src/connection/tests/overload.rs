//! A path that stands still and loses much at a time, as through a busy host.

use super::*;

const MS: Duration = Duration::from_millis(1);

/// The path's round trip has been long, so that the window is large, and is short again. Then the
/// path stands still: feedback of the short round trip counts over the long one, and lowers the
/// window to a packet before the losses show. The repair must not take a round trip a packet.
#[test]
fn a_burst_of_losses_after_the_window_has_fallen_is_repaired_soon() {
    let path = Path { period: MS * 3, delay: Duration::from_micros(100), ..CLEAN };
    let mut pair = Pair::new("xcp", path, |config| config.longest_frame = Size::new(64 << 20));
    pair.ends[0].write(Frame::new(0, vec![0; 60 << 20])).expect("room");
    let step_while = |pair: &mut Pair, lasts: &dyn Fn(&Pair) -> bool| {
        while lasts(pair) {
            assert!(pair.step(Time::from_secs(60)));
        }
        pair.ends[0].metrics()
    };
    step_while(&mut pair, &|pair| pair.ends[0].metrics().window < Size::new(3 << 20));
    pair.path.period = Duration::ZERO;
    step_while(&mut pair, &|pair| pair.ends[0].metrics().srtt > MS);
    (pair.path.period, pair.path.queue) = (MS * 30, 200);
    let until = pair.now + MS * 30;
    let after = step_while(&mut pair, &|pair| pair.now < until);
    assert!(after.window < Size::new(4000), "{after:?}");
    pair.path.period = Duration::ZERO;
    let done = step_while(&mut pair, &|pair| !pair.ends[1].is_readable());
    let took = pair.now.since(until);
    assert!(done.packets_retransmitted > 100 && done.timeouts == 0, "{done:?}");
    assert!(took < MS * 150, "{took:?} {done:?}");
}
