//! States of the daemons, as samples and as an outcome.

use std::collections::BTreeMap;

use ratewire_groups_interface::status::{ClientStatus, GroupStatus, LinkStatus, Status};
use ratewire_overlay::queue::LinkCounts;
use ratewire_overlay::{Dollars, SenderCounts};
use ratewire_sim::outcome::{GroupOutcome, OverlayLinkOutcome, OverlayOutcome, SenderOutcome};
use ratewire_sim::overlay::spec::OverlaySpec;
use ratewire_sim::record::{GroupSample, OverlayLinkSample, OverlaySample, Recorder, SenderSample};
use ratewire_units::{Bytes, Duration, Time};

use super::clients::Run;
use super::counters::Grown;

/// An [`OverlaySample`] that can be kept.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    at: Time,
    interval: Duration,
    groups: Vec<GroupSample>,
    links: Vec<OverlayLinkSample>,
    senders: Vec<SenderSample>,
    owed: u64,
}

impl Sample {
    pub(crate) fn record(&self, recorder: &mut dyn Recorder) {
        let Sample { at, interval, groups, links, senders, owed } = self;
        recorder.overlay_sample(&OverlaySample {
            at: *at,
            interval: *interval,
            groups,
            links,
            senders,
            owed: *owed,
        });
    }
}

/// A link's figures.
#[derive(Clone, Debug, Default)]
struct LinkFigures {
    message_seconds: Grown,
    messages: Grown,
    data: Grown,
    updates: Grown,
    other: Grown,
    waiting: u64,
    longest: u64,
    price: f64,
}

/// A sending client's figures.
#[derive(Clone, Debug, Default)]
struct SenderFigures {
    sent: Grown,
    owed: Grown,
    blocked: Grown,
    money: Option<f64>,
    period: Option<f64>,
}

impl SenderFigures {
    fn counters(&mut self) -> [&mut Grown; 3] {
        [&mut self.sent, &mut self.owed, &mut self.blocked]
    }
}

/// A group's figures at a node.
#[derive(Clone, Debug, Default)]
struct Delivered {
    messages: Grown,
    sum: Grown,
    longest: f64,
}

/// Figures that the daemons' states have reported.
pub(super) struct Watch<'a> {
    spec: &'a OverlaySpec,
    /// Names of the nodes.
    names: Vec<String>,
    /// By node and name of a client: the sender that it is.
    clients: BTreeMap<(usize, String), usize>,
    /// By node: start of the daemon's present life.
    lives: Vec<f64>,
    views: Vec<Grown>,
    links: Vec<LinkFigures>,
    senders: Vec<SenderFigures>,
    /// By group and node.
    delivered: Vec<Vec<Delivered>>,
    before: Totals,
    samples: Vec<Sample>,
}

/// Sums at the last sample.
#[derive(Clone, Debug, Default)]
struct Totals {
    at: Time,
    sent: Vec<u64>,
    owed: u64,
    blocked: Vec<f64>,
    delivered: Vec<Vec<u64>>,
    message_seconds: Vec<f64>,
    longest: Vec<u64>,
    data: Vec<u64>,
    control: Vec<u64>,
}

