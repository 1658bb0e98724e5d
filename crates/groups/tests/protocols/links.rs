//! Whatever other daemons send, a daemon does not panic.

use std::path::Path;
use std::sync::Arc;

use bytes::BytesMut;
use proptest::collection::vec;
use proptest::prelude::*;
use ratewire_groups::daemon::fuzzing;
use ratewire_groups::wire::encode_message;
use ratewire_overlay::level::Level;
use ratewire_overlay::membership::*;
use ratewire_overlay::{ClientId, NodeSet, OverlayNodeId};
use serde::Serialize;

type Message = LinkMessage<String, Body>;

/// The data of a message as links carry it.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Body {
    sender: String,
    kind: i16,
    is_big_endian: bool,
    sent_unix_us: Option<u64>,
    data: Vec<u8>,
}

/// The input of [`fuzzing::links`] with these messages for a daemon.
fn input(first: u8, messages: &[Option<Message>]) -> Vec<u8> {
    let mut frames = BytesMut::from(&[first][..]);
    for message in messages {
        encode_message(message.as_ref(), &mut frames).unwrap();
    }
    frames.to_vec()
}

/// A message among the members of the view that daemon `a` proposes next.
fn change(origin: u8, to: u8, body: ChangeBody<String, Body>) -> Option<Message> {
    let first = fuzzing::first_view();
    let id = ViewId { number: first.number + 1, ..first };
    let (origin, to) = (OverlayNodeId(origin), [OverlayNodeId(to)].into_iter().collect());
    Some(LinkMessage::Change(Arc::new(ChangeMessage { id, origin, to, body })))
}

/// Daemon `b` claims to have lost `c`: `a` proposes a view of two.
fn loss() -> Option<Message> {
    let (origin, links) = (OverlayNodeId(1), vec![(OverlayNodeId(0), 1)]);
    Some(state(origin, 0, links, 3))
}

fn state(
    origin: OverlayNodeId,
    highest: u64,
    links: Vec<(OverlayNodeId, u64)>,
    known: usize,
) -> Message {
    let (incarnation, version, known, terms) = (1, 50, vec![0; known], 0);
    let state = LinkState { origin, incarnation, version, highest, links, known, terms };
    LinkMessage::LinkState(Arc::new(state))
}

/// Inputs that have made a daemon panic, and others that reach far.
fn cases() -> Vec<(&'static str, Vec<u8>)> {
    let view = fuzzing::first_view();
    let report = || Report { view, heard: vec![0; 3], recovered: vec![], agreed: 0, safe: 0 };
    let lists = || vec![("chat".to_string(), vec![(ClientId(7), "z".into())])];
    let steps = |reporter, ready| {
        let report = change(reporter, 0, ChangeBody::Report(report()));
        let sent = change(reporter, 0, ChangeBody::Sent);
        let ready = change(ready, 0, ChangeBody::Ready(lists()));
        input(0, &[loss(), report, sent, ready])
    };
    let stamped = |stamp| {
        let body = ViewBody::Update(Update::Join("chat".to_string(), ClientId(7), "z".into()));
        let (origin, to) = (OverlayNodeId(1), NodeSet::first(3));
        let message = Arc::new(ViewMessage { origin, to, stamp, body });
        let enter = Some(LinkMessage::Enter(Arc::new(view)));
        input(0, &[enter, Some(LinkMessage::View(message)), loss(), None, loss()])
    };
    let highest = |highest| {
        let (origin, links) = (OverlayNodeId(1), vec![(OverlayNodeId(0), 1)]);
        input(0, &[Some(state(origin, highest, links, 3))])
    };
    vec![
        ("view_of_two", steps(1, 1)),
        ("report_of_no_member", steps(2, 1)),
        ("stamp_valid", stamped(u64::MAX / 2)),
        ("stamp_too_large", stamped(u64::MAX)),
        ("highest_valid", highest(u64::MAX / 2)),
        ("highest_too_large", highest(u64::MAX)),
        // Daemons that this one does not know, and one that does not know itself.
        ("of_a_longer_list", input(0, &[Some(state(OverlayNodeId(4), 9, vec![], 5)), loss()])),
        ("a_list_without_itself", input(0, &[Some(state(OverlayNodeId(4), 9, vec![], 4))])),
    ]
}

