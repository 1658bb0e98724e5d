//! A daemon of a few lines, for clients of one test.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

use bytes::{Bytes, BytesMut};
use ratewire_groups::spread::{
    Acceptance, ByteOrder, Change, GroupName, Hello, Membership, MembershipId, Message,
    PrivateName, Received, Request, Version, offer, parse_choice,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::net::unix::OwnedReadHalf;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// What the daemon does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// The first client that joins never gets the third message.
    Loses,
    /// The first client that joins gets the third message after the fourth.
    Swaps,
    /// The connection of a client ends with its third message.
    Ends,
}

struct State {
    fault: Fault,
    messages: u64,
    queues: BTreeMap<PrivateName, UnboundedSender<Bytes>>,
    members: BTreeMap<GroupName, Vec<PrivateName>>,
    /// What the first client gets later.
    late: Option<Bytes>,
}

/// Serves clients at a Unix socket, until the runtime ends.
pub(crate) async fn serve(socket: &Path, fault: Fault) {
    let listener = UnixListener::bind(socket).expect("the socket is free");
    let (queues, members) = (BTreeMap::new(), BTreeMap::new());
    let state = State { fault, messages: 0, queues, members, late: None };
    let state = Rc::new(RefCell::new(state));
    for number in 1.. {
        let (stream, _) = listener.accept().await.expect("a client");
        let state = state.clone();
        tokio::task::spawn_local(async move {
            let (mut reader, mut writer) = stream.into_split();
            let mut buffer = BytesMut::new();
            let hello = read(&mut reader, &mut buffer, |buffer| Hello::parse(buffer).unwrap());
            let Some(hello) = hello.await else { return };
            let given = format!("c{number}").parse().unwrap();
            let name = PrivateName::new(&hello.name.unwrap_or(given), "fake").unwrap();
            writer.write_all(offer()).await.unwrap();
            let choice = read(&mut reader, &mut buffer, |buffer| parse_choice(buffer).unwrap());
            choice.await.expect("a choice");
            let acceptance = Acceptance { version: Version::NEWEST, name };
            writer.write_all(&acceptance.encode(hello.version)).await.unwrap();
            let (queue, mut queued) = unbounded_channel::<Bytes>();
            tokio::task::spawn_local(async move {
                while let Some(bytes) = queued.recv().await {
                    if writer.write_all(&bytes).await.is_err() {
                        break;
                    }
                }
            });
            state.borrow_mut().queues.insert(name, queue);
            let parse = |buffer: &mut BytesMut| Request::parse(buffer, &name).unwrap();
            while let Some(request) = read(&mut reader, &mut buffer, parse).await {
                if !state.borrow_mut().act(name, request) {
                    break;
                }
            }
            let mut state = state.borrow_mut();
            state.queues.remove(&name);
            state.members.values_mut().for_each(|members| members.retain(|of| *of != name));
        });
    }
}

async fn read<M>(
    reader: &mut OwnedReadHalf,
    buffer: &mut BytesMut,
    parse: impl Fn(&mut BytesMut) -> Option<M>,
) -> Option<M> {
    loop {
        if let Some(message) = parse(buffer) {
            return Some(message);
        }
        if reader.read_buf(buffer).await.unwrap_or(0) == 0 {
            return None;
        }
    }
}

impl State {
    /// Does what a client asks; false if its connection ends.
    fn act(&mut self, name: PrivateName, request: Request) -> bool {
        match request {
            Request::Join(group) => {
                self.members.entry(group).or_default().push(name);
                self.notify(group, Change::Join(name));
            }
            Request::Leave(group) => {
                self.members.entry(group).or_default().retain(|member| *member != name);
                self.send(&name, &Received::Left(group).encode(ByteOrder::Big));
                self.notify(group, Change::Leave(name));
            }
            Request::Multicast(message) => {
                self.messages += 1;
                if self.fault == Fault::Ends && self.messages == 3 {
                    return false;
                }
                self.deliver(name, message);
            }
            Request::Disconnect => return false,
        }
        true
    }

    fn notify(&self, group: GroupName, change: Change) {
        let members = self.members[&group].clone();
        let id = MembershipId { daemon: 1, time: 2, index: 3 };
        let membership = Membership { group, id, members: members.clone(), change };
        let notice = Received::Membership(membership).encode(ByteOrder::Big);
        members.iter().for_each(|member| self.send(member, &notice));
    }

    /// Sends a message to each receiver once.
    fn deliver(&mut self, sender: PrivateName, message: Message) {
        let groups = message.groups.clone();
        let bytes = Received::Message { sender, message }.encode(ByteOrder::Big);
        let mut receivers: Vec<PrivateName> = Vec::new();
        for group in groups {
            receivers.extend(self.members.get(&group).into_iter().flatten());
            receivers.extend(group.as_private());
        }
        receivers.sort();
        receivers.dedup();
        for (place, receiver) in receivers.iter().enumerate() {
            match (self.fault, place, self.messages) {
                (Fault::Loses, 0, 3) => {}
                (Fault::Swaps, 0, 3) => self.late = Some(bytes.clone()),
                _ => self.send(receiver, &bytes),
            }
            if place == 0
                && self.messages > 3
                && let Some(late) = self.late.take()
            {
                self.send(receiver, &late);
            }
        }
    }

    fn send(&self, receiver: &PrivateName, bytes: &Bytes) {
        // The client may have gone.
        let Some(queue) = self.queues.get(receiver) else { return };
        _ = queue.send(bytes.clone());
    }
}
