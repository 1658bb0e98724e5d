//! Rendering of any state: never a panic, and always the format's form.

use proptest::collection::vec;
use proptest::prelude::*;
use ratewire_daemon::metrics::Format;
use ratewire_groups_interface::status::*;
use ratewire_units::Duration;

use super::metrics::metrics;
use crate::config::Policy;

fn traffic() -> impl Strategy<Value = Traffic> {
    any::<[u64; 4]>().prop_map(|[messages, data_bytes, update_bytes, other_bytes]| Traffic {
        messages,
        data_bytes,
        update_bytes,
        other_bytes,
    })
}

fn link() -> impl Strategy<Value = LinkStatus> {
    let numbers = (any::<[f64; 3]>(), any::<[u64; 3]>(), [traffic(), traffic()]);
    (".*", any::<bool>(), numbers, proptest::option::of(".*")).prop_map(
        |(peer, is_up, (floats, counts, [sent, received]), last_error)| LinkStatus {
            peer,
            is_up,
            price_dollars: floats[0],
            waiting_messages: counts[0],
            mean_queue_messages: floats[1],
            queue_message_seconds: floats[2],
            longest_queue_messages: counts[2],
            sent,
            received,
            reconnects: counts[1],
            last_error,
        },
    )
}

fn client() -> impl Strategy<Value = ClientStatus> {
    let texts = (".*", ".*", vec(".*", 0..3));
    (texts, any::<[u64; 7]>(), any::<[f64; 3]>(), any::<[bool; 2]>()).prop_map(
        |((name, from, groups), counts, floats, [is_full, is_blocked])| ClientStatus {
            name,
            from,
            groups,
            group_count: counts[0],
            queue_bytes: counts[1],
            queue_messages: counts[2],
            is_full,
            salary_dollars: is_full.then_some(floats[0]),
            weight: is_blocked.then_some(floats[1]),
            money_dollars: floats[0],
            salary_period_s: floats[1],
            sent: counts[3],
            owed_deliveries: counts[6],
            delivered: counts[4],
            dropped: counts[5],
            is_blocked,
            blocked_s: floats[2],
        },
    )
}

fn group() -> impl Strategy<Value = GroupStatus> {
    let policy = prop_oneof![
        Just(Policy::Block),
        Just(Policy::Drop),
        any::<u32>().prop_map(Policy::Lag),
        (1u64..10_000).prop_map(|ms| Policy::LagTime(Duration::from_millis(ms)))
    ];
    // Whole numbers: the reader of JSON may miss the last digit of others.
    let latency = (any::<u64>(), any::<[u32; 2]>()).prop_map(|(messages, [sum, longest])| {
        LatencyStatus { messages, sum_s: sum.into(), longest_s: longest.into() }
    });
    (".*", policy, any::<[u64; 2]>(), proptest::option::of(latency)).prop_map(
        |(name, policy, [local_members, members], latency)| GroupStatus {
            name,
            policy,
            weight: (members > 9).then_some(0.5),
            local_members,
            members,
            latency,
        },
    )
}

fn view() -> impl Strategy<Value = ViewStatus> {
    let names = [(); 3].map(|()| vec(".*", 0..3));
    (any::<[u64; 3]>(), ".*", names, any::<bool>()).prop_map(
        |(counts, coordinator, [members, absent, with_another_file], is_changing)| ViewStatus {
            with_another_file,
            number: counts[0],
            coordinator,
            coordinator_started_unix_us: counts[1],
            members,
            absent,
            is_changing,
            entered: counts[2],
        },
    )
}

fn rules() -> impl Strategy<Value = FlowControlStatus> {
    let times = any::<[u32; 3]>();
    ((".*", ".*", ".*"), times, any::<[bool; 2]>()).prop_map(
        |((budget, price, benefit), [base, memory, wait], [has, randomise])| FlowControlStatus {
            budget,
            price,
            price_base: has.then(|| base.into()),
            benefit,
            memory_s: has.then(|| memory.into()),
            randomise,
            second_thought_s: has.then(|| wait.into()),
        },
    )
}

