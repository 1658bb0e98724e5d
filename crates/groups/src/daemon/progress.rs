//! Deadlines that begin anew whenever bytes pass: a slow connection is not a dead one.

use std::cell::Cell;
use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, timeout_at};

/// When the last byte passed in one direction of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Progress(Rc<Cell<Option<Instant>>>);

impl Progress {
    fn note(&self, bytes: usize) {
        if bytes > 0 {
            self.0.set(Some(Instant::now()));
        }
    }

    /// Waits for a step as long as there is a byte within each `longest`.
    ///
    /// # Errors
    /// If no byte passes in this time, or the step fails.
    pub(super) async fn within<T>(
        &self,
        longest: Duration,
        step: impl Future<Output = io::Result<T>>,
    ) -> io::Result<T> {
        let mut step = pin!(step);
        let mut since = Instant::now();
        loop {
            match timeout_at(since + longest, &mut step).await {
                Ok(done) => return done,
                Err(late) => match self.0.get() {
                    Some(last) if last > since => since = last,
                    _ => return Err(late.into()),
                },
            }
        }
    }
}

/// A stream that notes its progress.
#[derive(Debug)]
pub(super) struct Watched<S> {
    stream: S,
    read: Progress,
    written: Progress,
}

impl<S> Watched<S> {
    /// The stream, with its progress in reading and in writing.
    pub(super) fn new(stream: S) -> (Watched<S>, [Progress; 2]) {
        let [read, written] = [Progress::default(), Progress::default()];
        let both = [read.clone(), written.clone()];
        (Watched { stream, read, written }, both)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        self.read.note(buffer.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(context, bytes))?;
        self.written.note(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(context, slices))?;
        self.written.note(written);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::sleep;

    use super::*;

    const LONGEST: Duration = Duration::from_secs(5);
    const SIZE: usize = 10_000;

    /// Virtual time in which a message passes over a line that takes a packet each three seconds.
    /// The line breaks after so many packets.
    async fn sent(packets: usize) -> (io::Result<()>, Duration) {
        let (near, mut far) = duplex(100);
        let (mut near, [_, written]) = Watched::new(near);
        let start = Instant::now();
        let line = async {
            for _ in 0..packets {
                sleep(Duration::from_secs(3)).await;
                far.read_exact(&mut [0; 100]).await.unwrap();
            }
            std::future::pending().await
        };
        tokio::select! {
            () = line => unreachable!("the line does not end"),
            done = written.within(LONGEST, near.write_all(&[0; SIZE])) => (done, start.elapsed()),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_may_take_longer_than_the_deadline_while_its_bytes_pass() {
        let (done, took) = sent(SIZE / 100).await;
        done.unwrap();
        // The last packet waits in the line.
        assert_eq!(took, Duration::from_secs(3) * (SIZE as u32 / 100 - 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_line_that_takes_no_more_fails_a_deadline_after_its_last_byte() {
        let (done, took) = sent(4).await;
        assert_eq!(done.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert_eq!(took, Duration::from_secs(3) * 4 + LONGEST);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_that_comes_slowly_is_read_to_its_end() {
        let (near, mut far) = duplex(100);
        let (mut near, [read, _]) = Watched::new(near);
        let line = async {
            for _ in 0..10 {
                sleep(Duration::from_secs(3)).await;
                far.write_all(&[7; 10]).await.unwrap();
            }
        };
        let mut message = [0; 100];
        let (done, ()) = tokio::join!(read.within(LONGEST, near.read_exact(&mut message)), line);
        assert_eq!(done.unwrap(), 100);
        let silent = read.within(LONGEST, near.read_exact(&mut message)).await;
        assert_eq!(silent.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(far);
    }
}
