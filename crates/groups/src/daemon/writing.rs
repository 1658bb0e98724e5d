//! Writes what waits for a client, and watches how much of it the client has not taken.

use std::io::{self, IoSlice};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep};

use super::core::{Session, Shared};
use super::item::Item;
use super::slowness::Slowness;
use super::socket::WriteHalf;
use super::unread::Unread;

/// Messages to write at a time.
const WRITE: usize = 64;
/// Messages to write at a time to a client that reads slowly: a Unix socket keeps a write until all
/// of it is read.
const BITE: usize = 4;
/// Time between messages to a slow client for which kernels hold enough. The answer of its kernel
/// tells what it has read.
const ASKING: Duration = Duration::from_millis(25);
/// Shortest time between two looks at what waits in the kernel, which tells no one that a client
/// reads.
const LEAST_PAUSE: Duration = Duration::from_millis(2);
/// Longest time between two looks, of a client that reads nothing.
const MOST_PAUSE: Duration = Duration::from_millis(100);

/// Writes what waits for the client.
pub(super) async fn write_all<W: WriteHalf>(
    shared: &Shared,
    session: &Session,
    write: W,
) -> io::Result<()> {
    let mut writer = Writer {
        shared,
        session,
        write,
        unread: Unread::new(Instant::now()),
        slowness: Slowness::new(Instant::now()),
        round_trip: Duration::ZERO,
        pause: LEAST_PAUSE,
        stalled: None,
    };
    loop {
        let mut before = writer.look(0);
        let mut most = if writer.is_slow() { BITE } else { WRITE };
        if writer.is_to_wait() {
            sleep(ASKING).await;
            (before, most) = (writer.look(0), 1);
        }
        let items = session.outbox.borrow_mut().take(most);
        if !items.is_empty() {
            writer.write(&items).await?;
            let more = writer.waiting().saturating_sub(before);
            session.outbox.borrow_mut().written(&items, more, shared.queue_limit());
            shared.record.count(|totals| {
                totals.messages_out += items.len() as u64;
                totals.bytes_out += items.iter().map(Item::size).sum::<usize>() as u64;
            });
            shared.written(session);
        } else if session.outbox.borrow().is_closing() {
            return writer.write.shutdown().await;
        } else if session.outbox.borrow().is_unsent() {
            tokio::select! {
                () = session.writer.notified() => {}
                () = sleep(writer.pause) => {}
            }
        } else {
            session.writer.notified().await;
        }
    }
}

struct Writer<'a, W> {
    shared: &'a Shared,
    session: &'a Session,
    write: W,
    unread: Unread,
    slowness: Slowness,
    round_trip: Duration,
    /// Time to the next look at what waits in the kernel.
    pause: Duration,
    /// Since when the client has read nothing while others wait for it.
    stalled: Option<Instant>,
}

