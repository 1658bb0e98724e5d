//! The answer to a request: lines of JSON, which a run writes and a connection sends.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use ratewire::{Cancel, Interrupt};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The end of an answer at which a run writes: at most a hundred lines of progress, and three
/// others.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    lines: UnboundedSender<Line>,
    /// Set once nobody needs the results: the page has gone, or another request came.
    pub(crate) cancel: Cancel,
    /// Set once the results so far are to be shown.
    pub(crate) interrupt: Interrupt,
}

#[derive(Debug)]
struct Line {
    text: Bytes,
    is_last: bool,
}

impl Answer {
    /// A new answer, and its lines.
    pub(crate) fn begin() -> (Answer, Lines) {
        let (sender, receiver) = unbounded_channel();
        let cancel = Cancel::default();
        let lines = Lines { lines: receiver, cancel: cancel.clone(), has_ended: false };
        (Answer { lines: sender, cancel, interrupt: Interrupt::default() }, lines)
    }

    /// Writes a line.
    pub(crate) fn write(&self, line: String) {
        self.put(line, false);
    }

    /// Writes the last line. Lines after it are dropped.
    pub(crate) fn end(&self, line: String) {
        self.put(line, true);
    }

    fn put(&self, line: String, is_last: bool) {
        // A page that has gone gets no line.
        _ = self.lines.send(Line { text: Bytes::from(line + "\n"), is_last });
    }
}

/// The end of an answer that a connection sends. Its drop cancels the run.
#[derive(Debug)]
pub(crate) struct Lines {
    lines: UnboundedReceiver<Line>,
    cancel: Cancel,
    has_ended: bool,
}

impl Drop for Lines {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

impl Body for Lines {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.has_ended {
            return Poll::Ready(None);
        }
        self.lines.poll_recv(cx).map(|line| {
            let Line { text, is_last } = line?;
            self.has_ended = is_last;
            Some(Ok(Frame::data(text)))
        })
    }
}
