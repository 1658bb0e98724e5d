//! Planned changes of links, in words for the page.

use ratewire_net::spec::{Change, Limit, LinkId, Loss};
use ratewire_report::ChangeInfo;
use ratewire_sim::setup::Setup;
use ratewire_units::Time;

/// Most links that are named for changes of one instant; others are counted.
const NAMED: usize = 3;

/// Changes of links, one entry for each instant.
pub(super) fn changes(setup: &Setup) -> Vec<ChangeInfo> {
    let end = Time::ZERO + setup.duration;
    let mut all: Vec<&(Time, LinkId, Change)> =
        setup.changes.iter().filter(|change| change.0 <= end).collect();
    all.sort_by_key(|change| change.0);
    let instants = all.chunk_by(|a, b| a.0 == b.0).map(|together| {
        let texts = together.iter().take(NAMED).map(|(_, link, change)| {
            let name = &setup.network.links[link.index()].name;
            match change {
                Change::Rate(rate) => format!("{name} sends at {rate}"),
                Change::Delay(delay) => format!("{name} has a delay of {delay}"),
                Change::Up(false) => format!("{name} goes down"),
                Change::Up(true) => format!("{name} comes up"),
                Change::Loss(loss) => format!("{name} {}", losses(loss)),
                Change::Limit(Limit::Unlimited) => format!("{name} has an unlimited queue"),
                Change::Limit(Limit::Bytes(room)) => format!("{name} has a queue of {room}"),
                Change::Limit(Limit::Packets(room)) => {
                    format!("{name} has a queue of {room} packets")
                }
            }
        });
        let mut texts: Vec<String> = texts.collect();
        if together.len() > NAMED {
            texts.push(format!("and {} more", together.len() - NAMED));
        }
        ChangeInfo { at: together[0].0, what: texts.join(", ") }
    });
    instants.collect()
}

/// What a link with these losses does.
fn losses(loss: &Loss) -> String {
    let percent = |share: f64| format!("{} %", (share * 1e6).round() / 1e4);
    match *loss {
        Loss::None | Loss::Every(0) => "loses no packets".to_string(),
        Loss::Random(share) => format!("loses {} of its packets", percent(share)),
        Loss::Every(n) => format!("loses one packet in {n}"),
        Loss::Burst { turn_bad, turn_good, loss_bad, loss_good } => {
            // Share of the time in each state of the Gilbert-Elliott channel.
            let bad = if turn_bad > 0.0 { turn_bad / (turn_bad + turn_good) } else { 0.0 };
            let share = bad * loss_bad + (1.0 - bad) * loss_good;
            format!("loses {} of its packets, in bursts", percent(share))
        }
    }
}

#[cfg(test)]
mod tests {
    use ratewire_laws::AnyLaw;
    use ratewire_sim::dumbbell::{BOTTLENECK, Dumbbell};
    use ratewire_units::{Bytes, Duration, Rate};

    use super::*;

    #[test]
    fn changes_of_an_instant_are_one_entry() {
        let law = AnyLaw::new("newreno", &[]).expect("newreno");
        let rtt = Duration::from_millis(100);
        let mut setup = Dumbbell::new(law, 2, Rate::from_mbps(8), rtt, 100).setup();
        let name = setup.network.links[BOTTLENECK.index()].name.clone();
        let at = |s| Time::ZERO + Duration::from_secs(s);
        setup.duration = Duration::from_secs(3);
        setup.changes = vec![
            (at(4), BOTTLENECK, Change::Up(false)),
            (at(3), BOTTLENECK, Change::Up(true)),
            (at(2), BOTTLENECK, Change::Rate(Rate::from_mbps(2))),
            (at(2), BOTTLENECK, Change::Delay(Duration::from_millis(7))),
            (at(2), BOTTLENECK, Change::Up(false)),
            (at(2), LinkId(0), Change::Up(false)),
            (at(2), LinkId(1), Change::Up(false)),
        ];
        let found = changes(&setup);
        let found: Vec<(Time, &str)> = found.iter().map(|c| (c.at, c.what.as_str())).collect();
        let both = format!(
            "{name} sends at 2 Mbit/s, {name} has a delay of 7 ms, {name} goes down, and 2 more"
        );
        assert_eq!(found, [(at(2), &both[..]), (at(3), &format!("{name} comes up"))]);
    }

    #[test]
    fn losses_and_queues_are_said_in_words() {
        let said = |change| {
            let law = AnyLaw::new("newreno", &[]).expect("newreno");
            let rtt = Duration::from_millis(100);
            let mut setup = Dumbbell::new(law, 1, Rate::from_mbps(8), rtt, 100).setup();
            setup.changes = vec![(Time::ZERO, BOTTLENECK, change)];
            let name = setup.network.links[BOTTLENECK.index()].name.clone();
            changes(&setup)[0].what.replace(&name, "it")
        };
        assert_eq!(said(Change::Loss(Loss::None)), "it loses no packets");
        assert_eq!(said(Change::Loss(Loss::Random(0.015))), "it loses 1.5 % of its packets");
        // A third of the time in the bad state: 0.9 / 3 + 0.3 * 2 / 3.
        let burst = Loss::Burst { turn_bad: 0.1, turn_good: 0.2, loss_bad: 0.9, loss_good: 0.3 };
        assert_eq!(said(Change::Loss(burst)), "it loses 50 % of its packets, in bursts");
        let bytes = Limit::Bytes(Bytes::new(64_000));
        assert_eq!(said(Change::Limit(bytes)), "it has a queue of 64 KB");
        assert_eq!(said(Change::Limit(Limit::Packets(20))), "it has a queue of 20 packets");
        assert_eq!(said(Change::Limit(Limit::Unlimited)), "it has an unlimited queue");
    }
}
