//! The connection of a client.

use std::io;
use std::rc::Rc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use ratewire_framing::{Framing, Request, Requests, Route};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, sleep_until, timeout_at};

use super::client::{Client, Place};
use super::counts::End;
use super::ensemble::Ensemble;
use super::memory::Memory;
use super::parts;
use super::upload::Upload;
use crate::stream::Stream;

/// Bytes to read at a time, and bytes of a request that is not whole from which on they wait for
/// memory that is free.
const READ: usize = 64 << 10;
/// Bytes to read of a client that has sent nothing: most that are connected are idle, and requests
/// are short.
const FIRST: usize = 2 << 10;
/// Bytes of memory for answers that a client keeps when it has them all.
const KEPT: usize = 4 << 10;

/// What clients may do.
pub(super) struct Rules {
    pub(super) framing: Framing,
    /// Longest request in bytes.
    pub(super) longest: usize,
    /// Time from the first byte of a request to its last.
    pub(super) patience: Duration,
}

/// Serves a client until its connection ends.
pub(super) async fn serve(
    rules: &Rules,
    ensemble: &Rc<Ensemble>,
    memory: &Rc<Memory>,
    client: Rc<Client>,
    stream: Stream,
) {
    let (read, write) = tokio::io::split(stream);
    // A client that goes away needs no answers; one that only sends no more does.
    tokio::select! {
        _ = write_all(&client, ensemble, write) => {}
        _ = read_all(rules, ensemble, memory, &client, read) => {}
        () = client.ended.notified() => {}
    }
    client.leave();
    ensemble.forget(&client);
}

/// Reads requests, and waits for the end of the connection after the last.
async fn read_all(
    rules: &Rules,
    ensemble: &Rc<Ensemble>,
    memory: &Memory,
    client: &Rc<Client>,
    mut read: ReadHalf<Stream>,
) -> io::Result<()> {
    let mut requests = Requests::in_pieces(rules.framing, rules.longest).of_client(client.id + 1);
    let mut buffer = BytesMut::new();
    let mut begun = None;
    loop {
        loop {
            // Without another request the end of the connection is not to be missed.
            while !buffer.is_empty() && client.is_full() {
                client.room.notified().await;
            }
            match requests.next(&mut buffer) {
                Ok(None) => break,
                Ok(Some(request)) => {
                    begun = None;
                    let (closes, upgrades) = (request.closes, request.upgrades);
                    let upload = request.has_more.then(Rc::<Upload>::default);
                    client.queue(requests.held());
                    let place = pass_on(ensemble, client, request, upload.clone()).await;
                    let Some(place) = place else { continue };
                    if let Some(upload) = upload {
                        let (requests, buffer) = (&mut requests, &mut buffer);
                        let mut rest = Rest { requests, buffer, client, upload, upgrades };
                        let passed = rest.pass_on(rules, &mut read).await;
                        if let Err(error) = &passed
                            && error.kind() == io::ErrorKind::TimedOut
                        {
                            client.end(End::Slow);
                        }
                        if !passed? {
                            client.close_after(place);
                            return std::future::pending().await;
                        }
                    }
                    if closes {
                        // What comes after it is not read.
                        client.close_after(place);
                        return std::future::pending().await;
                    }
                }
                Err(violation) => {
                    client.counts.end(End::Violation);
                    if let Some(place) = client.reserve() {
                        client.answer(place, violation.answer);
                        client.close_after(place);
                    }
                    return std::future::pending().await;
                }
            }
        }
        client.arrive(buffer.len());
        if client.has_unsent() {
            memory.wait_for_half().await;
        }
        let count = if buffer.is_empty() {
            let mut first = [0; FIRST];
            buffer = BytesMut::new();
            let count = read.read(&mut first).await?;
            buffer.extend_from_slice(&first[..count]);
            count
        } else {
            let until = *begun.get_or_insert_with(|| Instant::now() + rules.patience);
            let more = async {
                if buffer.len() >= READ {
                    memory.wait_for_half().await;
                }
                buffer.reserve(READ);
                read.read_buf(&mut buffer).await
            };
            // Who takes so long holds memory that others need.
            let Ok(count) = timeout_at(until, more).await else {
                client.end(End::Slow);
                return Ok(());
            };
            count?
        };
        if count == 0 {
            // Answers may be on their way to a client that only sends no more.
            let Some(last) = client.last() else { return Ok(()) };
            client.close_after(last);
            return std::future::pending().await;
        }
    }
}

/// The rest of a request, which is sent while it arrives.
struct Rest<'a> {
    requests: &'a mut Requests,
    buffer: &'a mut BytesMut,
    client: &'a Client,
    upload: Rc<Upload>,
    /// Whether the server may yet change the protocol.
    upgrades: bool,
}

