//! Questions to members, which they must answer to be up.

use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use ratewire_acp::{self as acp, Connection, Endpoint, Frame};
use ratewire_daemon::log::reason;
use tokio::time::{MissedTickBehavior, interval, timeout};

use crate::config::ProbeConfig;
use crate::running::Running;

/// Number of a probe's frame. The answer must have it too.
const QUESTION: u64 = 0;
/// Code of a reset after a question without a right answer.
const NO_ANSWER: u64 = 0;

/// Answers in a row, right ones or others.
#[derive(Clone, Copy, Debug, Default)]
struct Streak {
    right: u32,
    wrong: u32,
}

/// What follows from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Up,
    Down,
    Undecided,
}

impl Streak {
    fn note(&mut self, is_right: bool, config: &ProbeConfig) -> Verdict {
        *self = match is_right {
            true => Streak { right: self.right.saturating_add(1), wrong: 0 },
            false => Streak { right: 0, wrong: self.wrong.saturating_add(1) },
        };
        match (self.right, self.wrong) {
            (right, _) if right == config.successes => Verdict::Up,
            // Said each time: a member that registers anew at its address is trusted at first.
            (_, wrong) if wrong >= config.failures => Verdict::Down,
            _ => Verdict::Undecided,
        }
    }
}

/// Questions to the members of a running switch.
pub(super) struct Prober {
    config: ProbeConfig,
    endpoint: Endpoint,
    running: Rc<Running>,
}

impl Prober {
    pub(super) fn open(
        config: &ProbeConfig,
        from: SocketAddr,
        settings: acp::Config,
        running: Rc<Running>,
    ) -> Result<Rc<Prober>, acp::Error> {
        let endpoint = Endpoint::client(SocketAddr::new(from.ip(), 0), settings)?;
        Ok(Rc::new(Prober { config: config.clone(), endpoint, running }))
    }

    /// Asks the member in a place again and again, whoever it is.
    pub(super) async fn watch(self: Rc<Self>, place: usize) {
        let mut pace = interval(self.config.interval.to_std());
        pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut known, mut streak, mut connection) = (None, Streak::default(), None);
        loop {
            pace.tick().await;
            let address = self.address(place);
            if address != known {
                (known, streak, connection) = (address, Streak::default(), None);
            }
            let Some(address) = address else { continue };
            let deadline = self.config.deadline.to_std();
            let asked = timeout(deadline, self.ask(address, &mut connection)).await;
            let answer = asked.unwrap_or_else(|_| Err(late(deadline)));
            if answer.is_err()
                && let Some(failed) = connection.take()
            {
                // A late answer would stand in for that to the next question.
                failed.reset(NO_ANSWER, "the probe was not answered as it should").ok();
            }
            if self.address(place) != known {
                continue;
            }
            match streak.note(answer.is_ok(), &self.config) {
                Verdict::Up => self.running.change(|hub, now| hub.trust(now, place)),
                Verdict::Down => {
                    let why = answer.err().unwrap_or_default();
                    let reason = format!("{} probes failed: {why}", self.config.failures);
                    self.running.change(|hub, now| hub.distrust(now, place, &reason));
                }
                Verdict::Undecided => {}
            }
        }
    }

    fn address(&self, place: usize) -> Option<SocketAddr> {
        self.running.look(|hub| hub.member(place).map(|member| member.address))
    }

    /// Asks once, over the connection of the last question if it is still there.
    async fn ask(
        &self,
        address: SocketAddr,
        connection: &mut Option<Connection>,
    ) -> Result<(), String> {
        let connection = match connection {
            Some(connection) => connection,
            None => {
                let connected = self.endpoint.connect(address).await;
                connection.insert(connected.map_err(|error| reason(&error))?)
            }
        };
        let frame = Frame::new(QUESTION, self.config.frame.clone());
        connection.send(frame).await.map_err(|error| reason(&error))?;
        match connection.receive().await {
            Ok(Some(frame)) if frame.id != QUESTION => {
                Err("the answer is not to the question".to_string())
            }
            Ok(Some(frame)) if frame.data.starts_with(&self.config.answer) => Ok(()),
            Ok(Some(frame)) => {
                let begin = &frame.data[..frame.data.len().min(40)];
                Err(format!("the answer begins with \"{}\"", begin.escape_ascii()))
            }
            Ok(None) => Err("the member has ended the connection".to_string()),
            Err(error) => Err(reason(&error)),
        }
    }
}

fn late(deadline: Duration) -> String {
    format!("no answer has come within {} ms", deadline.as_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_failures_in_a_row_are_needed_and_some_successes_after_them() {
        let config = ProbeConfig {
            frame: Vec::new(),
            answer: Vec::new(),
            interval: ratewire_units::Duration::from_secs(1),
            deadline: ratewire_units::Duration::from_secs(1),
            failures: 3,
            successes: 2,
        };
        let mut streak = Streak::default();
        let verdicts: String = "r..r...r.rr...."
            .chars()
            .map(|answer| match streak.note(answer == 'r', &config) {
                Verdict::Up => 'U',
                Verdict::Down => 'D',
                Verdict::Undecided => ' ',
            })
            .collect();
        assert_eq!(verdicts, "      D   U  DD");
    }
}