impl<'a> Watch<'a> {
    /// `names` are those of the nodes.
    pub(super) fn new(spec: &'a OverlaySpec, names: Vec<String>, runs: &[Run]) -> Watch<'a> {
        let mut clients = BTreeMap::new();
        for run in runs {
            for (name, sender) in run.senders() {
                clients.insert((run.node, format!("#{name}#{}", names[run.node])), sender);
            }
        }
        let (nodes, groups) = (spec.nodes.len(), spec.groups.len());
        Watch {
            spec,
            names,
            clients,
            lives: vec![0.0; nodes],
            views: vec![Grown::default(); nodes],
            links: vec![LinkFigures::default(); spec.links.len()],
            senders: vec![SenderFigures::default(); spec.senders.len()],
            delivered: vec![vec![Delivered::default(); nodes]; groups],
            before: Totals::default(),
            samples: Vec::new(),
        }
    }

    /// The run begins with these states: what was counted so far does not count.
    pub(super) fn begin(&mut self, states: &[Option<Status>]) {
        self.note(states);
        self.views.iter_mut().for_each(Grown::begin);
        for link in &mut self.links {
            let LinkFigures { message_seconds, messages, data, updates, other, longest, .. } = link;
            let all = [message_seconds, messages, data, updates, other];
            all.into_iter().for_each(Grown::begin);
            *longest = 0;
        }
        self.senders.iter_mut().flat_map(SenderFigures::counters).for_each(Grown::begin);
        let delivered = self.delivered.iter_mut().flatten();
        delivered.flat_map(|d| [&mut d.messages, &mut d.sum]).for_each(Grown::begin);
        self.before = self.totals(Time::ZERO);
    }

    /// Takes the states of the daemons that run, by node.
    pub(super) fn note(&mut self, states: &[Option<Status>]) {
        for (node, state) in states.iter().enumerate() {
            match state {
                Some(state) => self.note_node(node, state),
                None => self.note_absence(node),
            }
        }
    }

    fn note_node(&mut self, node: usize, state: &Status) {
        if self.lives[node] != state.started_unix_s {
            self.lives[node] = state.started_unix_s;
            self.end_lives(node);
        }
        self.views[node].set(state.view.entered as f64);
        for link in &state.links {
            self.note_link(node, link);
        }
        for client in &state.clients {
            self.note_client(node, client);
        }
        for group in &state.groups {
            self.note_group(node, group);
        }
    }

    /// Nothing waits at a daemon that does not run.
    fn note_absence(&mut self, node: usize) {
        for (place, link) in self.spec.links.iter().enumerate() {
            if link.from.index() == node {
                (self.links[place].waiting, self.links[place].price) = (0, 0.0);
            }
        }
    }

    /// What the daemon counts begins again.
    fn end_lives(&mut self, node: usize) {
        self.views[node].end_life();
        for (place, _) in self.spec.links.iter().enumerate().filter(|(_, l)| l.from.index() == node)
        {
            let LinkFigures { message_seconds, messages, data, updates, other, .. } =
                &mut self.links[place];
            let all = [message_seconds, messages, data, updates, other];
            all.into_iter().for_each(Grown::end_life);
        }
        for (place, _) in self.spec.senders.iter().enumerate().filter(|(_, s)| s.at.index() == node)
        {
            self.senders[place].counters().into_iter().for_each(Grown::end_life);
        }
        for group in &mut self.delivered {
            group[node].messages.end_life();
            group[node].sum.end_life();
        }
    }

    fn note_link(&mut self, node: usize, state: &LinkStatus) {
        let is_this = |(from, to): (usize, usize)| from == node && self.names[to] == state.peer;
        let ends =
            |link: &ratewire_sim::overlay::spec::OverlayLink| (link.from.index(), link.to.index());
        let Some(place) = self.spec.links.iter().position(|link| is_this(ends(link))) else {
            return;
        };
        let link = &mut self.links[place];
        link.message_seconds.set(state.queue_message_seconds);
        link.messages.set(state.sent.messages as f64);
        link.data.set(state.sent.data_bytes as f64);
        link.updates.set(state.sent.update_bytes as f64);
        link.other.set(state.sent.other_bytes as f64);
        link.waiting = state.waiting_messages;
        link.longest = link.longest.max(state.longest_queue_messages);
        link.price = state.price_dollars;
    }

    fn note_client(&mut self, node: usize, state: &ClientStatus) {
        let Some(sender) = self.clients.get(&(node, state.name.clone())) else { return };
        let sender = &mut self.senders[*sender];
        sender.sent.set(state.sent as f64);
        sender.owed.set(state.owed_deliveries as f64);
        sender.blocked.set(state.blocked_s);
        (sender.money, sender.period) = (Some(state.money_dollars), Some(state.salary_period_s));
    }

    fn note_group(&mut self, node: usize, state: &GroupStatus) {
        let place = self.spec.groups.iter().position(|group| group.name == state.name);
        let (Some(place), Some(latency)) = (place, state.latency) else { return };
        let delivered = &mut self.delivered[place][node];
        delivered.messages.set(latency.messages as f64);
        delivered.sum.set(latency.sum_s);
        delivered.longest = delivered.longest.max(latency.longest_s);
    }

    fn totals(&self, at: Time) -> Totals {
        let whole = |grown: &Grown| grown.get() as u64;
        let control = |link: &LinkFigures| whole(&link.updates) + whole(&link.other);
        let by_node = |group: &Vec<Delivered>| group.iter().map(|d| whole(&d.messages)).collect();
        Totals {
            at,
            sent: self.senders.iter().map(|sender| whole(&sender.sent)).collect(),
            owed: self.senders.iter().map(|sender| whole(&sender.owed)).sum(),
            blocked: self.senders.iter().map(|sender| sender.blocked.get()).collect(),
            delivered: self.delivered.iter().map(by_node).collect(),
            message_seconds: self.links.iter().map(|link| link.message_seconds.get()).collect(),
            longest: self.links.iter().map(|link| link.longest).collect(),
            data: self.links.iter().map(|link| whole(&link.data)).collect(),
            control: self.links.iter().map(control).collect(),
        }
    }

    /// Takes the states at the end of a sampling interval.
    pub(super) fn sample(&mut self, at: Time, states: &[Option<Status>]) {
        self.note(states);
        let now = self.totals(at);
        let before = std::mem::replace(&mut self.before, now.clone());
        let interval = at.since(before.at);
        let mut groups: Vec<GroupSample> = Vec::new();
        for (now, before) in now.delivered.iter().zip(&before.delivered) {
            let delivered = now.iter().zip(before).map(|(now, before)| now - before).collect();
            groups.push(GroupSample { sent: 0, delivered });
        }
        let mut senders = Vec::new();
        for (place, sender) in self.senders.iter().enumerate() {
            let sent = now.sent[place] - before.sent[place];
            groups[self.spec.senders[place].spec.group.index()].sent += sent;
            senders.push(SenderSample {
                sent,
                money: sender.money.map(Dollars::new),
                period: sender.period.map(Duration::from_secs_f64),
                blocked: Duration::from_secs_f64(now.blocked[place] - before.blocked[place]),
            });
        }
        let link = |(place, link): (usize, &LinkFigures)| {
            let since = now.message_seconds[place] - before.message_seconds[place];
            let queue_mean = since / interval.secs().max(1e-9);
            // Daemons report only the longest queue ever, and the present one.
            let has_grown = now.longest[place] > before.longest[place];
            let longest = if has_grown { now.longest[place] } else { 0 };
            OverlayLinkSample {
                queue_mean,
                queue_max: longest.max(link.waiting).max(queue_mean.ceil() as u64),
                price: Dollars::new(link.price),
                data: Bytes::new(now.data[place] - before.data[place]),
                control: Bytes::new(now.control[place] - before.control[place]),
            }
        };
        let links = self.links.iter().enumerate().map(link).collect();
        let owed = now.owed - before.owed;
        self.samples.push(Sample { at, interval, groups, links, senders, owed });
    }

    /// All samples, and the outcome of a run that ended then.
    pub(super) fn finish(self, ended: Time) -> (Vec<Sample>, OverlayOutcome) {
        let totals = self.totals(ended);
        let senders = self.senders.iter().zip(&self.spec.senders).zip(&totals.sent);
        let senders: Vec<SenderOutcome> = senders
            .map(|((sender, spec), sent)| {
                let counts = SenderCounts {
                    sent: *sent,
                    owed: sender.owed.get() as u64,
                    blocked: Duration::from_secs_f64(sender.blocked.get()),
                };
                SenderOutcome { group: spec.spec.group, counts }
            })
            .collect();
        let mut groups = Vec::new();
        for (place, by_node) in self.delivered.iter().enumerate() {
            let own = senders.iter().filter(|sender| sender.group.index() == place);
            let (sent, owed) = own.fold((0, 0), |(sent, owed), sender| {
                (sent + sender.counts.sent, owed + sender.counts.owed)
            });
            let messages: f64 = by_node.iter().map(|node| node.messages.get()).sum();
            let sum: f64 = by_node.iter().map(|node| node.sum.get()).sum();
            let longest = by_node.iter().map(|node| node.longest).fold(0.0, f64::max);
            let time = |secs: f64| (messages > 0.0).then(|| Duration::from_secs_f64(secs));
            groups.push(GroupOutcome {
                sent,
                owed,
                delivered: totals.delivered[place].clone(),
                latency_mean: time(sum / messages.max(1.0)),
                latency_max: time(longest),
                views: 0,
            });
        }
        let link = |(place, link): (usize, &LinkFigures)| OverlayLinkOutcome {
            flow: self.spec.links[place].flow,
            queue_mean: link.message_seconds.get() / ended.secs().max(1e-9),
            queue_max: link.longest,
            counts: LinkCounts {
                arrived: link.messages.get() as u64 + link.waiting,
                taken: link.messages.get() as u64,
                data: Bytes::new(link.data.get() as u64),
                updates: Bytes::new(link.updates.get() as u64),
                other: Bytes::new(link.other.get() as u64),
                most: link.longest,
            },
        };
        let links = self.links.iter().enumerate().map(link).collect();
        let views = self.views.iter().map(|views| views.get() as u64).collect();
        (self.samples, OverlayOutcome { groups, senders, links, views })
    }
}

#[cfg(test)]
mod tests {
    use ratewire_groups_interface::config::Policy;
    use ratewire_groups_interface::status::{
        FlowControlStatus, LatencyStatus, LimitStatus, Totals, Traffic, ViewStatus,
    };

