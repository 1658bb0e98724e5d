//! Messages of a gateway, for one of the connections with the server.
//!
//! Connections differ in what is said first on them ([`Framing::opening`]). The first connection
//! reads messages, and hands those on that need another.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use ratewire_acp::Error;
use ratewire_framing::{Expect, Framing};
use tokio::sync::Notify;

use crate::frame::Message;
use crate::member::link::Link;

/// Messages that wait to be handed on, from which on no more are read.
const MOST: usize = 1024;

/// What is said first on a connection with the server.
pub(super) type Opening = &'static [u8];

/// Messages for a connection beside the first.
#[derive(Default)]
pub(super) struct Inbox {
    messages: RefCell<VecDeque<(u64, Message)>>,
    /// Whether no more come.
    is_last: Cell<bool>,
    added: Notify,
    taken: Notify,
}

impl Inbox {
    fn add(&self, number: u64, message: Message) {
        self.messages.borrow_mut().push_back((number, message));
        self.added.notify_one();
    }

    /// No more messages come.
    pub(super) fn finish(&self) {
        self.is_last.set(true);
        self.added.notify_one();
    }

    async fn receive(&self) -> Option<(u64, Message)> {
        loop {
            let next = self.messages.borrow_mut().pop_front();
            match next {
                Some(next) => {
                    self.taken.notify_one();
                    return Some(next);
                }
                None if self.is_last.get() => return None,
                None => self.added.notified().await,
            }
        }
    }

    async fn until_room(&self) {
        while self.messages.borrow().len() >= MOST {
            self.taken.notified().await;
        }
    }
}

/// Begins another connection, for messages of an inbox.
pub(super) type Begin = Box<dyn Fn(Opening, Rc<Inbox>)>;

/// Where a connection with the server has its messages from.
pub(super) enum Source {
    /// The connection of the switch. Messages that need another opening are handed on.
    Link {
        link: Rc<Link>,
        framing: Framing,
        others: RefCell<BTreeMap<Opening, Rc<Inbox>>>,
        begin: Begin,
    },
    /// The first connection.
    Inbox { link: Rc<Link>, opening: Opening, inbox: Rc<Inbox> },
}

impl Source {
    /// The connection of the switch, to which replies go.
    pub(super) fn link(&self) -> &Link {
        match self {
            Source::Link { link, .. } | Source::Inbox { link, .. } => link,
        }
    }

    /// What is said first to the server.
    pub(super) fn opening(&self) -> Opening {
        match self {
            Source::Link { framing, .. } => framing.opening(Expect::ORDINARY),
            Source::Inbox { opening, .. } => opening,
        }
    }

    /// The next message, and the number of its frame; `None` if there are no more.
    ///
    /// # Errors
    /// When the connection of the switch ends otherwise: there is nobody to answer any more.
    pub(super) async fn receive(&self) -> Result<Option<(u64, Message)>, Error> {
        let (link, framing, others, begin) = match self {
            Source::Link { link, framing, others, begin } => (link, framing, others, begin),
            Source::Inbox { inbox, .. } => return Ok(inbox.receive().await),
        };
        loop {
            let known: Vec<Rc<Inbox>> = others.borrow().values().cloned().collect();
            for inbox in &known {
                inbox.until_room().await;
            }
            // From here on nothing waits: a message that is received is not lost.
            let Some((number, message)) = link.receive().await? else { return Ok(None) };
            match &message {
                Message::Request(request) => {
                    let opening = framing.opening(request.expect);
                    if opening == self.opening() {
                        return Ok(Some((number, message)));
                    }
                    let mut others = others.borrow_mut();
                    let inbox = others.entry(opening).or_insert_with(|| {
                        let inbox = Rc::new(Inbox::default());
                        begin(opening, Rc::clone(&inbox));
                        inbox
                    });
                    inbox.add(number, message);
                }
                // It is not known which connection has the request.
                Message::Cancel { .. } => {
                    known.iter().for_each(|inbox| inbox.add(number, message.clone()));
                    return Ok(Some((number, message)));
                }
                _ => return Ok(Some((number, message))),
            }
        }
    }

    /// The next message, if it is there. `None` also when there are no more.
    ///
    /// # Errors
    /// As [`Source::receive`].
    pub(super) async fn receive_at_once(&self) -> Result<Option<(u64, Message)>, Error> {
        tokio::select! {
            biased;
            next = self.receive() => next,
            () = std::future::ready(()) => Ok(None),
        }
    }

    /// Whether the last message was received.
    pub(super) fn is_at_end(&self) -> bool {
        match self {
            Source::Link { link, .. } => link.is_at_end(),
            Source::Inbox { inbox, .. } => {
                inbox.is_last.get() && inbox.messages.borrow().is_empty()
            }
        }
    }

    /// Tells the other connections that no more messages come.
    pub(super) fn finish(&self) {
        if let Source::Link { others, .. } = self {
            others.borrow().values().for_each(|inbox| inbox.finish());
        }
    }
}
