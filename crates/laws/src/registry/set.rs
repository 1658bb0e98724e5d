//! The set of laws that names refer to: those of this crate, and registered ones.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use super::{AnyLaw, INFOS};
use crate::external::{External, ExternalLaw, LawId};
use crate::law::{LawInfo, Named};
use crate::options::{OptionError, OptionSpec, Options, check_specs};

/// The set of laws that names refer to: those of this crate, and registered ones.
///
/// ```
/// use ratewire_laws::LawSet;
///
/// let laws = LawSet::default();
/// let law = laws.make("xcp", &[("alpha", "0.3")]).unwrap();
/// assert_eq!(law.info().title, "XCP");
/// assert!(laws.find("mine").is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct LawSet {
    registered: Vec<Registered>,
    files: Vec<LawFile>,
}

/// A file that a registered law comes from, which names in scenarios may stand for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawFile {
    /// Name of the law.
    pub law: &'static str,
    /// The file, as scenarios name it: `./mylaw.so`.
    pub path: String,
    /// SHA-256 of the file's content, in hexadecimal digits.
    pub sha256: String,
}

/// Makes a law from its options.
type Make = dyn Fn(&Options) -> Result<External, OptionError> + Send + Sync;

#[derive(Clone)]
struct Registered {
    info: &'static LawInfo,
    make: Arc<Make>,
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.info.name)
    }
}

impl LawSet {
    /// Words of a link's `law` key that are no names; no law may have them as its name.
    pub const RESERVED: [&'static str; 2] = ["none", "strip"];

    /// The laws of this crate alone.
    pub const fn in_tree() -> LawSet {
        LawSet { registered: Vec::new(), files: Vec::new() }
    }

    /// Adds a law that lives outside this crate, under the name in its [`Named::INFO`].
    ///
    /// # Errors
    /// When the name is taken or cannot be written in a scenario, an option or its default is
    /// wrong, or the law refuses its defaults. The set stays as it was.
    pub fn register<L: Named + ExternalLaw>(&mut self) -> Result<(), RegisterError> {
        struct Of<L>(L);
        impl<L: Named> Of<L> {
            const INFO: &'static LawInfo = &L::INFO;
        }
        self.register_as(Of::<L>::INFO, L::from_options)
    }

    /// Adds a law that is only known at run time: `info` has its name and options, and `make` makes
    /// it from its options.
    ///
    /// A program that builds `info` at run time must leak it, once for each registration.
    ///
    /// # Errors
    /// When [`LawSet::register`] would fail.
    pub fn register_as<L: ExternalLaw>(
        &mut self,
        info: &'static LawInfo,
        make: impl Fn(&Options) -> Result<L, OptionError> + Send + Sync + 'static,
    ) -> Result<(), RegisterError> {
        let refuse = |why| Err(RegisterError { law: info.name.to_string(), message: why });
        if self.find(info.name).is_some() {
            return refuse("another law has this name".to_string());
        }
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
        if info.name.is_empty() || !info.name.chars().all(is_plain) {
            return refuse("a name is of letters a to z, digits, and -, _, . or @".to_string());
        }
        if LawSet::RESERVED.contains(&info.name) {
            return refuse("this word has a meaning of its own in scenarios".to_string());
        }
        if let Err(why) = check_specs(info.options) {
            return refuse(why);
        }
        match make(&Options::defaults(info.options)) {
            Err(e) => return refuse(format!("it cannot be made with its defaults: {e}")),
            Ok(law) if law.has_header() && law.headers().is_none() => {
                let why = "it has a header, but Law::headers has no format: \
                           return Some(PackedFormat::of()) there";
                return refuse(why.to_string());
            }
            Ok(_) => {}
        }
        let id = LawId::next();
        let make = move |options: &Options| Ok(External::new(id, info, make(options)?));
        self.registered.push(Registered { info, make: Arc::new(make) });
        Ok(())
    }

    /// All laws: those of this crate in the order of their list, then others in the order of
    /// registration.
    pub fn list(&self) -> impl Iterator<Item = &'static LawInfo> {
        INFOS.iter().copied().chain(self.registered.iter().map(|law| law.info))
    }

    /// The law called `name`, or the law of the file `name`.
    pub fn find(&self, name: &str) -> Option<&'static LawInfo> {
        let name = self.name_of(name);
        self.list().find(|info| info.name == name)
    }

    /// Notes the file that a registered law comes from.
    pub fn note_file(&mut self, file: LawFile) {
        self.files.push(file);
    }

    /// Files that laws come from.
    pub fn files(&self) -> &[LawFile] {
        &self.files
    }

    fn name_of<'a>(&self, name: &'a str) -> &'a str {
        let of_file = self.files.iter().find(|file| file.path == name);
        of_file.map_or_else(|| super::full_name(name), |file| file.law)
    }

    /// Makes the law called `name`, with options as users write them.
    ///
    /// # Errors
    /// When there is no such law, no such option, or a value is not allowed.
    pub fn make(&self, name: &str, options: &[(&str, &str)]) -> Result<AnyLaw, OptionError> {
        self.make_from(name, |specs| Options::given(specs, options))
    }

    /// Makes a law as [`LawSet::make`] does, but with one option that breaks it: a number may be
    /// any, below 0 too. It shows what would notice that the law is wrong.
    ///
    /// # Errors
    /// As [`LawSet::make`], and when the law cannot be made with that value.
    pub fn make_wrong(
        &self,
        name: &str,
        options: &[(&str, &str)],
        wrong: (&str, &str),
    ) -> Result<AnyLaw, OptionError> {
        self.make_from(name, |specs| {
            let mut all = Options::given(specs, options)?;
            all.set_wrong(wrong.0, wrong.1)?;
            Ok(all)
        })
    }

    fn make_from(
        &self,
        name: &str,
        options: impl Fn(&'static [OptionSpec]) -> Result<Options, OptionError>,
    ) -> Result<AnyLaw, OptionError> {
        let name = self.name_of(name);
        if let Some(law) = self.registered.iter().find(|law| law.info.name == name) {
            return (law.make)(&options(law.info.options)?).map(AnyLaw::External);
        }
        match super::made(name, options) {
            Some(law) => law,
            None => Err(OptionError::new("law", self.unknown(name))),
        }
    }

    fn unknown(&self, name: &str) -> String {
        let known: Vec<&str> = self.list().map(|info| info.name).collect();
        format!("no law is called {name:?}; known: {}", known.join(", "))
    }
}

/// Why a law was not added to a [`LawSet`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("law {law:?} was not registered: {message}")]
pub struct RegisterError {
    /// The law's name.
    pub law: String,
    /// What is wrong with it.
    pub message: String,
}
