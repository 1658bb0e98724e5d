//! Writes what waits for a client, and watches how much of it the client has not taken.

use std::io::{self, IoSlice};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::{Instant, sleep};

use super::core::{Session, Shared};
use super::item::Item;
use super::socket::WriteHalf;

/// Messages to write at a time.
const WRITE: usize = 64;
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
    let mut writer = Writer { shared, session, write, pause: LEAST_PAUSE, stalled: None };
    loop {
        let before = writer.look(0);
        let items = session.outbox.borrow_mut().take(WRITE);
        if !items.is_empty() {
            writer.write(&items).await?;
            let more = writer.write.unsent().saturating_sub(before);
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
    /// Time to the next look at what waits in the kernel.
    pause: Duration,
    /// Since when the client has read nothing while others wait for it.
    stalled: Option<Instant>,
}

impl<W: WriteHalf> Writer<'_, W> {
    /// Looks at what waits in the kernel, and returns how many bytes. `part` of them are of
    /// messages that are being written.
    fn look(&mut self, part: usize) -> usize {
        let unsent = self.write.unsent();
        let has_moved = self.session.outbox.borrow_mut().look(unsent.saturating_sub(part));
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
                        part += written;
                        self.note_progress();
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
