//! A connection with the server, on which requests follow each other without waiting; and another
//! for each kind of requests that need something said before them.

mod asked;
mod passing;
mod source;

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

use asked::{Asked, Asking, NOBODY};
use passing::{Ended, pass};
use ratewire_acp::Error;
use ratewire_daemon::log::reason;
use source::Source;
use tokio::task::JoinSet;
use tracing::warn;

use super::MemberConfig;
use super::counts::Cause;
use super::link::Link;
use super::server::{RETRY, open};
use crate::frame::{Message, Reply};

/// Serves a connection of a switch until it ends.
pub(super) async fn serve(config: &Rc<MemberConfig>, link: &Rc<Link>) {
    let others = Rc::new(RefCell::new(JoinSet::new()));
    let (framing, running) = (config.framing, Rc::clone(&others));
    let (other_config, other_link) = (Rc::clone(config), Rc::clone(link));
    let source = Source::Link {
        link: Rc::clone(link),
        framing,
        others: RefCell::new(BTreeMap::new()),
        begin: Box::new(move |opening, inbox| {
            let (config, link) = (Rc::clone(&other_config), Rc::clone(&other_link));
            let source = Source::Inbox { link, opening, inbox };
            running.borrow_mut().spawn_local(async move { run(&config, &source).await });
        }),
    };
    run(config, &source).await;
    let mut others = others.take();
    // Else there is nobody to answer any more.
    if source.is_at_end() {
        source.finish();
        while others.join_next().await.is_some() {}
    }
    others.shutdown().await;
}

/// Keeps a connection with the server until there are no more messages for it.
async fn run(config: &MemberConfig, source: &Source) {
    // Requests that no server has.
    let mut waiting = VecDeque::new();
    let mut is_down = false;
    loop {
        let (failed, cause, why) = match open(&config.server, config.patience, is_down).await {
            Ok(stream) => {
                let asked = RefCell::new(Asked::new(config.framing));
                let _in_use = source.link().counts().use_connection();
                let ended = pass(source, stream, &asked, &mut waiting).await;
                let asked = asked.into_inner();
                // A server that accepts and closes at once is as good as none.
                is_down = asked.answered == 0;
                let mut unanswered = asked.into_unanswered();
                match ended {
                    Ended::Switch => return,
                    Ended::Closed => {
                        unanswered.append(&mut waiting);
                        let (cancelled, again): (VecDeque<Asking>, _) =
                            unanswered.into_iter().partition(|asking| asking.is_cancelled);
                        waiting = again;
                        for asking in cancelled.iter().filter(|asking| asking.exchange != NOBODY) {
                            source.link().reply_at_once(asking.exchange, Reply::cancelled());
                        }
                        continue;
                    }
                    Ended::Server(why) => (unanswered, Cause::Broken, why),
                }
            }
            Err(error) => {
                is_down = true;
                if add_all(source, &mut waiting).await.is_err() {
                    return;
                }
                if waiting.is_empty() && source.is_at_end() {
                    return;
                }
                (std::mem::take(&mut waiting), Cause::Down, reason(&error))
            }
        };
        let failed = failed.into_iter().filter(|asking| asking.exchange != NOBODY);
        let failed: Vec<u64> = failed.map(|asking| asking.exchange).collect();
        if !failed.is_empty() {
            let number = failed.len();
            warn!(target: "ratewire_gateway", reason = why, failed = number, "the server is gone");
        }
        for exchange in failed {
            let why = format!("the server is gone: {why}");
            source.link().fail(exchange, cause, why).await;
        }
        if is_down {
            tokio::time::sleep(RETRY).await;
        }
    }
}

/// Adds the requests that have come to those that wait.
///
/// # Errors
/// When the connection of the switch has ended.
async fn add_all(source: &Source, waiting: &mut VecDeque<Asking>) -> Result<(), Error> {
    while let Some((exchange, message)) = source.receive_at_once().await? {
        match message {
            Message::Request(request) => {
                waiting.push_back(Asking { exchange, request, is_cancelled: false });
            }
            Message::Cancel { exchange } if asked::take_back(waiting, exchange) => {
                source.link().reply_at_once(exchange, Reply::cancelled());
            }
            _ => {}
        }
    }
    Ok(())
}
