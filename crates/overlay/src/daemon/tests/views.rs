//! Messages among windows, views, and receivers that come.

use super::*;

#[test]
fn the_window_bounds_what_others_lack() {
    let mut net = Net::line(2, 5_000);
    net.client(1, &[7]);
    let sender = net.client(0, &[]);
    net.stopped = Some(0);
    assert_eq!(net.flood(0, sender, 7, 1), 5);
    assert_eq!(net.daemons[0].in_window(), Bytes::new(5000));
    net.stopped = None;
    net.exchange();
    assert_eq!(net.daemons[0].poll_sent(), Some(sender));
    assert_eq!(net.daemons[0].in_window(), Bytes::ZERO, "without time passing, even for FIFO");
    assert_eq!(net.got, [0, 6]);
}

#[test]
fn a_message_beyond_the_window_goes_alone() {
    let mut net = Net::line(2, 5_000);
    net.client(1, &[7]);
    let [one, two] = [0, 0].map(|node| net.client(node, &[]));
    net.stopped = Some(0);
    assert_eq!(net.flood(0, one, 7, 50), 1);
    assert_eq!(net.flood(0, two, 7, 1), 0);
}

#[test]
fn messages_wait_while_views_change() {
    let mut net = Net::line(3, 1 << 20);
    net.client(0, &[7]);
    let sender = net.client(0, &[]);
    net.daemons[1].link_down(net.now, OverlayNodeId(2));
    net.daemons[2].link_down(net.now, OverlayNodeId(1));
    while let Some(message) = net.daemons[1].take(net.now, OverlayNodeId(0)) {
        net.daemons[0].receive(net.now, OverlayNodeId(1), message);
    }
    assert!(net.daemons[0].member().is_changing());
    assert_eq!(net.flood(0, sender, 7, 1), 0);
    net.exchange();
    assert_eq!(net.daemons[0].member().view().1.len(), 2);
    assert_eq!(net.daemons[0].poll_sent(), Some(sender));
    assert_eq!(net.got[0], 1);
}

/// Three daemons that begin in one view.
fn founded(founding: &Founding<u8>, settings: &Arc<Settings>) -> Vec<Daemon<u8, Data>> {
    let daemon = |i: u8| {
        let random = Xoshiro256PlusPlus::seed_from_u64(u64::from(i));
        Daemon::founded(OverlayNodeId(i), founding, Arc::clone(settings), random)
    };
    (0..3).map(daemon).collect()
}

#[test]
fn founded_daemons_begin_in_one_view_and_may_leave_it() {
    let mut net = Net::line(3, 1 << 20);
    let settings = Arc::clone(&net.daemons[0].settings);
    let clients = vec![vec![], vec![], vec![("there".into(), vec![7])]];
    let founding = Founding::new(Arc::clone(&settings.edges), clients).expect("a line is whole");
    net.daemons = founded(&founding, &settings);
    let sender = net.client(0, &[]);
    assert_eq!(net.flood(0, sender, 7, 1), 10);
    net.exchange();
    assert_eq!(net.got, [0, 0, 10]);
    for (node, peer) in [(1, 2), (2, 1)] {
        net.daemons[node].link_down(net.now, OverlayNodeId(peer));
    }
    net.exchange();
    let member = net.daemons[0].member();
    assert_eq!((member.view().1.len(), member.members(&7).count()), (2, 0));
    for (node, peer) in [(1, 2), (2, 1)] {
        net.daemons[node].link_up(net.now, OverlayNodeId(peer), 2);
    }
    net.run(Duration::from_millis(200));
    let member = net.daemons[0].member();
    assert_eq!((member.view().1.len(), member.members(&7).count()), (3, 1));
}

#[test]
fn a_message_that_needs_a_receiver_goes_when_there_is_one() {
    let mut net = Net::line(2, 1 << 20);
    let sender = net.client(0, &[]);
    let offer = Offer { needs_receiver: true, ..offer(7, 1) };
    assert_eq!(net.daemons[0].offer(net.now, sender, offer), Offered::Held);
    net.run(Duration::from_millis(500));
    assert_eq!(net.daemons[0].poll_sent(), None);
    net.client(1, &[7]);
    net.run(Duration::from_millis(100));
    assert_eq!(net.daemons[0].poll_sent(), Some(sender));
    assert_eq!(net.got, [0, 1]);
}

/// Daemons that found a lasting view tell each other nothing about messages that wait for nobody.
#[test]
fn a_lasting_view_has_no_copies_to_forget() {
    let edges = Arc::clone(&Net::line(3, 1 << 20).daemons[0].settings.edges);
    let told = |is_lasting: bool| {
        let mut net = Net::line(3, 1 << 20);
        let clients = vec![vec![], vec![], vec![("there".into(), vec![7])]];
        let founding = Founding::new(Arc::clone(&edges), clients).expect("a line is whole");
        let founding = if is_lasting { founding.lasting() } else { founding };
        let settings =
            Arc::new(Settings { window: Bytes::MAX, ..Settings::clone(&net.daemons[0].settings) });
        net.daemons = founded(&founding, &settings);
        let sender = net.client(0, &[]);
        assert_eq!(net.flood(0, sender, 7, 1), 10);
        net.exchange();
        assert_eq!(net.got, [0, 0, 10]);
        net.now += Duration::from_secs(1);
        let now = net.now;
        net.daemons.iter_mut().for_each(|daemon| daemon.advance(now));
        let taken = std::iter::from_fn(|| net.daemons[0].take(now, OverlayNodeId(1)));
        taken.filter(|message| matches!(message, LinkMessage::Progress(_))).count()
    };
    assert_eq!((told(true), told(false)), (0, 1));
}

#[test]
fn a_client_that_joins_and_sends_gets_its_message() {
    let mut net = Net::line(3, 1 << 20);
    let client = net.daemons[0].connect(net.now, "c".into());
    net.daemons[0].join(net.now, client, 7);
    assert_eq!(net.flood(0, client, 7, 1), 0, "it waits for the join");
    net.exchange();
    assert_eq!(net.daemons[0].poll_sent(), Some(client), "without time passing");
    assert_eq!(net.got, [1, 0, 0]);
}
