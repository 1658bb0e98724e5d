//! Names of laws and variants, their options, and where a scenario uses them.

pub(crate) mod files;
mod uses;
pub(crate) mod wrong;

use std::collections::BTreeMap;

use ratewire_config::nearest;
use ratewire_laws::options::{OptionKind, Part};
use ratewire_laws::{AnyLaw, LawInfo, LawSet, OptionError};
use ratewire_sim::setup::ToldLaw;

use crate::context::{Added, Context};
use crate::diagnostic::{Span, listing};
use crate::document::{At, Entry, Item, Value};
use crate::section::Section;
use files::is_law_file;

pub(crate) use uses::{Made, Uses};
pub use wrong::{Change, WrongConstant};

/// Options as users write them.
pub(crate) type OptionList = Vec<(String, String)>;
/// Options as laws take them.
type Given<'a> = Vec<(&'a str, &'a str)>;

/// Help for an option of ports that is given where only hosts are.
const OF_PORTS: &str = "ports are at links: give the option in [options.LAW], or in a [variant.NAME] that \
                        is the `law` of links";

/// The laws that a scenario may name.
#[derive(Clone, Debug, Default)]
pub(crate) struct LawBook {
    /// Laws that the scenario may use, without its variants.
    laws: LawSet,
    /// Options of `[options.LAW]`, by law.
    options: BTreeMap<String, OptionList>,
    /// `[variant.NAME]`, by name.
    variants: BTreeMap<String, Variant>,
    /// Names of all variants, including those with errors.
    declared: Vec<String>,
    /// A constant that is wrong on purpose.
    wrong: Option<WrongConstant>,
}

/// A law under another name.
#[derive(Clone, Debug)]
struct Variant {
    /// The base law.
    law: String,
    options: OptionList,
    /// Whether it describes the TCP of a kernel, which stands for it where packets are real.
    describes_kernel: bool,
}

/// A use of a law at one place of a scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LawUse {
    /// Name of the law; `None` for the law of the run.
    pub name: Option<String>,
    /// Options given at that place.
    pub options: OptionList,
}

impl LawBook {
    /// Reads `[options]` and `[variant]`.
    pub fn read(root: &Section<'_>) -> LawBook {
        let laws = root.context.laws;
        let declared = variant_names(root);
        let mut book = LawBook { laws: laws.clone(), declared, ..LawBook::default() };
        if let Some(section) = root.section("options") {
            for entry in section.entries() {
                let Some(info) = laws.find(&entry.key) else {
                    let message = format!("[options.{}]: no law is called so", entry.key);
                    let known = laws.list().map(|info| info.name);
                    if book.declared.contains(&entry.key) {
                        root.context.error(entry.key_span, message).help(format!(
                            "options of a variant stand beside its law, in [variant.{}]",
                            entry.key
                        ));
                    } else {
                        root.context.unknown(entry.key_span, message, &entry.key, known);
                    }
                    continue;
                };
                let Value::Table(table) = &entry.item.value else {
                    section.refuse_entry(entry, "a table of options");
                    continue;
                };
                let entries: Vec<&Entry> = table.entries.iter().collect();
                let before = root.context.errors();
                let list = read_options(root.context, info, &entries);
                book.options.entry(info.name.to_string()).or_default().extend(list);
                if root.context.errors() == before {
                    book.check_together(root.context, info.name, &[], &entries);
                }
            }
        }
        if let Some(section) = root.section("variant") {
            for entry in section.entries() {
                book.read_variant(&section, entry);
            }
        }
        book
    }

