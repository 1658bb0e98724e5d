//! The state of whichever program answers: a switch, a gateway or a member.

use std::net::SocketAddr;

use ratewire_status::{StatusError, fetch};
use serde::de::{Deserializer, Error};
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value};

use super::{GatewayStatus, MemberProgramStatus, PROGRAM, Status};

/// The state of a switch, a gateway or a member.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AnyStatus {
    /// Of a switch.
    Switch(Box<Status>),
    /// Of a gateway.
    Gateway(Box<GatewayStatus>),
    /// Of a member.
    Member(Box<MemberProgramStatus>),
}

impl AnyStatus {
    /// The state as text in columns, in ASCII without control characters but for ends of lines.
    pub fn table(&self) -> String {
        match self {
            AnyStatus::Switch(status) => status.table(),
            AnyStatus::Gateway(status) => status.table(),
            AnyStatus::Member(status) => status.table(),
        }
    }
}

/// Gateways and members say what they are, and a switch does not.
impl<'de> Deserialize<'de> for AnyStatus {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<AnyStatus, D::Error> {
        let value = Value::deserialize(from)?;
        let read = match value.get("program").and_then(Value::as_str) {
            Some(GatewayStatus::PROGRAM) => from_value(value).map(AnyStatus::Gateway),
            Some(MemberProgramStatus::PROGRAM) => from_value(value).map(AnyStatus::Member),
            _ => from_value(value).map(AnyStatus::Switch),
        };
        read.map_err(D::Error::custom)
    }
}

/// Reads the status of the switch, gateway or member whose status address this is. Waits up to
/// 10 s.
///
/// # Errors
/// If none of them answers at the address.
pub fn fetch_any(address: SocketAddr) -> Result<AnyStatus, StatusError> {
    fetch(&PROGRAM, address)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::{
        ClientCounts, FailureCounts, GatewayMember, Latency, LatencyBucket, RequestCounts,
        ServedCounts, ServerFailureCounts, SwitchLink,
    };

    /// Latencies of which the last answer took longer than a bound, or not.
    fn latency(p99: Option<f64>) -> Latency {
        let bucket = |at_most_s, answers| LatencyBucket { at_most_s, answers };
        let slow = u64::from(p99.is_none());
        Latency {
            latency_s: 0.0015,
            latency_sum_s: 0.01,
            latency_p50_at_most_s: Some(0.002),
            latency_p99_at_most_s: p99,
            latency_buckets: vec![
                bucket(Some(0.002), 5),
                bucket(Some(0.005), 2 - slow),
                bucket(None, slow),
            ],
        }
    }

    fn gateway() -> GatewayStatus {
        GatewayStatus {
            program: GatewayStatus::PROGRAM.into(),
            version: "1.0".into(),
            started_unix_s: 1.0,
            uptime_s: 61.0,
            address: "127.0.0.1:6379".into(),
            framing: "resp".into(),
            switch: SwitchLink {
                address: "127.0.0.1:4816".into(),
                is_connected: false,
                reason: Some("it does not run".into()),
            },
            clients: ClientCounts { now: 2, served: 5, ended_slow: 1, ..ClientCounts::default() },
            requests: RequestCounts {
                asked: 9,
                answered: 7,
                failed: FailureCounts { late: 2, ..FailureCounts::default() },
                ..RequestCounts::default()
            },
            held_bytes: 1000,
            held_limit_bytes: 256_000_000,
            members: vec![GatewayMember {
                name: "a".into(),
                state: "down".into(),
                is_connected: false,
                reason: Some("it is gone".into()),
                waiting: 1,
                under_way: 3,
                expected_bytes: 2000,
                answered: 7,
                latency: latency(Some(0.005)),
                sent_again: 4,
            }],
        }
    }

    fn member() -> MemberProgramStatus {
        MemberProgramStatus {
            program: MemberProgramStatus::PROGRAM.into(),
            version: "1.0".into(),
            started_unix_s: 1.0,
            uptime_s: 5.0,
            address: "10.0.0.2:4816".into(),
            server: "127.0.0.1:6379".into(),
            framing: "resp".into(),
            gateways: 1,
            connections: 2,
            refused: 0,
            wrong_keys: 3,
            requests: ServedCounts {
                asked: 4,
                under_way: 1,
                answered: 2,
                abandoned: 0,
                failed: ServerFailureCounts { broken: 1, ..ServerFailureCounts::default() },
            },
            server_in_use: 1,
            server_kept: 2,
            waiting_bytes: 0,
            reply_bytes: 10,
            latency: latency(None),
        }
    }

    fn read(json: &str) -> Result<AnyStatus, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn each_program_is_known_by_its_state() {
        for status in
            [AnyStatus::Gateway(Box::new(gateway())), AnyStatus::Member(Box::new(member()))]
        {
            let json = serde_json::to_string(&status).expect("JSON");
            assert_eq!(read(&json).expect("a state"), status);
        }
        let error = read("{\"program\": \"gateway\"}").unwrap_err().to_string();
        assert!(error.contains("missing field"), "{error}");
        assert!(read("7").is_err());
    }

    #[test]
    fn states_are_shown_as_tables() {
        assert_eq!(
            gateway().table(),
            "gateway       127.0.0.1:6379, resp (ratewire 1.0)\n\
             up            1 min 1 s\n\
             switch        127.0.0.1:4816, not connected: it does not run\n\
             clients       2 now, 0 wait; 5 served, 0 refused so far\n\
             ended         0 for memory, 0 not reading, 1 slow, 0 violations\n\
             requests      9 for members, 7 answered, 0 abandoned; 0 answered here\n\
             failed        2 (0 down, 0 lost, 2 late, 0 server, 0 unsent)\n\
             held          1 KB of 256 MB\n\n\
             member  state  connected  waiting  under way  expected  latency      p99  \
             sent again  because\n\
             a       down   no               1          3      2 KB   1.5 ms  <= 5 ms           \
             4  it is gone\n"
        );
        assert_eq!(
            member().table(),
            "member        10.0.0.2:4816, resp (ratewire 1.0)\n\
             up            5 s\n\
             server        127.0.0.1:6379; connections: 1 in use, 2 kept\n\
             switches      connections: 2, refused: 0, wrong keys: 3\n\
             gateways      1\n\
             requests      4 so far, 1 under way, 2 answered, 0 abandoned\n\
             failed        1 (0 down, 1 broken, 0 crowded, 0 gateway)\n\
             waiting       0 B of requests, 10 B of answers\n\
             latency       1.5 ms, p99 > 5 ms\n"
        );
    }
}
