//! Answers on their way to the switch.

use ratewire_acp::{Connection, Error, Frame};

use crate::frame::{Replies, Reply};

/// Answers that leave together.
pub(super) struct Answering<'a> {
    connection: &'a Connection,
    frame: Replies,
    /// Number of the first answer's request.
    first: u64,
}

impl Answering<'_> {
    pub(super) fn new(connection: &Connection) -> Answering<'_> {
        Answering { connection, frame: Replies::default(), first: 0 }
    }

    /// Adds an answer; those before it leave if it has no room beside them.
    pub(super) async fn add(&mut self, id: u64, answer: Reply) -> Result<(), Error> {
        if !self.frame.has_room(&answer) {
            self.flush().await?;
        }
        if self.frame.is_empty() {
            self.first = id;
        }
        self.frame.push(id, &answer);
        Ok(())
    }

    /// Sends what there is.
    pub(super) async fn flush(&mut self) -> Result<(), Error> {
        if self.frame.is_empty() {
            return Ok(());
        }
        match self.connection.send(Frame::new(self.first, self.frame.take())).await {
            // Only an answer that is alone in its frame can be so long.
            Err(Error::TooLong { longest }) => {
                let why = format!("the answer is longer than the switch's {longest} bytes");
                self.frame.push(self.first, &Reply::Failed(why.into()));
                self.connection.send(Frame::new(self.first, self.frame.take())).await
            }
            sent => sent,
        }
    }
}
