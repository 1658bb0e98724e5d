//! The laws of `bpf/` in hosts' kernels, for the time of a run.

#[cfg(feature = "live")]
pub(crate) use loaded::Laws;
#[cfg(not(feature = "live"))]
pub(crate) use none::Laws;

#[cfg(feature = "live")]
mod loaded {
    use std::path::Path;

    use ratewire_live::{KernelLaw, cgroup, host};
    use ratewire_sim::setup::Setup;
    use ratewire_units::Rate;

    use crate::Error;
    use crate::control::{CongestionControl, needed};
    use crate::group::{Group, remove_left};
    use crate::options::{XcpSending, xcp_sending};
    use crate::shell::Shell;

    /// Laws that senders speak.
    pub(crate) struct Laws(Vec<Loaded>);

    struct Loaded {
        control: CongestionControl,
        group: Group,
        held: host::HeldLaw,
    }

    impl Laws {
        /// Checks that hosts' connections would be under the laws of their flows.
        pub(crate) fn check_apart() -> Result<(), Error> {
            let Some(law) = host::all_here() else { return Ok(()) };
            let why = format!(
                "`ratewire live host --law {}` has all connections from here take part",
                law.name()
            );
            Err(Error::new(
                "emulated hosts would not send under their own laws",
                "`ratewire live detach --hosts`; or attach it to a cgroup that this command is not in: `--cgroup`",
            )
            .because(why))
        }

        /// Loads the laws that a run needs, and removes remains of killed runs.
        pub(crate) fn load(setup: &Setup, shell: Option<Shell>) -> Result<Laws, Error> {
            Laws::check_apart()?;
            remove_left();
            let needed = needed(setup, shell).into_iter();
            let of_bpf = needed.filter_map(|control| Some((control, control.live?)));
            let laws = of_bpf.map(|(control, name)| Loaded::load(setup, control, name));
            Ok(Laws(laws.collect::<Result<_, _>>()?))
        }

        fn loaded(&self, control: CongestionControl) -> Option<&Group> {
            self.0.iter().find(|loaded| loaded.control == control).map(|loaded| &loaded.group)
        }

        /// The control group whose sockets send under a law.
        pub(crate) fn folder(&self, control: CongestionControl) -> Option<&Path> {
            self.loaded(control).map(Group::folder)
        }

        /// Runs `what` while new sockets send under a law.
        pub(crate) fn inside<T>(
            &self,
            control: Option<CongestionControl>,
            what: impl FnOnce() -> T,
        ) -> Result<T, Error> {
            match control.and_then(|control| self.loaded(control)) {
                Some(group) => group.inside(what),
                None => Ok(what()),
            }
        }

        /// Ends of connections that do not send under their law: because the other end does not
        /// speak it, the kernel refused it, or their program chose another.
        pub(crate) fn left_out(&self) -> [u64; 3] {
            let statuses = self.0.iter().filter_map(|loaded| loaded.held.status());
            statuses.fold([0; 3], |[plain, refused, chose_another], status| {
                [
                    plain + status.plain,
                    refused + status.refused,
                    chose_another + status.chose_another,
                ]
            })
        }
    }

    impl Loaded {
        fn load(setup: &Setup, control: CongestionControl, name: &str) -> Result<Loaded, Error> {
            let wrong = |e: ratewire_live::Error| cannot(name, &e);
            let law = named(name)?;
            let group = Group::make(&cgroup::root().map_err(wrong)?, name)?;
            let cgroup = Some(group.folder().to_path_buf());
            let sending =
                if law == KernelLaw::Xcp { xcp_sending(setup) } else { XcpSending::default() };
            let XcpSending { rules: xcp, desired } = sending;
            let desired = desired.unwrap_or_else(|| line_rate(setup));
            // Only the model knows that a host's own link is paused.
            let spec =
                host::Spec { law, cgroup, iface: None, desired, xcp, is_forced: true, lie: None };
            let held = host::hold(&spec);
            Ok(Loaded { control, group, held: held.map_err(wrong)? })
        }
    }

    fn named(name: &str) -> Result<KernelLaw, Error> {
        KernelLaw::named(name)
            .ok_or_else(|| Error::new(format!("no law of bpf/ is called {name}"), ""))
    }

    fn cannot(name: &str, why: &ratewire_live::Error) -> Error {
        Error::new(format!("cannot have kernels send under {name}"), "").because(why)
    }

    /// Rate of the fastest link at which a flow starts, which senders ask for.
    fn line_rate(setup: &Setup) -> Rate {
        let is_end = |node| setup.flows.iter().any(|flow| flow.from == node || flow.to == node);
        let own = setup.network.links.iter().filter(|link| is_end(link.from));
        own.map(|link| link.service.mean_rate()).max().unwrap_or(Rate::ZERO)
    }
}

#[cfg(not(feature = "live"))]
mod none {
    use std::path::Path;

    use ratewire_sim::setup::Setup;

    use crate::Error;
    use crate::control::CongestionControl;
    use crate::shell::Shell;

    /// No laws: setups that need one were refused before.
    pub(crate) struct Laws;

    impl Laws {
        pub(crate) fn check_apart() -> Result<(), Error> {
            Ok(())
        }
        pub(crate) fn load(_: &Setup, _: Option<Shell>) -> Result<Laws, Error> {
            Ok(Laws)
        }
        pub(crate) fn folder(&self, _: CongestionControl) -> Option<&Path> {
            None
        }
        pub(crate) fn inside<T>(
            &self,
            _: Option<CongestionControl>,
            what: impl FnOnce() -> T,
        ) -> Result<T, Error> {
            Ok(what())
        }
        pub(crate) fn left_out(&self) -> [u64; 3] {
            [0; 3]
        }
    }
}
