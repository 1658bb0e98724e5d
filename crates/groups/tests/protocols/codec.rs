//! What is written is read, whole or in pieces, in both byte orders.

use bytes::{Bytes, BytesMut};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use ratewire_groups::spread::*;
use ratewire_overlay::membership::Service;

fn order() -> impl Strategy<Value = ByteOrder> {
    prop_oneof![Just(ByteOrder::Big), Just(ByteOrder::Little)]
}

fn client_name() -> impl Strategy<Value = ClientName> {
    text(10).prop_map(|name| name.parse().unwrap())
}

fn private_name() -> impl Strategy<Value = PrivateName> {
    (client_name(), text(19)).prop_map(|(client, daemon)| {
        let name = PrivateName::new(&client, &daemon).unwrap();
        assert_eq!((name.client(), name.daemon()), (client.as_str(), &daemon[..]));
        name
    })
}

fn group() -> impl Strategy<Value = GroupName> {
    text(31).prop_map(|name| name.parse().unwrap())
}

fn text(longest: usize) -> impl Strategy<Value = String> {
    let bytes = vec(b'$'..=b'~', 1..=longest);
    bytes.prop_map(|bytes| String::from_utf8(bytes).unwrap())
}

fn message() -> impl Strategy<Value = Message> {
    let service = prop_oneof![
        Just(Service::Unreliable),
        Just(Service::Reliable),
        Just(Service::Fifo),
        Just(Service::Causal),
        Just(Service::Agreed),
        Just(Service::Safe),
    ];
    let target = prop_oneof![group(), private_name().prop_map(GroupName::from)];
    let (groups, data) = (vec(target, 0..5), vec(any::<u8>(), 0..100));
    (service, any::<bool>(), groups, any::<i16>(), order(), data).prop_map(
        |(service, self_discard, groups, kind, order, data)| Message {
            service,
            self_discard,
            groups,
            kind,
            order,
            data: Bytes::from(data),
        },
    )
}

fn request() -> impl Strategy<Value = Request> {
    prop_oneof![
        message().prop_map(Request::Multicast),
        group().prop_map(Request::Join),
        group().prop_map(Request::Leave),
        Just(Request::Disconnect),
    ]
}

fn id() -> impl Strategy<Value = MembershipId> {
    any::<[i32; 3]>().prop_map(|[daemon, time, index]| MembershipId { daemon, time, index })
}

fn change() -> impl Strategy<Value = Change> {
    let sets = vec(vec(private_name(), 0..4), 1..4);
    prop_oneof![
        private_name().prop_map(Change::Join),
        private_name().prop_map(Change::Leave),
        private_name().prop_map(Change::Disconnect),
        (sets, any::<prop::sample::Index>()).prop_map(|(sets, own)| {
            let own = own.index(sets.len());
            Change::Network { sets, own }
        }),
    ]
}

fn received() -> impl Strategy<Value = Received> {
    prop_oneof![
        (private_name(), message())
            .prop_map(|(sender, message)| Received::Message { sender, message }),
        (group(), id(), vec(private_name(), 0..5), change()).prop_map(
            |(group, id, members, change)| {
                Received::Membership(Membership { group, id, members, change })
            }
        ),
        (group(), id()).prop_map(|(group, id)| Received::Transition { group, id }),
        group().prop_map(Received::Left),
        (private_name(), request())
            .prop_map(|(sender, request)| Received::Rejected { sender, request }),
    ]
}

/// Feeds `written` in two pieces, with bytes of another message after it.
fn reads_in_pieces<M: PartialEq + std::fmt::Debug, E: PartialEq + std::fmt::Debug>(
    written: &[u8],
    cut: usize,
    message: M,
    parse: impl Fn(&mut BytesMut) -> Result<Option<M>, E>,
) {
    let mut buffer = BytesMut::from(&written[..cut]);
    let capacity = buffer.capacity();
    assert_eq!(parse(&mut buffer), Ok(None));
    assert_eq!(buffer, written[..cut]);
    assert_eq!(buffer.capacity(), capacity, "memory is taken for what has not come");
    buffer.extend_from_slice(&written[cut..]);
    buffer.extend_from_slice(b"next");
    assert_eq!(parse(&mut buffer), Ok(Some(message)));
    assert_eq!(&buffer[..], b"next");
}

proptest! {
    #[test]
    fn requests_are_read(
        request in request(),
        client in private_name(),
        order in order(),
        cut in any::<prop::sample::Index>(),
    ) {
        let written = request.encode(&client, order);
        let cut = cut.index(written.len());
        reads_in_pieces(&written, cut, request, |buffer| Request::parse(buffer, &client));
    }

    #[test]
    fn what_daemons_send_is_read(
        received in received(),
        order in order(),
        cut in any::<prop::sample::Index>(),
    ) {
        let written = received.encode(order);
        reads_in_pieces(&written, cut.index(written.len()), received, Received::parse);
    }

    #[test]
    fn the_handshake_is_read(
        version in (3u8..6, 1u8..30, any::<u8>()),
        membership in any::<bool>(),
        priority in 0u8..16,
        name in option::of(client_name()),
        private in private_name(),
        cut in any::<prop::sample::Index>(),
    ) {
        let (major, minor, patch) = version;
        let has_patch = (major, minor) >= (3, 15);
        let version = Version::new(major, minor, if has_patch { patch } else { 0 });
        let hello = Hello { version, membership, priority, name };
        let written = hello.encode();
        let length = hello.name.as_ref().map_or(0, |name| name.as_str().len());
        prop_assert_eq!(written.len(), 4 + usize::from(has_patch) + length);
        reads_in_pieces(&written, cut.index(written.len()), hello, Hello::parse);
        let acceptance = Acceptance { version, name: private };
        let written = acceptance.encode(version);
        reads_in_pieces(&written, cut.index(written.len()), acceptance, |buffer| {
            Acceptance::parse(buffer, version)
        });
        reads_in_pieces(offer(), cut.index(offer().len()), (), parse_offer);
        reads_in_pieces(&choice(), cut.index(choice().len()), (), parse_choice);
    }

    #[test]
    fn any_bytes_are_read_or_refused(
        bytes in vec(prop_oneof![any::<u8>(), Just(0), Just(0x80)], 0..300),
    ) {
        fuzzing::from_client(&bytes, &"#a#b".parse().unwrap());
        fuzzing::from_daemon(&bytes);
        fuzzing::handshake(&bytes);
    }

    #[test]
    fn a_changed_byte_is_read_or_refused(
        received in received(),
        request in request(),
        order in order(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let client = "#a#b".parse().unwrap();
        for bytes in [received.encode(order), request.encode(&client, order)] {
            let mut bytes = bytes.to_vec();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            fuzzing::from_client(&bytes, &client);
            fuzzing::from_daemon(&bytes);
        }
    }

    #[test]
    fn names_are_kept_by_serde(name in private_name()) {
        let text = serde_json::to_string(&name).unwrap();
        prop_assert_eq!(&text, &format!("{name:?}"));
        prop_assert_eq!(serde_json::from_str::<PrivateName>(&text).unwrap(), name);
        prop_assert_eq!(serde_json::from_str::<GroupName>(&text).unwrap().as_private(), Some(name));
    }
}