impl<W: WriteHalf> Writer<'_, W> {
    fn is_slow(&self) -> bool {
        self.slowness.is_slow(Instant::now())
    }

    /// Whether the client is to read before it is sent more.
    fn is_to_wait(&self) -> bool {
        let outbox = self.session.outbox.borrow();
        let is_enough = || Slowness::is_enough(outbox.unsent());
        self.is_slow() && outbox.has_more() && !outbox.is_closing() && is_enough()
    }

    /// Bytes that wait, here and in the client's kernel.
    fn waiting(&mut self) -> usize {
        let (unsent, now, is_slow) = (self.write.unsent(), Instant::now(), self.is_slow());
        let Some(window) = self.write.window() else { return unsent };
        self.round_trip = window.round_trip;
        unsent + self.unread.look(now, window, is_slow, unsent, || self.write.unanswered())
    }

    /// Looks at what waits in the kernels, and returns how many bytes. `part` of them are of
    /// messages that are being written.
    fn look(&mut self, part: usize) -> usize {
        let unsent = self.waiting();
        let has_moved = self.session.outbox.borrow_mut().look(unsent.saturating_sub(part));
        let outbox = self.session.outbox.borrow();
        self.slowness.look(Instant::now(), outbox.unsent(), self.round_trip);
        drop(outbox);
        if has_moved {
            self.shared.written(self.session);
        }
        if !has_moved && unsent == 0 {
            // The client reads whatever comes.
            self.note_progress();
            return unsent;
        }
        if self.pause == MOST_PAUSE {
            self.write.set_deadline(has_moved);
        }
        if has_moved {
            self.note_progress();
        } else {
            self.note_stall();
        }
        unsent
    }

    fn note_progress(&mut self) {
        self.pause = LEAST_PAUSE;
        self.stalled = None;
    }

    /// Cuts the client off if others have waited for it too long.
    fn note_stall(&mut self) {
        self.pause = MOST_PAUSE.min(self.pause * 2);
        if !self.shared.is_waited_for(self.session) {
            self.stalled = None;
            return;
        }
        let since = *self.stalled.get_or_insert_with(Instant::now);
        let limit = self.shared.config().limits.longest_stall.limit();
        if limit.is_some_and(|limit| since.elapsed() >= limit.to_std()) {
            self.shared.cut_off_stalled(self.session);
        }
    }

    async fn write(&mut self, items: &[Item]) -> io::Result<()> {
        let parts = items.iter().flat_map(|item| [&item.head, &item.data]);
        let mut slices: Vec<IoSlice<'_>> =
            parts.filter(|part| !part.is_empty()).map(|part| IoSlice::new(part)).collect();
        let mut rest = &mut slices[..];
        let mut part = 0;
        while !rest.is_empty() {
            tokio::select! {
                biased;
                written = self.write.write_vectored(rest) => match written? {
                    0 => return Err(io::ErrorKind::WriteZero.into()),
                    written => {
                        IoSlice::advance_slices(&mut rest, written);
                        // That the kernel takes the first part does not say that the client reads.
                        match part {
                            0 => self.pause = LEAST_PAUSE,
                            _ => self.note_progress(),
                        }
                        part += written;
                    }
                },
                () = sleep(self.pause) => {
                    self.look(part);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::pin::Pin;
    use std::rc::Rc;
    use std::task::{Context, Poll};

    use bytes::Bytes;
    use ratewire_overlay::OverlayNodeId;
    use ratewire_unsent::Window;
    use tokio::io::AsyncWrite;

    use super::*;
    use crate::config::Config;

    const SIZE: usize = 1000;

    /// A client whose kernel takes all and keeps each write until all of it is read, as that of a
    /// Unix socket does.
    #[derive(Clone)]
    struct Reader {
        /// Messages that it reads a second.
        rate: f64,
        begin: Instant,
        /// Bytes up to the end of each write.
        writes: Rc<RefCell<Vec<usize>>>,
    }

    impl Reader {
        fn new(rate: f64) -> Reader {
            Reader { rate, begin: Instant::now(), writes: Rc::default() }
        }

        fn written(&self) -> usize {
            self.writes.borrow().last().copied().unwrap_or(0)
        }

        fn read(&self) -> usize {
            (self.begin.elapsed().as_secs_f64() * self.rate) as usize * SIZE
        }
    }

    impl AsyncWrite for Reader {
        fn poll_write(
            self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            self.poll_write_vectored(context, &[IoSlice::new(bytes)])
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            _context: &mut Context<'_>,
            slices: &[IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            let size = slices.iter().map(|slice| slice.len()).sum();
            let all = self.written() + size;
            self.writes.borrow_mut().push(all);
            Poll::Ready(Ok(size))
        }

        fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    impl WriteHalf for Reader {
        fn unsent(&self) -> usize {
            let (writes, read) = (self.writes.borrow(), self.read());
            let ended = writes.partition_point(|end| *end <= read);
            self.written() - if ended > 0 { writes[ended - 1] } else { 0 }
        }

        fn unanswered(&self) -> usize {
            0
        }

        fn window(&self) -> Option<Window> {
            None
        }

        fn set_deadline(&self, _is_moving: bool) {}
    }

    /// Messages that a client's kernel holds after each millisecond of a second, in which 2000 are
    /// sent to it.
    async fn held(rate: f64) -> Vec<usize> {
        let shared = Shared::new(Config::single(), OverlayNodeId(0));
        let session = shared.connect(Some("reader"), "here", false).unwrap();
        let reader = Reader::new(rate);
        let mut held = Vec::new();
        let sending = async {
            for _ in 0..1000 {
                for _ in 0..2 {
                    let (head, at) = (vec![0; SIZE].into(), Instant::now());
                    let item = Item { head, data: Bytes::new(), counted: 1, is_notice: false, at };
                    session.outbox.borrow_mut().push(item, usize::MAX);
                }
                session.writer.notify_one();
                sleep(Duration::from_millis(1)).await;
                held.push(reader.written().saturating_sub(reader.read()) / SIZE);
            }
        };
        tokio::select! {
            _ = write_all(&shared, &session, reader.clone()) => unreachable!("nothing closes it"),
            () = sending => {}
        }
        held
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_clients_kernel_holds_little() {
        let held = held(100.0).await;
        let most = *held.iter().max().unwrap();
        assert!((40..=80).contains(&most), "{most} until it is found slow");
        let later = &held[700..];
        assert!(later.iter().all(|held| (5..=20).contains(held)), "{later:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_fast_clients_kernel_gets_all() {
        assert!(held(10_000.0).await.iter().all(|held| *held <= 2));
    }
}