    fn read_variant(&mut self, section: &Section<'_>, entry: &Entry) {
        let context = section.context;
        let before = context.errors();
        let Value::Table(table) = &entry.item.value else {
            section.refuse_entry(entry, "a table with a `law` and its options");
            return;
        };
        if entry.key.is_empty() {
            context
                .error(entry.key_span, "a variant needs a name")
                .help("for example [variant.naive]");
        }
        if context.laws.find(&entry.key).is_some() || LawSet::RESERVED.contains(&entry.key.as_str())
        {
            context
                .error(entry.key_span, format!("a variant cannot be called {:?}", entry.key))
                .help("that name is taken by a law; to change the law itself, use [options.LAW]");
        }
        let title = format!("[variant.{}]", entry.key);
        let one = Section::new(context, &["variant"], title, entry.key_span, table);
        let Some(law) = one.text("law") else { return };
        let Some(info) = context.laws.find(law.value) else {
            if is_law_file(law.value) {
                not_loaded(context, law.span, law.value);
                return;
            }
            let known = context.laws.list().map(|info| info.name);
            let message = format!("no law is called {:?}", law.value);
            context.unknown(law.span, message, law.value, known);
            return;
        };
        let is_option = |e: &&Entry| e.key != "law" && e.key != "describes";
        let entries: Vec<&Entry> = table.entries.iter().filter(is_option).collect();
        let variant = Variant {
            law: info.name.to_string(),
            options: read_options(context, info, &entries),
            describes_kernel: one.word("describes").is_some(),
        };
        self.variants.insert(entry.key.clone(), variant);
        if context.errors() == before {
            self.check_together(context, &entry.key, &[], &entries);
        }
    }

    /// Names of all laws, followed by those of the variants.
    pub fn names(&self) -> Vec<&str> {
        let laws = self.laws.list().map(|info| info.name);
        laws.chain(self.variants.keys().map(String::as_str)).collect()
    }