impl Rest<'_> {
    /// Passes it on. Returns whether requests may follow.
    ///
    /// # Errors
    /// When the client breaks off, or the protocol.
    async fn pass_on(&mut self, rules: &Rules, read: &mut ReadHalf<Stream>) -> io::Result<bool> {
        let mut has_switched = false;
        loop {
            if let Some(rest) = self.requests.rest(self.buffer).map_err(io::Error::other)? {
                self.client.arrive(rest.bytes.len() + self.buffer.len());
                self.upload.send(rest.bytes, !rest.has_more).await;
                if !rest.has_more {
                    return Ok(true);
                }
                continue;
            }
            let until = Instant::now() + rules.patience;
            let may_read = !self.upgrades || self.buffer.len() < READ;
            self.client.arrive(self.buffer.len());
            self.buffer.reserve(READ);
            let count = tokio::select! {
                switched = self.upload.has_switched(), if self.upgrades => {
                    (self.upgrades, has_switched) = (false, switched);
                    self.requests.switch(switched);
                    continue;
                }
                count = read.read_buf(self.buffer), if may_read => count?,
                () = sleep_until(until), if !has_switched => {
                    return Err(io::ErrorKind::TimedOut.into());
                }
            };
            if count == 0 {
                if !has_switched {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.upload.send(Bytes::new(), true).await;
                return Ok(false);
            }
        }
    }
}

async fn pass_on(
    ensemble: &Rc<Ensemble>,
    client: &Rc<Client>,
    request: Request,
    upload: Option<Rc<Upload>>,
) -> Option<u64> {
    let place = client.reserve()?;
    match request.route {
        Route::Local(bytes) => {
            client.counts.answer_here();
            client.answer(place, bytes);
        }
        Route::Split(list, gather) => parts::split(ensemble, client, place, list, gather),
        Route::All(expect, gather) => {
            parts::all(ensemble, client, place, (expect, request.bytes), gather).await;
        }
        Route::Server { key, expect } => {
            ensemble.ask(client, Place::whole(place), (key, expect), request.bytes, upload);
        }
    }
    Some(place)
}

/// Writes answers in the order of the requests.
async fn write_all(
    client: &Client,
    ensemble: &Ensemble,
    mut write: WriteHalf<Stream>,
) -> io::Result<()> {
    let mut answers = Vec::new();
    let mut out = BytesMut::new();
    loop {
        let closes = client.take(&mut answers);
        if answers.is_empty() && !closes {
            if out.capacity() > KEPT {
                out = BytesMut::new();
            }
            if client.lacks_next() {
                ensemble.resume(client);
            }
            client.answered.notified().await;
            continue;
        }
        out.clear();
        answers.drain(..).for_each(|answer| out.extend_from_slice(&answer));
        client.room.notify_one();
        write.write_all(&out).await?;
        if client.resumes() {
            ensemble.resume(client);
        }
        if closes {
            return write.shutdown().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use ratewire_acp::{Config, Credentials};
    use ratewire_switch_interface::table::{Choice, MemberState, Table, TableMember};
    use tokio::task::{LocalSet, yield_now};

    use super::*;

    fn table() -> Table {
        let member = TableMember {
            name: "m".to_string(),
            id: 1,
            number: 1,
            weight: 1.0,
            prefixes: Vec::new(),
            state: MemberState::Up,
        };
        let routing = Choice::Hash { offset: 0, length: 8 };
        Table {
            switch: 7,
            routing,
            when_down: None,
            gathers: false,
            ends: false,
            members: vec![member],
        }
    }

    #[tokio::test]
    async fn nothing_is_kept_of_a_client_that_has_left_with_its_answers() {
        let framing = Framing::named("resp").expect("a framing");
        let rules = Rules { framing, longest: 1000, patience: Duration::from_secs(60) };
        let acp = Config::new(Credentials::Shared([7; 32]));
        let ensemble = Ensemble::open(framing, Duration::from_secs(60), &acp);
        let ensemble = Rc::new(ensemble.expect("random numbers"));
        let memory = Rc::new(Memory::new(1 << 20));
        let client = Rc::new(Client::new(1, framing, (Rc::clone(&memory), Rc::default())));
        let (mut near, far) = tokio::io::duplex(1000);
        let run = async {
            ensemble.apply("127.0.0.1:9".parse().expect("an address"), table());
            let upstream = ensemble.upstreams().pop().expect("a member");
            let talk = async {
                near.write_all(b"GET a\r\n").await.expect("room");
                while upstream.status().waiting == 0 {
                    yield_now().await;
                }
                assert_eq!(upstream.clients(), 1);
                upstream.expire(Instant::now());
                assert_eq!(near.read_u8().await.expect("an answer"), b'-');
                drop(near);
            };
            tokio::join!(serve(&rules, &ensemble, &memory, client, Box::new(far)), talk);
            assert_eq!((upstream.clients(), memory.used()), (0, 0));
        };
        LocalSet::new().run_until(run).await;
    }
}
