//! What `ratewire-switch gateway`, `member` and `proxy` share.

use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;

use ratewire_acp::Config;
use ratewire_command_line::{Exit, with_causes};
use ratewire_daemon::process::{begun, notify_ready, start_log, wait_for_stop_signal};
use ratewire_framing::Framing;
use ratewire_gateway::OpenError;
use ratewire_laws::AnyLaw;
use ratewire_switch::key::KeyFile;
use ratewire_units::{Bytes, Duration};

/// Options of `gateway` and `member`.
#[derive(clap::Args)]
pub(super) struct Common {
    #[arg(long, value_name = "NAME", value_parser = framing, help = framing_help(), long_help = framings())]
    pub(super) framing: Framing,
    /// The key of the connection with the switch, made by `ratewire-switch key`
    #[arg(long, value_name = "FILE", default_value = "switch.key")]
    key: PathBuf,
    /// The law by which frames are sent, if not the usual one of ACP: its name, and options as
    /// NAME=VALUE behind commas
    #[arg(long, value_parser = law)]
    law: Option<Law>,
    /// Write the log as JSON, one event a line
    #[arg(long)]
    json: bool,
}

/// Completes when the program is told to stop.
pub(super) type Stop = Pin<Box<dyn Future<Output = ()>>>;

#[derive(Clone)]
pub(super) struct Law {
    pub(super) law: AnyLaw,
    pub(super) told: String,
}

impl Common {
    /// Starts the log, and makes the settings of ACP.
    pub(super) fn acp(&self) -> Result<Config, Exit> {
        start_log(self.json);
        let credentials = KeyFile::read(&self.key).map_err(|error| {
            print_stderr!("ratewire: {}\n  help: {}", with_causes(&error), error.help());
            Exit::File
        })?;
        let mut config = Config::new(credentials);
        if let Some(Law { law, told }) = &self.law {
            (config.law, config.law_name) = (law.clone(), told.clone());
        }
        Ok(config)
    }

    /// Opens a program and runs it to its end; `open` gets the signal to stop.
    pub(super) fn run<F: Future<Output = ()>>(
        &self,
        open: impl AsyncFnOnce(Stop) -> Result<F, OpenError>,
    ) -> Exit {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = match runtime {
            Ok(runtime) => runtime,
            Err(error) => {
                print_stderr!("ratewire: cannot start the asynchronous runtime: {error}");
                return Exit::Unable;
            }
        };
        let exit = tokio::task::LocalSet::new().block_on(&runtime, async {
            let stop = begun(wait_for_stop_signal("the program ends at once")).await;
            let running = match open(Box::pin(stop)).await {
                Ok(running) => running,
                Err(error) => {
                    let help = "end the program that has the address, or name another";
                    print_stderr!("ratewire: {}\n  help: {help}", with_causes(&error));
                    return Exit::Unable;
                }
            };
            notify_ready();
            running.await;
            Exit::Done
        });
        // A name that is being resolved holds nothing up.
        runtime.shutdown_background();
        exit
    }
}

/// A time of 10 ms to an hour.
pub(super) fn time(text: &str) -> Result<Duration, String> {
    let time: Duration = text.parse().map_err(|error| format!("{error}"))?;
    let allowed = Duration::from_millis(10)..=Duration::from_secs(3600);
    if allowed.contains(&time) { Ok(time) } else { Err("allowed: 10 ms to 1 h".to_string()) }
}

pub(super) fn longest(text: &str) -> Result<Bytes, String> {
    let size: Bytes = text.parse().map_err(|error| format!("{error}"))?;
    let allowed = Bytes::new(1000)..=Bytes::new(16_000_000);
    if allowed.contains(&size) { Ok(size) } else { Err("allowed: 1 KB to 16 MB".to_string()) }
}

/// The names of all framings.
pub(super) fn framing_help() -> String {
    let names: Vec<&str> = ratewire_framing::list().map(|framing| framing.name()).collect();
    format!("What a request is: one of {}", names.join(", "))
}

/// All framings with what they are, a line each.
pub(super) fn framings() -> String {
    let lines = ratewire_framing::list().map(|framing| {
        let (name, summary) = (framing.name(), framing.summary());
        format!("\n- {name}: {}", summary.trim_end_matches('.'))
    });
    format!("What a request is:{}", lines.collect::<String>())
}

pub(super) fn framing(name: &str) -> Result<Framing, String> {
    Framing::named(name)
}

/// A law with its options.
pub(super) fn law(text: &str) -> Result<Law, String> {
    let told = text.replace(',', " ");
    let law = told.parse::<ratewire_laws::AnyLaw>().map_err(|error| error.to_string())?;
    Ok(Law { law, told })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        assert_eq!(law("rcp,alpha=0.3").map(|law| law.told), Ok("rcp alpha=0.3".to_string()));
        assert!(law("rcp,alpha").is_err() && law("none").is_err());
        assert!(time("1 ms").is_err() && time("5 s").is_ok());
        assert!(longest("17 MB").is_err() && longest("2 KB").is_ok());
        let is_known =
            |known: Framing| framing(known.name()).is_ok() && framing_help().contains(known.name());
        assert!(ratewire_framing::list().all(is_known) && framing("ftp").is_err());
    }
}