fn status() -> impl Strategy<Value = Status> {
    let lists = (vec(link(), 0..4), vec(client(), 0..4), vec(group(), 0..4));
    let numbers = (any::<[f64; 3]>(), any::<[u64; 5]>());
    let texts = (".*", proptest::option::of(rules()), proptest::option::of(".*"));
    (texts, view(), lists, numbers, any::<[u64; 4]>()).prop_map(
        |((daemon, rules, last), view, (links, clients, groups), (floats, limits), counts)| {
            Status {
                daemon,
                version: "1.0".to_string(),
                started_unix_s: floats[0],
                uptime_s: floats[1],
                view,
                links,
                clients,
                groups,
                group_count: counts[0],
                flow_control: rules,
                limits: LimitStatus {
                    clients: limits[0],
                    groups_per_client: limits[1],
                    queue_per_client_bytes: limits[2],
                    window_bytes: limits[3],
                    window_used_bytes: limits[4],
                },
                totals: Totals {
                    messages_in: counts[1],
                    bytes_out: counts[2],
                    dropped: counts[3],
                    blocked_s: floats[2],
                    ..Totals::default()
                },
                last_cut_off: last,
            }
        },
    )
}

/// Checks a line of metrics: a name, labels in quotes, a number.
fn check_sample(line: &str) -> Result<(), String> {
    let name_end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').ok_or(line)?;
    if !line.starts_with("ratewire_groups_") {
        return Err(format!("{line:?} has another name"));
    }
    let mut rest = &line[name_end..];
    if let Some(labels) = rest.strip_prefix('{') {
        let (mut is_quoted, mut is_escaped, mut end) = (false, false, None);
        for (place, character) in labels.char_indices() {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' if is_quoted => is_escaped = true,
                '"' => is_quoted = !is_quoted,
                '}' if !is_quoted => {
                    end = Some(place);
                    break;
                }
                _ => {}
            }
        }
        rest = &labels[end.ok_or(format!("{line:?} has labels without an end"))? + 1..];
    }
    let value = rest.strip_prefix(' ').ok_or(format!("{line:?} has no value"))?;
    let is_number = value.parse::<f64>().is_ok();
    if is_number { Ok(()) } else { Err(format!("{line:?} has the value {value:?}")) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_table_is_visible_ascii(status in status()) {
        let table = status.table();
        prop_assert!(table.bytes().all(|byte| byte == b'\n' || (b' '..=b'~').contains(&byte)));
        prop_assert!(table.ends_with('\n'));
    }

    #[test]
    fn metrics_have_their_format(status in status()) {
        for format in [Format::Prometheus, Format::OpenMetrics] {
            let text = metrics(status.clone(), format).unwrap();
            prop_assert!(text.ends_with('\n'));
            for line in text.split_terminator('\n').filter(|line| !line.starts_with('#')) {
                prop_assert_eq!(check_sample(line), Ok(()));
            }
        }
    }

    /// A daemon of an earlier release tells no rules.
    #[test]
    fn a_status_without_rules_is_read(status in status()) {
        let mut json = serde_json::to_value(Status { flow_control: None, ..status }).unwrap();
        prop_assert!(json.as_object_mut().unwrap().remove("flow_control").is_some());
        let read: Status = serde_json::from_value(json).unwrap();
        prop_assert_eq!(&read.flow_control, &None);
        prop_assert!(!read.table().contains("flow control"));
    }

    #[test]
    fn json_is_read_back(status in status()) {
        let json = serde_json::to_string(&status).unwrap();
        let read: Status = serde_json::from_str(&json).unwrap();
        prop_assert_eq!((read.view, read.groups, read.limits), (status.view, status.groups, status.limits));
        prop_assert_eq!(read.flow_control, status.flow_control);
        // The reader of JSON may miss the last digit of a float.
        prop_assert_eq!((read.links.len(), read.clients.len()), (status.links.len(), status.clients.len()));
    }
}
