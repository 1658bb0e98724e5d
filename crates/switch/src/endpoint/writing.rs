//! The writing application of an end.

use bytes::Bytes as Content;
use ratewire_acp::Frame;
use ratewire_timer::Timer;
use ratewire_transport::Writer;
use ratewire_units::{Bytes, Duration, Time};

use super::{EndpointConfig, EndpointError, Served};

impl Served {
    /// Writes all that the configuration says, and then no more.
    pub(super) async fn write(
        &self,
        config: &EndpointConfig,
        writer: &Writer,
    ) -> Result<(), EndpointError> {
        let (frame, stop) = (config.frame, config.stop.unwrap_or(Time::NEVER));
        let every = match writer {
            Writer::Constant { rate } => rate.serial_time().map(|time| time.of(frame)),
            _ => Some(Duration::ZERO),
        };
        let mut left = match writer {
            Writer::Sized(size) => *size,
            _ => Bytes::MAX,
        };
        let (zeros, pause) = (Content::from(vec![0; frame.get() as usize]), Timer::new()?);
        let (mut next, mut count, timer) = (config.start, 0, Timer::new()?);
        while left > Bytes::ZERO
            && let Some(every) = every
        {
            let now = self.clock.now();
            let begins = begin(next, now, &config.idle);
            if begins >= stop || now >= stop {
                break;
            }
            self.clock.wait_until(&pause, begins).await;
            let size = left.min(frame);
            let content = content(&zeros, size, &config.contents, count);
            tokio::select! {
                sent = self.connection.send(Frame::new(0, content)) => sent?,
                () = self.clock.wait_until(&timer, stop), if stop < Time::NEVER => break,
            }
            if self.started.get().is_none() {
                self.started.set(Some(self.clock.now()));
            }
            self.written.set(self.written.get() + size);
            (left, count) = (left.saturating_sub(size), count + 1);
            // Frames that fell due in an idle time are not written after it.
            next =
                if every.is_zero() { self.clock.now() } else { after(next, &config.idle) + every };
        }
        self.connection.finish()?;
        self.has_finished.set(true);
        Ok(())
    }
}

/// When a frame that is due at `next` is written.
fn begin(next: Time, now: Time, idle: &[(Time, Time)]) -> Time {
    after(next.max(now), idle)
}

/// The time itself, or the end of the idle time that it is in.
fn after(at: Time, idle: &[(Time, Time)]) -> Time {
    let during = idle.iter().find(|(from, to)| (*from..*to).contains(&at));
    during.map_or(at, |(_, to)| *to)
}

/// Content of the frame of this number.
fn content(zeros: &Content, size: Bytes, contents: &[[u8; 8]], number: usize) -> Content {
    let all = zeros.slice(..size.get() as usize);
    let Some(first) = contents.get(number % contents.len().max(1)) else { return all };
    let mut bytes = all.to_vec();
    let length = bytes.len().min(first.len());
    bytes[..length].copy_from_slice(&first[..length]);
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_in_idle_times() {
        let ms = Time::from_millis;
        let idle = [(ms(10), ms(20)), (ms(30), ms(40))];
        let at = |next, now| begin(ms(next), ms(now), &idle);
        assert_eq!([at(5, 6), at(25, 6)], [ms(6), ms(25)]);
        assert_eq!([at(10, 10), at(9, 35), at(20, 0)], [ms(20), ms(40), ms(20)]);
    }

    #[test]
    fn contents_take_turns() {
        let zeros = Content::from(vec![0; 10]);
        let contents = [[1; 8], [2; 8]];
        let of = |size, number| content(&zeros, Bytes::new(size), &contents, number).to_vec();
        assert_eq!(of(10, 0), [1, 1, 1, 1, 1, 1, 1, 1, 0, 0]);
        assert_eq!(of(3, 3), [2, 2, 2]);
        assert_eq!(content(&zeros, Bytes::new(2), &[], 7).to_vec(), [0, 0]);
    }
}