#[test]
fn cases_that_panicked_once_do_not_any_more() {
    let valid = [4, 4, 4, 1, 1, 0, 2, 0];
    for ((name, input), valid) in cases().into_iter().zip(valid) {
        assert_eq!(fuzzing::links(&input), valid, "{name}");
    }
}

/// Every input in `fuzz/corpus/group_links` at the root. `RATEWIRE_BLESS=1` writes the cases there:
/// they change with the format of links.
#[test]
fn the_corpus_of_group_links() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/group_links");
    if std::env::var_os("RATEWIRE_BLESS").is_some() {
        for (name, input) in cases() {
            std::fs::write(folder.join(name), input).unwrap();
        }
    }
    let (mut taken, mut refused) = (0, 0);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        match fuzzing::links(&std::fs::read(path).unwrap()) {
            0 => refused += 1,
            _ => taken += 1,
        }
    }
    assert!(taken >= 5 && refused >= 1, "{taken} with valid messages and {refused} without");
}

/// Numbers that are likely, the largest that are valid, and some that are not.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        20 => 0u64..8,
        2 => u64::MAX / 2 - 1..=u64::MAX / 2,
        1 => u64::MAX - 1..=u64::MAX
    ]
}

fn node() -> impl Strategy<Value = OverlayNodeId> {
    prop_oneof![60 => 0u8..3, 1 => 3u8..=255].prop_map(OverlayNodeId)
}

fn nodes() -> impl Strategy<Value = NodeSet> {
    (0u8..8).prop_map(|bits| (0..3).filter(|i| bits >> i & 1 == 1).map(OverlayNodeId).collect())
}

fn label() -> impl Strategy<Value = Label> {
    prop_oneof![8 => "[x-z]", 1 => "", 1 => "[a-z#]{12}", 1 => "\u{0}"].prop_map(Arc::from)
}

/// Names of groups. Those that are not valid end a link before a daemon sees them.
fn group() -> impl Strategy<Value = String> {
    prop_oneof![8 => Just("chat".to_string()), 1 => "[a-c]", 1 => Just("#x#b".to_string())]
}

fn client() -> impl Strategy<Value = ClientId> {
    prop_oneof![8 => 0u32..3, 1 => Just(u32::MAX)].prop_map(ClientId)
}

fn view_id() -> impl Strategy<Value = ViewId> {
    let first = fuzzing::first_view();
    let other = (number(), node(), number())
        .prop_map(|(number, coordinator, incarnation)| ViewId { number, coordinator, incarnation });
    let next = (0u64..4).prop_map(move |i| ViewId { number: first.number + i, ..first });
    prop_oneof![6 => Just(first), 6 => next, 2 => other]
}

fn service() -> impl Strategy<Value = Service> {
    use Service::*;
    prop::sample::select(vec![Unreliable, Reliable, Fifo, Causal, Agreed, Safe])
}

fn target() -> impl Strategy<Value = Target<String>> {
    prop_oneof![
        group().prop_map(Target::Group),
        (node(), label()).prop_map(|(node, label)| Target::Private(node, label))
    ]
}

fn body() -> impl Strategy<Value = Body> {
    (
        "[x-z#]{0,2}",
        any::<i16>(),
        any::<bool>(),
        proptest::option::of(any::<u64>()),
        vec(any::<u8>(), 0..4),
    )
        .prop_map(|(sender, kind, is_big_endian, sent_unix_us, data)| Body {
            sender,
            kind,
            is_big_endian,
            sent_unix_us,
            data,
        })
}

fn update() -> impl Strategy<Value = Update<String>> {
    prop_oneof![
        (group(), client(), label()).prop_map(|(group, id, label)| Update::Join(group, id, label)),
        (group(), client()).prop_map(|(group, id)| Update::Leave(group, id)),
        client().prop_map(Update::Disconnect)
    ]
}

