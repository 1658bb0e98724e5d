//! The set of disciplines that names refer to: those of this crate, and registered ones.

use std::fmt;
use std::sync::Arc;

use ratewire_laws::OptionError;
use ratewire_laws::options::{Options, check_specs};
use ratewire_units::Bytes;

use super::discipline::{Discipline, DisciplineInfo, NamedDiscipline};
use super::external::External;
use super::registry::{self, AnyDiscipline};

/// The set of queue disciplines that names refer to: those of this crate, and registered ones.
///
/// ```
/// use ratewire_net::queue::DisciplineSet;
/// use ratewire_units::Bytes;
///
/// let disciplines = DisciplineSet::default();
/// let codel = disciplines.make("codel", &[("ecn", "true")], Bytes::new(1500)).unwrap();
/// assert!(codel.marks());
/// assert!(disciplines.find("mine").is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct DisciplineSet {
    registered: Vec<Registered>,
}

/// Makes a discipline from its options, for full packets of a size.
type Make = dyn Fn(&Options, Bytes) -> Result<External, OptionError> + Send + Sync;

#[derive(Clone)]
struct Registered {
    info: &'static DisciplineInfo,
    make: Arc<Make>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info.name)
    }
}

impl DisciplineSet {
    /// The disciplines of this crate alone.
    pub const fn in_tree() -> DisciplineSet {
        DisciplineSet { registered: Vec::new() }
    }

    /// Adds a discipline that lives outside this crate, under the name in its
    /// [`NamedDiscipline::INFO`].
    ///
    /// # Errors
    /// When the name is taken or cannot be written in a scenario, an option or its default is
    /// wrong, or the discipline refuses its defaults for packets of 1500 bytes. The set stays as it
    /// was.
    pub fn register<D>(&mut self) -> Result<(), RegisterDisciplineError>
    where
        D: NamedDiscipline + Send + Sync + 'static,
    {
        struct Of<D>(D);
        impl<D: NamedDiscipline> Of<D> {
            const INFO: &'static DisciplineInfo = &D::INFO;
        }
        self.register_as(Of::<D>::INFO, D::from_options)
    }

    /// Adds a discipline that is only known at run time: `info` has its name and options, and
    /// `make` makes it from its options, for full packets of the given size.
    ///
    /// A program that builds `info` at run time must leak it, once for each registration.
    ///
    /// # Errors
    /// When [`DisciplineSet::register`] would fail.
    pub fn register_as<D>(
        &mut self,
        info: &'static DisciplineInfo,
        make: impl Fn(&Options, Bytes) -> Result<D, OptionError> + Send + Sync + 'static,
    ) -> Result<(), RegisterDisciplineError>
    where
        D: Discipline + Clone + Send + Sync + 'static,
    {
        let refuse = |message: String| {
            Err(RegisterDisciplineError { discipline: info.name.to_string(), message })
        };
        if self.find(info.name).is_some() {
            return refuse("another discipline has this name".to_string());
        }
        // What TOML takes for a key without quotation marks.
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        if info.name.is_empty() || !info.name.chars().all(is_plain) {
            return refuse("a name is of letters a to z, digits, - and _".to_string());
        }
        if let Err(why) = check_specs(info.options) {
            return refuse(why);
        }
        if let Err(e) = make(&Options::defaults(info.options), Bytes::new(1500)) {
            return refuse(format!("it cannot be made with its defaults: {e}"));
        }
        let make =
            move |options: &Options, packet: Bytes| Ok(External::new(info, make(options, packet)?));
        self.registered.push(Registered { info, make: Arc::new(make) });
        Ok(())
    }

    /// All disciplines: those of this crate in the order of their list, then others in the order of
    /// registration.
    pub fn list(&self) -> impl Iterator<Item = &'static DisciplineInfo> {
        registry::list().iter().copied().chain(self.registered.iter().map(|one| one.info))
    }

    /// The discipline called `name`.
    pub fn find(&self, name: &str) -> Option<&'static DisciplineInfo> {
        self.list().find(|info| info.name == name)
    }

    /// Makes the discipline called `name`, with these options as users write them, for full packets
    /// of `packet` bytes.
    ///
    /// # Errors
    /// An error if there is no such discipline or option, or if a value is not allowed.
    pub fn make(
        &self,
        name: &str,
        options: &[(&str, &str)],
        packet: Bytes,
    ) -> Result<AnyDiscipline, OptionError> {
        if let Some(one) = self.registered.iter().find(|one| one.info.name == name) {
            let options = Options::given(one.info.options, options)?;
            let made = (one.make)(&options, packet)?;
            return Ok(AnyDiscipline::External(Box::new(made)));
        }
        let unknown = || Err(registry::unknown(name, self.list()));
        registry::made(name, options, packet).unwrap_or_else(unknown)
    }
}