    /// Description of the law called `name`, or of the base law of the variant called `name`.
    pub fn info(&self, name: &str) -> Option<&'static LawInfo> {
        let base = self.variants.get(name).map_or(name, |variant| variant.law.as_str());
        self.laws.find(base)
    }

    /// Laws that the scenario may use, without its variants.
    pub fn laws(&self) -> &LawSet {
        &self.laws
    }

    /// Notes an error unless `name` is a law or variant.
    pub fn check(&self, context: &Context<'_>, name: At<&str>) -> Option<String> {
        self.check_beside(context, name, &[])
    }

    /// Notes an error unless `name` is a law or variant; `others` are also valid where it stands.
    pub fn check_beside(
        &self,
        context: &Context<'_>,
        name: At<&str>,
        others: &[&str],
    ) -> Option<String> {
        if let Some(info) = self.info(name.value) {
            // A file of a law, and a short name, stand for the law's name.
            let is_variant = self.variants.contains_key(name.value);
            return Some(if is_variant { name.value } else { info.name }.to_string());
        }
        // Errors of a variant have been noted.
        if !self.declared.iter().any(|declared| declared == name.value) {
            if is_law_file(name.value) {
                not_loaded(context, name.span, name.value);
                return None;
            }
            let message = format!("no law or variant is called {:?}", name.value);
            let known = self.names().into_iter().chain(others.iter().copied());
            context.unknown(name.span, message, name.value, known);
        }
        None
    }

    /// Makes the law called `name` with the options `extra` of its place of use.
    pub fn make(&self, name: &str, extra: &[(String, String)]) -> Result<AnyLaw, OptionError> {
        let (base, all) = self.given(name, extra);
        let wrong = self.wrong.as_ref();
        match wrong.and_then(|wrong| Some((wrong, self.wrong_value(wrong, base, &all)?))) {
            Some((wrong, value)) => self.laws.make_wrong(base, &all, (&wrong.option, &value)),
            None => self.laws.make(base, &all),
        }
    }

    /// What other programs and kernels are told of the law.
    pub fn told(&self, name: &str, extra: &[(String, String)]) -> ToldLaw {
        let (base, all) = self.given(name, extra);
        let last: BTreeMap<&str, &str> = all.into_iter().collect();
        let owned = |(option, value): (&str, &str)| (option.to_string(), value.to_string());
        let describes_kernel = self.variants.get(name).is_some_and(|it| it.describes_kernel);
        let options = last.into_iter().map(owned).collect();
        ToldLaw { name: base.to_string(), options, describes_kernel }
    }

    /// The base law of `name` and all options given to it, with `extra` from the place of use.
    /// Later options override earlier ones.
    fn given<'a>(&'a self, name: &'a str, extra: &'a [(String, String)]) -> (&'a str, Given<'a>) {
        let (base, own) = self
            .variants
            .get(name)
            .map_or((name, &[][..]), |variant| (&variant.law, variant.options.as_slice()));
        let general = self.options.get(base).map_or(&[][..], Vec::as_slice);
        let all = general.iter().chain(own).chain(extra);
        (base, all.map(|(k, v)| (k.as_str(), v.as_str())).collect())
    }

    /// Whether `option` belongs to ports in each of the named laws and variants that has it.
    ///
    /// `extra` are the options at the place of use. `None` if no law has the option.
    fn is_of_ports(&self, option: &str, names: &[&str], extra: &OptionList) -> Option<bool> {
        let of_each = names.iter().filter_map(|name| {
            let spec = self.info(name)?.options.iter().find(|spec| spec.name == option)?;
            let (base, mut given) = self.given(name, extra);
            if let Part::PortAndSink { with: (other, _) } = spec.part {
                given.retain(|(key, _)| *key == other);
                // With an invalid value the effect of the other option is unknown.
                self.laws.make(base, &given).ok()?;
            }
            Some(spec.is_of_ports(&given))
        });
        of_each.reduce(|one, other| one && other)
    }

    /// Notes an error about two options of the law `name` that contradict each other.
    ///
    /// The error points at the one among `entries`. If neither is among them, it was noted
    /// elsewhere.
    fn check_together(
        &self,
        context: &Context<'_>,
        name: &str,
        extra: &[(String, String)],
        entries: &[&Entry],
    ) {
        let (base, all) = self.given(name, extra);
        let Err(e) = self.laws.make(base, &all) else { return };
        let both = || [Some(e.option.as_str()), e.other].into_iter().flatten();
        let at = |option: &str| entries.iter().find(|entry| entry.key == option);
        let Some(entry) = both().find_map(at) else { return };
        let added = context.error(entry.key_span, format!("options of {base}: {e}"));
        if let Some(other) = both().find(|option| *option != entry.key) {
            let given = all.iter().rev().find(|(key, _)| *key == other).map(|(_, value)| *value);
            let options = self.info(base).map_or(&[][..], |info| info.options);
            let default = || options.iter().find(|o| o.name == other).map(|o| o.default);
            added.help(format!("`{other}` is {}", given.or_else(default).unwrap_or_default()));
        }
    }

    /// Reads the keys `law` and `options` of a flow or a class of traffic.
    pub fn read_use(&self, section: &Section<'_>, defaults: &[String]) -> LawUse {
        let context = section.context;
        let given = section.text("law");
        let name = given.and_then(|name| self.check(context, name));
        let Some((table, _)) = section.table("options") else {
            return LawUse { name, options: Vec::new() };
        };
        let names: Vec<&str> = match (&name, given) {
            (Some(name), _) => vec![name],
            (None, Some(_)) => return LawUse::default(),
            (None, None) => defaults.iter().map(String::as_str).collect(),
        };
        let laws: Vec<(&str, &LawInfo)> =
            names.iter().filter_map(|name| Some((*name, self.info(name)?))).collect();
        let before = context.errors();
        let all: Vec<&Entry> = table.value.entries.iter().collect();
        let text = |entry: &&Entry| Some((entry.key.clone(), entry.item.value.as_option()?));
        let options: OptionList = all.iter().filter_map(text).collect();
        // Without a `law`, the experiment may name any law.
        let possible = if given.is_some() { names.clone() } else { self.names() };
        let mut known: Vec<&Entry> = Vec::new();
        for entry in all {
            let has =
                |(_, info): &(&str, &LawInfo)| info.options.iter().any(|o| o.name == entry.key);
            let of_ports = |names: &[&str]| self.is_of_ports(&entry.key, names, &options);
            if of_ports(&possible) == Some(true) {
                let what = format!("`{}` is an option of ports: it does nothing here", entry.key);
                context.error(entry.key_span, what).help(OF_PORTS);
            } else if laws.iter().any(has) {
                if of_ports(&names) == Some(true) {
                    let those: Vec<&str> =
                        names.iter().copied().filter(|name| of_ports(&[name]).is_some()).collect();
                    let (those, key) = (listing(&those), &entry.key);
                    let what = format!(
                        "under {those} `{key}` does nothing here: it is an option of ports"
                    );
                    context.warning(entry.key_span, what).help(OF_PORTS);
                }
                known.push(entry);
            } else if of_ports(&possible).is_none() {
                let known = laws.iter().flat_map(|(_, info)| info.options.iter().map(|o| o.name));
                let law = names.first().unwrap_or(&"");
                let message = format!("{law} has no option `{}`", entry.key);
                context.unknown(entry.key_span, message, &entry.key, known);
            } else if entry.item.value.as_option().is_none() {
                refuse_value(context, entry);
            }
        }
        for (name, info) in &laws {
            let has = |entry: &&Entry| info.options.iter().any(|o| o.name == entry.key);
            let own: Vec<&Entry> = known.iter().copied().filter(has).collect();
            let list = read_options(context, info, &own);
            if context.errors() == before {
                self.check_together(context, name, &list, &own);
            }
            if context.errors() > before {
                // An error under one law is not repeated for the next.
                break;
            }
        }
        LawUse { name, options }
    }
}