fn view_body() -> impl Strategy<Value = ViewBody<String, Body>> {
    let data = (client(), service(), any::<bool>(), vec(target(), 0..3), body()).prop_map(
        |(sender, service, self_discard, targets, payload)| ViewBody::Data {
            sender,
            service,
            self_discard,
            targets: targets.into(),
            payload,
        },
    );
    prop_oneof![
        3 => data,
        3 => update().prop_map(ViewBody::Update),
        1 => group().prop_map(ViewBody::Interest),
        1 => group().prop_map(ViewBody::Included)
    ]
}

fn view_message() -> BoxedStrategy<Arc<ViewMessage<String, Body>>> {
    (node(), nodes(), number(), view_body())
        .prop_map(|(origin, to, stamp, body)| Arc::new(ViewMessage { origin, to, stamp, body }))
        .boxed()
}

fn change_body() -> BoxedStrategy<ChangeBody<String, Body>> {
    let recovered = vec((number(), node()), 0..3);
    let report = (view_id(), vec(number(), 2..6), recovered, number(), number()).prop_map(
        |(view, heard, recovered, agreed, safe)| {
            ChangeBody::Report(Report { view, heard, recovered, agreed, safe })
        },
    );
    prop_oneof![
        2 => report,
        1 => view_message().prop_map(ChangeBody::Missing),
        1 => Just(ChangeBody::Sent),
        2 => vec((group(), vec((client(), label()), 0..3)), 0..3).prop_map(ChangeBody::Ready)
    ]
    .boxed()
}

/// Boxed, as its parts: unoptimised, a strategy of all parts fills a thread's stack.
fn message() -> BoxedStrategy<Message> {
    let links = vec((node(), number()), 0..3);
    // Other daemons may know more daemons.
    let known = prop_oneof![20 => Just(3), 3 => 1usize..6, 1 => 0usize..256];
    let known = known.prop_map(|known| vec![0; known]);
    let state = (node(), number(), number(), number(), links, known, number()).prop_map(
        |(origin, incarnation, version, highest, links, known, terms)| {
            let state = LinkState { origin, incarnation, version, highest, links, known, terms };
            LinkMessage::LinkState(Arc::new(state))
        },
    );
    let proposal = (view_id(), vec((node(), number(), number()), 0..4))
        .prop_map(|(id, topology)| LinkMessage::Propose(Arc::new(Proposal { id, topology })));
    let change = (view_id(), node(), nodes(), change_body()).prop_map(|(id, origin, to, body)| {
        LinkMessage::Change(Arc::new(ChangeMessage { id, origin, to, body }))
    });
    let level = || any::<u16>().prop_map(Level);
    let queues = vec((client(), label(), level()), 0..3);
    let prices =
        (node(), vec((0u8..4, level()), 0..3), queues).prop_map(|(origin, links, clients)| {
            LinkMessage::Prices(Arc::new(Prices { origin, links, clients }))
        });
    let below = || prop::option::of(number());
    let progress = (node(), number(), number(), below(), below()).prop_map(
        |(origin, clock, all, ordered, safe)| {
            LinkMessage::Progress(Arc::new(Progress { origin, clock, all, ordered, safe }))
        },
    );
    prop_oneof![
        2 => state,
        1 => proposal,
        4 => change,
        2 => view_id().prop_map(|view| LinkMessage::Enter(Arc::new(view))),
        4 => view_message().prop_map(LinkMessage::View),
        1 => progress,
        1 => view_id().prop_map(|view| LinkMessage::EnterPrices(Arc::new(view))),
        1 => prices
    ]
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn hostile_messages_do_not_make_a_daemon_panic(
        first in 0u8..6,
        messages in vec(prop::option::weighted(0.9, message()), 0..60),
    ) {
        fuzzing::links(&input(first, &messages));
    }

    #[test]
    fn other_bytes_do_not_make_a_daemon_panic(bytes in vec(any::<u8>(), 0..200)) {
        fuzzing::links(&bytes);
    }
}