/// Why a discipline was not added to a [`DisciplineSet`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("discipline {discipline:?} was not registered: {message}")]
pub struct RegisterDisciplineError {
    /// Name of the discipline.
    pub discipline: String,
    /// What is wrong with it.
    pub message: String,
}

#[cfg(test)]
mod tests {
    use ratewire_laws::options::{OptionKind, OptionSpec};

    use super::*;
    use crate::queue::{Arrival, Treatment, option};

    const PACKET: Bytes = Bytes::new(1000);

    /// Drops each packet that finds so many waiting.
    #[derive(Clone, Debug)]
    struct Short(u32);

    impl NamedDiscipline for Short {
        const INFO: DisciplineInfo = DisciplineInfo {
            name: "short",
            title: "Short",
            summary: "Drops packets that find too many waiting",
            explanation: "Known limits: it is a toy.",
            example: "discipline = { short = { most = 5 } }",
            options: &[option("most", OptionKind::Count(0, 100), "5", "Packets that may wait.")],
        };

        fn from_options(options: &Options, _: Bytes) -> Result<Short, OptionError> {
            Ok(Short(options.count("most") as u32))
        }
    }

    impl Discipline for Short {
        fn on_arrival(&mut self, arrival: &Arrival, _: &mut dyn FnMut() -> f64) -> Treatment {
            self.0 += 1;
            if arrival.backlog.packets < self.0 { Treatment::Pass } else { Treatment::Drop }
        }
    }

    #[test]
    fn a_registered_discipline_has_its_options_and_a_state_of_its_own() {
        let mut set = DisciplineSet::default();
        set.register::<Short>().unwrap();
        assert_eq!(set.list().last().map(|info| info.name), Some("short"));
        let mut one = set.make("short", &[("most", "7")], PACKET).unwrap();
        let other = format!("{:?}", one.clone());
        assert_eq!(one.info().title, "Short");
        assert!(!one.is_passive() && !one.sorts() && !one.marks());
        let arrival = Arrival {
            now: ratewire_units::Time::ZERO,
            size: PACKET,
            flow: 0,
            ecn: crate::Ecn::NotCapable,
            packet_time: None,
            backlog: crate::queue::Backlog { packets: 8, bytes: PACKET * 8 },
        };
        assert_eq!(one.on_arrival(&arrival, &mut || 0.0), Treatment::Drop);
        assert_eq!(one.on_arrival(&arrival, &mut || 0.0), Treatment::Pass);
        assert!(other.contains("Short(7)") && !format!("{one:?}").contains("Short(7)"), "{other}");
    }

    #[test]
    fn names_options_and_defaults_are_checked() {
        let refused = |change: fn(DisciplineInfo) -> DisciplineInfo| {
            let info = Box::leak(Box::new(change(Short::INFO)));
            let mut set = DisciplineSet::default();
            let error = set.register_as(info, Short::from_options).unwrap_err();
            assert_eq!(set.list().count(), registry::list().len());
            error.to_string()
        };
        let named = |info| DisciplineInfo { name: "codel", ..info };
        assert!(refused(named).contains("\"codel\" was not registered: another discipline has"));
        let spaced = |info| DisciplineInfo { name: "my own", ..info };
        assert!(refused(spaced).contains("a name is of letters"), "{}", refused(spaced));
        const WILD: &[OptionSpec] = &[option("most", OptionKind::Count(0, 100), "many", "")];
        let wild = |info| DisciplineInfo { options: WILD, ..info };
        assert!(refused(wild).contains("default of option \"most\""), "{}", refused(wild));
        let mut set = DisciplineSet::default();
        set.register::<Short>().unwrap();
        assert!(set.register::<Short>().unwrap_err().message.contains("has this name"));
        let e = set.make("shrot", &[], PACKET).unwrap_err();
        assert!(
            e.message.contains("known: drop-tail, red") && e.message.ends_with(", short"),
            "{e}"
        );
        let e = set.make("short", &[("most", "101")], PACKET).unwrap_err();
        assert!(e.message.contains("allowed is a whole number from 0 to 100"), "{e}");
    }
}
