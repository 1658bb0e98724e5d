//! A whole switch: members that register, are drained and are probed, and modules that are
//! reloaded.

mod running;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use ratewire_acp::{Endpoint, Frame};
use ratewire_switch::config::Token;
use ratewire_switch::daemon::{Command, MemberStatus, PeerStatus, send};
use ratewire_switch::registration::{Registrant, RegistrantConfig, RegistrationEvent};
use running::{Switch, acp, in_time, serve, serve_as};
use tokio::sync::oneshot;
use tokio::task::spawn_local;

const REGISTER: &str = "[register]\nlisten = \"REGISTER\"\ntoken = \"token\"\nlease = \"1 s\"\n";

fn registrant(switch: &Switch, name: &str, server: &Endpoint, token: &str) -> RegistrantConfig {
    RegistrantConfig {
        switch: switch.register.into(),
        acp: acp(),
        ensemble: "default".into(),
        name: name.into(),
        address: server.address(),
        weight: 1.0,
        token: Token::new(token).expect("a token"),
    }
}

type Events = Rc<RefCell<Vec<RegistrationEvent>>>;

/// Keeps a member registered until the sender is used or dropped.
fn register(config: RegistrantConfig) -> (Events, oneshot::Sender<()>) {
    let events = Events::default();
    let (leave, left) = oneshot::channel();
    let registrant = Registrant::new(config).expect("a socket");
    let notes = Rc::clone(&events);
    spawn_local(async move {
        let left = async { _ = left.await };
        registrant.run(left, |event| notes.borrow_mut().push(event)).await;
    });
    (events, leave)
}

