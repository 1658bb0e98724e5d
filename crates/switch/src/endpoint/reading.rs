//! The reading application of an end: a server that takes its time for each frame.

use std::task::Poll;

use ratewire_timer::Timer;
use ratewire_transport::Reader;
use ratewire_units::Bytes;

use super::{EndpointError, Served, per_frame};

impl Served {
    /// Reads frames until the other end has sent its last.
    ///
    /// A frame that waits while another is read begins when that one ends, however late this
    /// process is called: the server's speed does not depend on the machine's.
    pub(super) async fn read(&self, reader: Reader) -> Result<(), EndpointError> {
        let timer = Timer::new()?;
        let mut free = self.clock.now();
        loop {
            let mut receiving = core::pin::pin!(self.connection.receive());
            let at_once =
                core::future::poll_fn(|context| Poll::Ready(receiving.as_mut().poll(context)))
                    .await;
            let (frame, begins) = match at_once {
                Poll::Ready(frame) => (frame?, free),
                Poll::Pending => (receiving.await?, self.clock.now()),
            };
            let Some(frame) = frame else { break };
            self.read.set(self.read.get() + Bytes::new(frame.data.len() as u64));
            let time = per_frame(reader, begins);
            if time.is_zero() {
                free = self.clock.now();
            } else {
                free = begins.max(free) + time;
                self.clock.wait_until(&timer, free).await;
            }
        }
        self.ended.set(Some(self.clock.now()));
        Ok(())
    }
}