    use super::super::clients::runs;
    use super::super::tests::spec;
    use super::*;

    /// The state of daemon `a`, started at `started`, after `n` messages.
    fn state(started: f64, n: u64) -> Status {
        let view = ViewStatus {
            with_another_file: Vec::new(),
            number: 1,
            coordinator: "a".to_string(),
            coordinator_started_unix_us: 1,
            members: vec![],
            absent: vec![],
            is_changing: false,
            entered: 1,
        };
        let traffic =
            Traffic { messages: n, data_bytes: 100 * n, update_bytes: n, other_bytes: 2 * n };
        let link = LinkStatus {
            peer: "b".to_string(),
            is_up: true,
            price_dollars: 4.0,
            waiting_messages: 3,
            mean_queue_messages: 0.0,
            queue_message_seconds: n as f64,
            longest_queue_messages: 7,
            sent: traffic,
            received: traffic,
            reconnects: 0,
            last_error: None,
        };
        let client = ClientStatus {
            name: "#c3-2#a".to_string(),
            from: String::new(),
            groups: vec![],
            group_count: 0,
            queue_bytes: 0,
            queue_messages: 0,
            is_full: false,
            salary_dollars: None,
            weight: None,
            money_dollars: 5.0,
            salary_period_s: 0.5,
            sent: n,
            owed_deliveries: n,
            delivered: 0,
            dropped: 0,
            is_blocked: false,
            blocked_s: 0.5 * n as f64,
        };
        let latency = LatencyStatus { messages: n, sum_s: n as f64, longest_s: 2.0 };
        let group = GroupStatus {
            name: "g0".to_string(),
            policy: Policy::Block,
            weight: None,
            local_members: 1,
            members: 1,
            latency: Some(latency),
        };
        let limits = LimitStatus {
            clients: 0,
            groups_per_client: 0,
            queue_per_client_bytes: 0,
            window_bytes: 0,
            window_used_bytes: 0,
        };
        Status {
            daemon: "a".to_string(),
            version: String::new(),
            started_unix_s: started,
            uptime_s: 0.0,
            view,
            links: vec![link],
            clients: vec![client],
            groups: vec![group],
            group_count: 1,
            limits,
            flow_control: Some(FlowControlStatus::from(&ratewire_overlay::Params::default())),
            totals: Totals::default(),
            last_cut_off: None,
        }
    }