async fn until(events: &Events, what: impl Fn(&RegistrationEvent) -> bool) {
    while !events.borrow().iter().any(&what) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn until_member(switch: &Switch, name: &str, what: impl Fn(Option<&MemberStatus>) -> bool) {
    loop {
        let status = switch.status().await;
        if what(status.members.iter().find(|member| member.name == name)) {
            return;
        }
    }
}

#[tokio::test(flavor = "current_thread")]
async fn members_register_serve_and_leave_without_a_loss() {
    in_time(async {
        let folder = running::folder();
        let switch = Switch::start(folder.path(), REGISTER);
        let (one, two) = (serve(1), serve(2));
        let (events, leave) = register(registrant(&switch, "one", &one, running::TOKEN));
        let _two = register_and_wait(&switch, "two", &two).await;
        until(&events, |event| *event == RegistrationEvent::Registered).await;
        let connection = switch.connect().await;
        let ask = async |id| {
            connection.send(Frame::new(id, "?")).await.expect("room");
            connection.receive().await.expect("an answer").expect("an answer").data[0]
        };
        let (mut by, mut id) = ([0, 0], 0);
        while by.contains(&0) {
            by[usize::from(ask(id).await) - 1] += 1;
            id += 1;
        }
        // The first leaves while frames are under way: each is answered.
        for id in 1000..1200 {
            connection.send(Frame::new(id, vec![0; 2000])).await.expect("room");
        }
        leave.send(()).expect("it is registered");
        let mut answered = std::collections::BTreeSet::new();
        while answered.len() < 200 {
            let frame = connection.receive().await.expect("an answer").expect("an answer");
            assert!(answered.insert(frame.id), "one answer each");
        }
        until(&events, |event| *event == RegistrationEvent::Drained).await;
        until_member(&switch, "one", |one| one.is_none()).await;
        for id in 2000..2020 {
            assert_eq!(ask(id).await, 2);
        }
        switch.stop();
    })
    .await;
}

async fn register_and_wait(
    switch: &Switch,
    name: &str,
    server: &Endpoint,
) -> (Events, oneshot::Sender<()>) {
    let (events, leave) = register(registrant(switch, name, server, running::TOKEN));
    until(&events, |event| *event == RegistrationEvent::Registered).await;
    (events, leave)
}

fn registrations(events: &Events) -> usize {
    events.borrow().iter().filter(|event| **event == RegistrationEvent::Registered).count()
}

#[tokio::test(flavor = "current_thread")]
async fn a_member_registers_again_at_a_switch_that_was_restarted() {
    in_time(async {
        let folder = running::folder();
        let switch = Switch::start(folder.path(), REGISTER);
        let server = serve(1);
        let (events, _leave) = register_and_wait(&switch, "one", &server).await;
        let switch = switch.restart(folder.path());
        until_member(&switch, "one", |one| one.is_some_and(|one| one.is_registered)).await;
        // The member hears of it after the switch shows it.
        while registrations(&events) < 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(registrations(&events), 2);
        let status = switch.status().await.registration.expect("registrations");
        assert_eq!((status.members, status.places, status.refused), (1, 16, 0));
        switch.stop();
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_process_takes_the_place_of_another_with_its_name_and_address() {
    in_time(async {
        let folder = running::folder();
        let switch = Switch::start(folder.path(), REGISTER);
        let server = serve(1);
        let (first, leave) = register_and_wait(&switch, "one", &server).await;
        let (second, _leave) = register_and_wait(&switch, "one", &server).await;
        until(&first, |event| match event {
            RegistrationEvent::Unregistered(why) => why.contains("another process has registered"),
            _ => false,
        })
        .await;
        drop(leave);
        until_member(&switch, "one", |one| one.is_some_and(|one| one.is_registered)).await;
        assert_eq!(second.borrow().first(), Some(&RegistrationEvent::Registered));
        assert_eq!(switch.status().await.registration.expect("registrations").members, 1);
        switch.stop();
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn who_may_not_register_hears_why_and_is_counted() {
    in_time(async {
        let folder = running::folder();
        let switch = Switch::start(folder.path(), REGISTER);
        let server = serve(1);
        let (events, _leave) = register(registrant(&switch, "a", &server, "0123456789abcdeX"));
        let why = |text: &'static str| {
            move |event: &RegistrationEvent| match event {
                RegistrationEvent::Unregistered(why) => why.contains(text),
                _ => false,
            }
        };
        until(&events, why("the token is wrong")).await;
        let wrong = registrant(&switch, "b", &server, running::TOKEN);
        let wrong = RegistrantConfig { ensemble: "other".into(), ..wrong };
        let (events, _leave) = register(wrong);
        until(&events, why("serves the ensemble \"default\" and not \"other\"")).await;
        let stranger = Endpoint::client(running::local(), acp()).expect("a socket");
        let stranger = stranger.connect(switch.register).await.expect("the switch");
        stranger.send(Frame::new(0, "hello")).await.expect("room");
        let told = stranger.receive().await.expect("an answer").expect("an answer");
        let told = String::from_utf8_lossy(&told.data).into_owned();
        assert!(told.contains("the first message is not one of a member that registers"), "{told}");
        let none = send(&switch.control, &Command::Drain("three".into())).expect_err("refused");
        assert_eq!(none.to_string(), "no member is called three: there are none");
        let status = switch.status().await;
        let registration = status.registration.clone().expect("registrations");
        assert!(registration.refused >= 2 && status.members.is_empty(), "{status:?}");
        assert!(registration.last_refusal.is_some_and(|last| !last.contains("0123")));
        assert!(status.table().contains("refused; last "), "{}", status.table());
        switch.stop();
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_drained_member_gets_nothing_new_until_it_is_undrained() {
    in_time(async {
        let folder = running::folder();
        let (one, two) = (serve(1), serve(2));
        let members = running::members(&[("one", &one), ("two", &two)]);
        let switch = Switch::start(folder.path(), &members);
        let connection = switch.connect().await;
        let ask = async |id| {
            connection.send(Frame::new(id, "?")).await.expect("room");
            connection.receive().await.expect("an answer").expect("an answer").data[0]
        };
        let mut id = 0;
        while ask(id).await != 1 {
            id += 1;
        }
        let unknown = send(&switch.control, &Command::Drain("three".into())).expect_err("refused");
        assert_eq!(unknown.to_string(), "no member is called three: there are one, two");
        let done = send(&switch.control, &Command::Drain("one".into())).expect("it is there");
        assert_eq!(done, "one gets no new frames");
        for id in 100..150 {
            assert_eq!(ask(id).await, 2);
        }
        let is = |state: &'static str| {
            move |member: Option<&MemberStatus>| member.is_some_and(|member| member.health == state)
        };
        until_member(&switch, "one", is("drained")).await;
        send(&switch.control, &Command::Undrain("one".into())).expect("it is there");
        let mut id = 200;
        while ask(id).await != 1 {
            id += 1;
        }
        until_member(&switch, "one", is("up")).await;
        switch.stop();
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_member_is_down_while_its_answers_to_probes_are_wrong() {
    in_time(async {
        let folder = running::folder();
        // Servers answer with their number and the question.
        let (one, (two, number)) = (serve(1), serve_as(2));
        let probe = "[probe]\nframe = \"ping\"\nanswer-hex = \"01 70\"\ninterval = \"20 ms\"\n";
        let members = running::members(&[("one", &one), ("two", &two)]);
        let switch = Switch::start(folder.path(), &format!("{probe}{members}"));
        let is_down = |member: Option<&MemberStatus>| {
            let reason = member.and_then(|member| member.reason.clone()).unwrap_or_default();
            reason.contains("3 probes failed: the answer begins with \"\\x02ping\"")
        };
        until_member(&switch, "two", is_down).await;
        let connection = switch.connect().await;
        for id in 0..20 {
            connection.send(Frame::new(id, "?")).await.expect("room");
            let answer = connection.receive().await.expect("an answer").expect("an answer");
            assert_eq!(answer.data[0], 1);
        }
        until_member(&switch, "one", |one| one.is_some_and(|one| one.health == "up")).await;
        number.set(1);
        until_member(&switch, "two", |two| two.is_some_and(|two| two.health == "up")).await;
        switch.stop();
    })
    .await;
}

#[tokio::test(flavor = "current_thread")]
async fn a_module_is_reloaded_and_a_bad_one_leaves_it_as_it_is() {
    in_time(async {
        let folder = running::folder();
        let (one, two) = (serve(1), serve(2));
        let members = running::members(&[("one", &one), ("two", &two)]);
        let module = |member: u32| {
            format!(
                "(module (memory (export \"memory\") 1)\
                 (func (export \"ratewire_abi\") (result i32) i32.const 1)\
                 (func (export \"members\") (param i32) (result i32) i32.const 0)\
                 (func (export \"route\") (param i64 i32 i32) (result i32) i32.const {member}))"
            )
        };
        let path = folder.path().join("module.wat");
        std::fs::write(&path, module(0)).expect("a file");
        let extra = format!("routing = \"wasm\"\n[wasm]\nmodule = \"module.wat\"\n{members}");
        let switch = Switch::start(folder.path(), &extra);
        let connection = switch.connect().await;
        let ask = async |id| {
            connection.send(Frame::new(id, "?")).await.expect("room");
            connection.receive().await.expect("an answer").expect("an answer").data[0]
        };
        assert_eq!(ask(0).await, 1);
        std::fs::write(&path, "(module").expect("a file");
        let refused = send(&switch.control, &Command::Reload).expect_err("no module");
        assert!(refused.to_string().ends_with("; the module before goes on"), "{refused}");
        assert_eq!(ask(1).await, 1);
        std::fs::write(&path, module(1)).expect("a file");
        send(&switch.control, &Command::Reload).expect("a module");
        assert_eq!(ask(2).await, 2);
        let module = switch.status().await.module.expect("a module");
        assert_eq!((module.reloads, module.refused_reloads), (1, 1));
        switch.stop();
    })
    .await;
}

/// One switch connects to another, by its address or by its host's name, and says so.
#[tokio::test(flavor = "current_thread")]
async fn a_switch_tells_of_its_peer() {
    in_time(async {
        for host in ["127.0.0.1", "localhost"] {
            let (one, other) = (running::folder(), running::folder());
            let server = serve(1);
            let member = running::members(&[("a", &server)]);
            let waits = Switch::start(one.path(), &member);
            let port = waits.peers.port();
            let peer = format!("[peer]\naddress = \"{host}:{port}\"\n{member}");
            let dials = Switch::start(other.path(), &peer);
            let address = waits.peers.to_string();
            while dials.status().await.peer
                != Some(PeerStatus { address: address.clone(), is_connected: true })
            {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            while waits.status().await.peers != 1 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let table = dials.status().await.table();
            assert!(table.contains(&format!("{address}, connected")), "{table}");
            assert_eq!(waits.status().await.peer, None);
        }
    })
    .await;
}