/// Refuses the name of a law's file that is not among the known laws.
fn not_loaded(context: &Context<'_>, span: Span, file: &str) {
    context.error(span, format!("the law {file} is a file that was not loaded")).help(
        "a law's file is code: name it in `law=` of Python's `run` or `Scenario.load`, or in \
         `Scenario.knowing`; with the command, in --law, or give --trust-laws",
    );
}

/// Names of variants, even where they are written as a list.
fn variant_names(root: &Section<'_>) -> Vec<String> {
    let Some(entry) = root.entries().iter().find(|entry| entry.key == "variant") else {
        return Vec::new();
    };
    let name_of = |item: &Item| match &item.value {
        Value::Table(table) => match &table.get("name")?.item.value {
            Value::Text(name) => Some(name.clone()),
            _ => None,
        },
        _ => None,
    };
    match &entry.item.value {
        Value::Table(table) => table.entries.iter().map(|entry| entry.key.clone()).collect(),
        Value::List(items) => items.iter().filter_map(name_of).collect(),
        _ => Vec::new(),
    }
}

fn refuse_value<'c, 'a>(context: &'c Context<'a>, entry: &Entry) -> Added<'c, 'a> {
    let found = entry.item.value.describe();
    context.error(entry.item.span, format!("option `{}` cannot be {found}", entry.key))
}

/// Reads options, each checked alone.
fn read_options(context: &Context<'_>, info: &LawInfo, entries: &[&Entry]) -> OptionList {
    let mut list = OptionList::new();
    for entry in entries {
        let Some(spec) = info.options.iter().find(|spec| spec.name == entry.key) else {
            let message = format!("{} has no option `{}`", info.name, entry.key);
            let known = info.options.iter().map(|spec| spec.name);
            context.unknown(entry.key_span, message, &entry.key, known);
            continue;
        };
        let Some(text) = entry.item.value.as_option() else {
            refuse_value(context, entry).help(format!("allowed: {}", spec.kind));
            continue;
        };
        match context.laws.make(info.name, &[(&entry.key, &text)]) {
            Err(e) if e.other.is_none() => {
                let words = match spec.kind {
                    OptionKind::Word(words) => words,
                    _ => &[],
                };
                let near = nearest(&text, words.iter().copied());
                // Laws receive options as text; messages show a number or a switch as it was
                // written.
                let message = match entry.item.value {
                    Value::Text(_) => e.message,
                    _ => e.message.replacen(&format!("{text:?}"), &text, 1),
                };
                context
                    .error(
                        entry.item.span,
                        format!("option `{}` of {}: {message}", e.option, info.name),
                    )
                    .help(match spec.doc {
                        "" => format!("allowed: {}", spec.kind),
                        _ => spec.description(),
                    })
                    .nearest(near);
            }
            // An option that contradicts another's default may agree with the other's given value.
            _ => list.push((entry.key.clone(), text)),
        }
    }
    list
}
