//! One connection with the server, on which requests follow each other without waiting.

mod asked;
mod passing;

use std::cell::RefCell;
use std::collections::VecDeque;

use asked::{Asked, Asking};
use passing::{Ended, pass};
use ratewire_acp::Error;
use ratewire_daemon::log::reason;
use tracing::warn;

use super::MemberConfig;
use super::link::Link;
use super::server::{RETRY, open};
use crate::frame::{Message, Reply};

/// Serves a connection of a switch until it ends.
pub(super) async fn serve(config: &MemberConfig, link: &Link) {
    // Requests that no server has.
    let mut waiting = VecDeque::new();
    let mut is_down = false;
    loop {
        let (failed, why) = match open(&config.server, config.patience, is_down).await {
            Ok(stream) => {
                let asked = RefCell::new(Asked::new(config.framing));
                let ended = pass(link, stream, &asked, &mut waiting).await;
                let asked = asked.into_inner();
                // A server that accepts and closes at once is as good as none.
                is_down = asked.answered == 0;
                let mut unanswered = asked.into_unanswered();
                match ended {
                    Ended::Switch => return,
                    Ended::Closed => {
                        unanswered.append(&mut waiting);
                        waiting = unanswered;
                        continue;
                    }
                    Ended::Server(why) => (unanswered, why),
                }
            }
            Err(error) => {
                is_down = true;
                if add_all(link, &mut waiting).await.is_err() {
                    return;
                }
                if waiting.is_empty() && link.is_at_end() {
                    return;
                }
                (std::mem::take(&mut waiting), reason(&error))
            }
        };
        let failed = failed.into_iter().filter(|asking| !asking.is_cancelled);
        let failed: Vec<u64> = failed.map(|asking| asking.exchange).collect();
        if !failed.is_empty() {
            let number = failed.len();
            warn!(target: "ratewire_gateway", reason = why, failed = number, "the server is gone");
        }
        for exchange in failed {
            let why = format!("the server is gone: {why}");
            link.reply(exchange, Reply::Failed(why.into())).await;
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
async fn add_all(link: &Link, waiting: &mut VecDeque<Asking>) -> Result<(), Error> {
    while let Some((exchange, message)) = link.receive_at_once().await? {
        match message {
            Message::Request(request) => {
                waiting.push_back(Asking { exchange, request, is_cancelled: false });
            }
            Message::Cancel { exchange } => asked::cancel(waiting, exchange),
            _ => {}
        }
    }
    Ok(())
}
