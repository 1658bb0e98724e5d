//! Requests that go to several servers.

use std::rc::Rc;

use bytes::Bytes;
use ratewire_framing::{Expect, Gather, Part};

use super::client::{Client, Place};
use super::uplink::Uplink;
use crate::frame::{Reply, RequestFrame};

/// Sends the parts of a request. Once one has failed, the others are not sent.
pub(super) async fn split(
    uplink: &Rc<Uplink>,
    client: &Rc<Client>,
    order: u64,
    parts: Vec<Part>,
    gather: Gather,
) {
    client.gathers.begin(order, gather);
    if let Some(answer) = client.gathers.expect(order, parts.len()) {
        return client.fill(order, answer, false);
    }
    for (number, Part { key, expect, bytes }) in (0..).zip(parts) {
        let place = Place { order, part: number };
        if let Some(why) = client.gathers.failure(order) {
            client.answer(place, expect, Reply::Failed(why));
            continue;
        }
        let key = key.unwrap_or_else(|| uplink.any_key());
        uplink.ask(client, place, RequestFrame { key, expect, bytes }).await;
    }
}

/// Sends a request to all servers.
pub(super) async fn all(
    uplink: &Rc<Uplink>,
    client: &Rc<Client>,
    order: u64,
    request: (Expect, Bytes),
    gather: Gather,
) {
    let (expect, bytes) = request;
    client.gathers.begin(order, gather);
    let servers = ask_all(uplink, client, order, expect, bytes);
    if servers == 0 {
        client.gathers.expect(order, 1);
        let why = "the gateway does not know all servers yet: connect to each directly";
        return client.answer(Place::whole(order), expect, Reply::Failed(why.into()));
    }
    if let Some(answer) = client.gathers.expect(order, servers) {
        client.fill(order, answer, false);
    }
}

/// Sends a request to all servers; returns how many there are. The parts of its place are numbered
/// from 0 on.
fn ask_all(_: &Rc<Uplink>, _: &Rc<Client>, _: u64, _: Expect, _: Bytes) -> usize {
    0
}