    #[test]
    fn lives_of_a_daemon_add_up() {
        let spec = spec();
        let names = ["a", "b"].map(String::from).to_vec();
        let mut watch = Watch::new(&spec, names, &runs(&spec));
        let at = Time::from_secs;
        watch.begin(&[Some(state(1.0, 10)), None]);
        watch.sample(at(1), &[Some(state(1.0, 15)), None]);
        watch.note(&[Some(state(1.0, 18)), None]);
        watch.sample(at(2), &[None, None]);
        // The new life has counted more than the old one when it is first seen.
        watch.sample(at(4), &[Some(state(3.0, 24)), None]);
        let (samples, outcome) = watch.finish(at(4));
        let sent = |sample: &Sample| (sample.senders[1].sent, sample.groups[0].sent, sample.owed);
        let seen: Vec<_> = samples.iter().map(sent).collect();
        assert_eq!(seen, [(5, 5, 5), (3, 3, 3), (24, 24, 24)]);
        let links: Vec<_> = samples.iter().map(|sample| sample.links[0]).collect();
        let means = links.iter().map(|link| link.queue_mean);
        assert_eq!(means.collect::<Vec<_>>(), [5.0, 3.0, 12.0]);
        assert_eq!(links.iter().map(|link| link.queue_max).collect::<Vec<_>>(), [7, 3, 12]);
        assert_eq!(links.iter().map(|link| link.price.get()).collect::<Vec<_>>(), [4.0, 0.0, 4.0]);
        assert_eq!((links[2].data.get(), links[2].control.get()), (2400, 72));
        let counts = outcome.senders[1].counts;
        assert_eq!((counts.sent, counts.owed, counts.blocked), (32, 32, Duration::from_secs(16)));
        assert_eq!(samples[1].senders[1].blocked, Duration::from_millis(1500));
        assert_eq!(outcome.groups[0].delivered, [32, 0]);
        assert_eq!(outcome.groups[0].latency_max, Some(Duration::from_secs(2)));
        assert_eq!(outcome.links[0].counts.taken, 32);
        assert_eq!((outcome.links[0].queue_mean, outcome.links[0].queue_max), (8.0, 7));
    }
}
