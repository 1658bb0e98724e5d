//! The list of queue disciplines, and the enum that dispatches to them.

use ratewire_laws::{OptionError, Options};
use ratewire_units::{Bytes, Time};

use super::discipline::{
    Arrival, Departure, Discipline, DisciplineInfo, NamedDiscipline, Treatment,
};
use super::external::External;
use super::sorted::Queues;

macro_rules! registry {
    ($($variant:ident => $discipline:ty,)*) => {
        dispatch! { $($variant => $discipline,)* External => External, }

        const INFOS: &[&DisciplineInfo] = &[$(&<$discipline as NamedDiscipline>::INFO,)*];

        /// Makes the discipline of this crate called `name`; `None` if there is none.
        pub(super) fn made(
            name: &str,
            options: &[(&str, &str)],
            packet: Bytes,
        ) -> Option<Result<AnyDiscipline, OptionError>> {
            $(if <$discipline as NamedDiscipline>::INFO.name == name {
                let all = Options::given(<$discipline as NamedDiscipline>::INFO.options, options);
                let made = all.and_then(|all| <$discipline>::from_options(&all, packet));
                return Some(made.map(|made| AnyDiscipline::$variant(Box::new(made))));
            })*
            None
        }

        impl AnyDiscipline {
            /// Name, documentation and parameters of the discipline.
            pub fn info(&self) -> &'static DisciplineInfo {
                match self {
                    $(AnyDiscipline::$variant(_) => &<$discipline as NamedDiscipline>::INFO,)*
                    AnyDiscipline::External(discipline) => discipline.info(),
                }
            }
        }
    };
}

macro_rules! dispatch {
    ($($variant:ident => $discipline:ty,)*) => {
        // Boxed, because every link's specification has a discipline, and few need more than
        // drop-tail.
        /// Any discipline, made from its options.
        #[derive(Clone, Debug)]
        pub enum AnyDiscipline { $(#[doc = stringify!($discipline)] $variant(Box<$discipline>),)* }

        impl AnyDiscipline {
            /// See [`Discipline::is_passive`].
            pub fn is_passive(&self) -> bool {
                match self { $(AnyDiscipline::$variant(d) => d.is_passive(),)* }
            }
            /// See [`Discipline::marks`].
            pub fn marks(&self) -> bool {
                match self { $(AnyDiscipline::$variant(d) => d.marks(),)* }
            }
            /// See [`Discipline::draws`].
            pub fn draws(&self) -> bool {
                match self { $(AnyDiscipline::$variant(d) => d.draws(),)* }
            }
            /// See [`Discipline::sorts`].
            pub fn sorts(&self) -> bool {
                match self { $(AnyDiscipline::$variant(d) => d.sorts(),)* }
            }
            /// See [`Discipline::place`].
            pub fn place(&mut self, arrival: &Arrival, draw: &mut dyn FnMut() -> f64) -> u32 {
                match self { $(AnyDiscipline::$variant(d) => d.place(arrival, draw),)* }
            }
            /// See [`Discipline::choose`].
            pub fn choose(&mut self, now: Time, queues: Queues<'_>) -> u32 {
                match self { $(AnyDiscipline::$variant(d) => d.choose(now, queues),)* }
            }
            /// See [`Discipline::makes_room`].
            pub fn makes_room(&self) -> bool {
                match self { $(AnyDiscipline::$variant(d) => d.makes_room(),)* }
            }
            /// See [`Discipline::shed`].
            pub fn shed(&mut self, queues: Queues<'_>, is_full: bool) -> Option<(u32, u32)> {
                match self { $(AnyDiscipline::$variant(d) => d.shed(queues, is_full),)* }
            }
            /// See [`Discipline::on_arrival`].
            pub fn on_arrival(
                &mut self,
                arrival: &Arrival,
                draw: &mut dyn FnMut() -> f64,
            ) -> Treatment {
                match self { $(AnyDiscipline::$variant(d) => d.on_arrival(arrival, draw),)* }
            }
            /// See [`Discipline::on_departure`].
            pub fn on_departure(&mut self, departure: &Departure) -> Treatment {
                match self { $(AnyDiscipline::$variant(d) => d.on_departure(departure),)* }
            }
            /// See [`Discipline::on_empty`].
            pub fn on_empty(&mut self, now: Time) {
                match self { $(AnyDiscipline::$variant(d) => d.on_empty(now),)* }
            }
        }
    };
}

registry! {
    DropTail => super::drop_tail::DropTail,
    Red => super::red::Red,
    CoDel => super::codel::CoDel,
    Pie => super::pie::Pie,
    FqCoDel => super::fq_codel::FqCoDel,
    DualPi2 => super::dualpi2::DualPi2,
}

impl AnyDiscipline {
    /// Makes the discipline of this crate called `name`, with these options as users write them,
    /// for full packets of `packet` bytes. See [`DisciplineSet::make`](super::DisciplineSet::make)
    /// for disciplines outside this crate.
    ///
    /// # Errors
    /// An error if there is no such discipline or option, or if a value is not allowed.
    pub fn new(
        name: &str,
        options: &[(&str, &str)],
        packet: Bytes,
    ) -> Result<AnyDiscipline, OptionError> {
        let unknown = || Err(unknown(name, list().iter().copied()));
        made(name, options, packet).unwrap_or_else(unknown)
    }
}

impl Default for AnyDiscipline {
    fn default() -> AnyDiscipline {
        AnyDiscipline::DropTail(Box::new(super::drop_tail::DropTail))
    }
}

/// All disciplines, in the order of the registry.
pub fn list() -> &'static [&'static DisciplineInfo] {
    INFOS
}

/// The discipline called `name`.
pub fn find(name: &str) -> Option<&'static DisciplineInfo> {
    INFOS.iter().copied().find(|info| info.name == name)
}

/// The error of a name that none of the known disciplines has.
pub(super) fn unknown(
    name: &str,
    known: impl Iterator<Item = &'static DisciplineInfo>,
) -> OptionError {
    let known: Vec<&str> = known.map(|info| info.name).collect();
    let message = format!("no discipline is called {name:?}; known: {}", known.join(", "));
    OptionError::new("discipline", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: Bytes = Bytes::new(1500);

    #[test]
    fn every_discipline_can_be_made_with_its_defaults() {
        for info in list() {
            let discipline = AnyDiscipline::new(info.name, &[], PACKET).expect(info.name);
            assert_eq!(discipline.info().name, info.name);
            assert_eq!(list().iter().filter(|other| other.name == info.name).count(), 1);
            let limits = info.explanation.contains("Known limits");
            assert!(limits, "explain.md of {} has no paragraph \"Known limits\"", info.name);
        }
        assert!(AnyDiscipline::default().is_passive());
    }

    #[test]
    fn a_discipline_takes_two_words_of_a_links_specification() {
        assert_eq!(size_of::<AnyDiscipline>(), 2 * size_of::<usize>());
    }

    #[test]
    fn unknown_names_and_values_are_explained() {
        let e = AnyDiscipline::new("codle", &[], PACKET).unwrap_err();
        assert!(e.message.contains("known: drop-tail, red, codel"), "{e}");
        let e = AnyDiscipline::new("red", &[("mix", "1")], PACKET).unwrap_err();
        assert!(e.message.contains("no such option; known: min, max"), "{e}");
        let e = AnyDiscipline::new("red", &[("weight", "7")], PACKET).unwrap_err();
        assert!(e.message.contains("allowed is a number from"), "{e}");
    }
}
