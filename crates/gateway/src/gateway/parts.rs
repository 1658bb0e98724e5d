//! Requests that go to several members.

use std::rc::Rc;

use bytes::Bytes;
use ratewire_framing::{Expect, Gather, Part};

use super::client::{Client, Place};
use super::counts::Cause;
use super::ensemble::Ensemble;

/// Sends the parts of a request. Once one has failed, the others are not sent.
pub(super) fn split(
    ensemble: &Ensemble,
    client: &Rc<Client>,
    order: u64,
    parts: Vec<Part>,
    gather: Gather,
) {
    client.gathers.begin(order, gather);
    client.expect(order, parts.len());
    for (number, Part { key, expect, bytes }) in (0..).zip(parts) {
        let place = Place { order, part: number };
        match client.gathers.failure(order) {
            Some(why) => client.fail(place, expect, (Cause::OtherPart, &why), false),
            None => ensemble.ask(client, place, (key, expect), bytes, None),
        }
    }
}

/// Sends a request to all members.
pub(super) async fn all(
    ensemble: &Ensemble,
    client: &Rc<Client>,
    order: u64,
    (expect, bytes): (Expect, Bytes),
    gather: Gather,
) {
    client.gathers.begin(order, gather);
    ensemble.until_known().await;
    let parts = ensemble.ask_all(client, order, expect, &bytes);
    if parts == 0 {
        let why = "the gateway does not know all servers: connect to each directly";
        client.fail(Place::whole(order), expect, (Cause::Unsent, why), false);
    }
    client.expect(order, parts.max(1));
}
