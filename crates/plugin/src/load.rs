//! Opens shared objects and reads their tables.

use std::ffi::{CStr, c_char};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW, Symbol};
use ratewire_laws::options::{OptionError, Options};
use ratewire_laws::{LawInfo, LawSet, MAX_EXTERNAL_HEADER};

use crate::abi::{ERROR_ROOM, State, Table, VERSION, flags};
use crate::fault::Fault;
use crate::law::PluginLaw;
use crate::options;
use crate::reason::text;
use crate::shared::LawInstance;

/// The function that a shared object exports.
const SYMBOL: &CStr = c"ratewire_law";

/// A law of a shared object that has been loaded.
#[derive(Clone, Copy, Debug)]
pub struct Plugin {
    info: &'static LawInfo,
    table: &'static Table,
}

/// Loads the law of a shared object, for the rest of the process.
///
/// # Errors
/// An error if the file cannot be loaded, exports no table of this version, or lacks a function
/// that every law needs.
///
/// The object's code runs in this process with all its rights, so load only objects that you trust.
pub fn load(path: &Path) -> Result<Plugin, LoadError> {
    let refuse = |what: String| LoadError { path: path.to_path_buf(), what };
    // Without a slash, the name would be looked up in the system's folders.
    let place =
        if path.components().count() == 1 { Path::new(".").join(path) } else { path.into() };
    // SAFETY: the caller answers for the object's code, which also runs as it is opened.
    let object = unsafe { Library::open(Some(&place), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|wrong| refuse(reason(&wrong)))?;
    // SAFETY: the header file gives the function this type.
    let export: Result<Symbol<unsafe extern "C" fn() -> *const Table>, _> =
        unsafe { object.get(SYMBOL.to_bytes_with_nul()) };
    let Ok(export) = export else {
        return Err(refuse("it exports no `ratewire_law`".to_string()));
    };
    // SAFETY: as above.
    let table = unsafe { export() };
    // The table, its texts and functions stay for the rest of the process.
    std::mem::forget(object);
    // SAFETY: the table is in the object, which is never unloaded.
    let plugin = unsafe { read(table) }.map_err(refuse)?;
    Ok(plugin)
}

/// # Safety
/// `table` must be null or stay as it is, and be as its version and size say.
unsafe fn read(table: *const Table) -> Result<Plugin, String> {
    if table.is_null() {
        return Err("`ratewire_law()` returned NULL".to_string());
    }
    // SAFETY: every version's table begins with its version and its size.
    let (version, size) = unsafe { ((*table).version, (*table).size) };
    if version != VERSION {
        return Err(format!("its table is of version {version}, and this is version {VERSION}"));
    }
    if size as usize != size_of::<Table>() {
        let wanted = size_of::<Table>();
        return Err(format!("its table has {size} bytes, and one of this version has {wanted}"));
    }
    // SAFETY: it is a whole table of this version.
    let table: &'static Table = unsafe { &*table };
    let missing = missing(table);
    if !missing.is_empty() {
        return Err(format!("its table lacks {}", missing.join(", ")));
    }
    if table.header_length as usize > MAX_EXTERNAL_HEADER {
        let length = table.header_length;
        return Err(format!("a header of {length} bytes is too long: {MAX_EXTERNAL_HEADER} fit"));
    }
    if table.flags & !flags::ALL != 0 {
        return Err(format!("`flags` has bits that mean nothing: {:#x}", table.flags));
    }
    // SAFETY: texts and rows are in the object, which is never unloaded.
    let (name, title, summary, explanation, specs) = unsafe {
        let specs = options::read(table.options, table.option_count)?;
        (text(table.name), text(table.title), text(table.summary), text(table.explanation), specs)
    };
    let Some(name) = name else { return Err("its table has no `name` in UTF-8".to_string()) };
    let info = LawInfo {
        name,
        title: title.unwrap_or(name),
        summary: summary.unwrap_or("a law of a shared object"),
        explanation: explanation.unwrap_or("The law has no explanation.\n"),
        operations: "",
        options: specs,
    };
    Ok(Plugin { info: Box::leak(Box::new(info)), table })
}

/// What a table lacks, each with its name in the header file.
fn missing(table: &Table) -> Vec<&'static str> {
    let (source, port, sink) = (&table.source, &table.port, &table.sink);
    let has_port = port.create.is_some();
    let has_sink = sink.create.is_some();
    let (books, has_books) = (&table.books, table.books.create.is_some());
    let has_header = table.header_length > 0;
    let needs = [
        (true, source.create.is_some(), "source.create"),
        (true, source.destroy.is_some(), "source.destroy"),
        (has_header, source.on_send.is_some(), "source.on_send"),
        (true, source.on_ack.is_some(), "source.on_ack"),
        (true, source.on_loss.is_some(), "source.on_loss"),
        (true, source.on_timeout.is_some(), "source.on_timeout"),
        (true, source.window.is_some(), "source.window"),
        (source.next_timer.is_some(), source.on_timer.is_some(), "source.on_timer"),
        (source.on_timer.is_some(), source.next_timer.is_some(), "source.next_timer"),
        (has_port, port.destroy.is_some(), "port.destroy"),
        (has_port, port.on_arrival.is_some(), "port.on_arrival"),
        (has_port, port.on_departure.is_some(), "port.on_departure"),
        (has_port, port.on_rate_change.is_some(), "port.on_rate_change"),
        (port.next_timer.is_some(), port.on_timer.is_some(), "port.on_timer"),
        (port.on_timer.is_some(), port.next_timer.is_some(), "port.next_timer"),
        (has_sink, has_header, "header_length, for the headers of its sink"),
        (has_sink, sink.destroy.is_some(), "sink.destroy"),
        (has_sink, sink.on_data.is_some(), "sink.on_data"),
        (has_sink, sink.on_ack.is_some(), "sink.on_ack"),
        (has_books, books.destroy.is_some(), "books.destroy"),
        (has_books, books.departed.is_some(), "books.departed"),
        (table.create.is_some(), table.destroy.is_some(), "destroy"),
        (table.option_count > 0, table.create.is_some(), "create, which reads the options"),
    ];
    let lacks =
        |(needed, there, name): &(bool, bool, &'static str)| (*needed && !there).then_some(*name);
    needs.iter().filter_map(lacks).collect()
}

impl Plugin {
    /// The law's name, explanation and options.
    pub fn info(&self) -> &'static LawInfo {
        self.info
    }

    /// Adds the law to a set, under the name in its table.
    ///
    /// # Errors
    /// As [`LawSet::register_as`].
    pub fn register(self, laws: &mut LawSet) -> Result<(), ratewire_laws::RegisterError> {
        laws.register_as(self.info, move |options| self.make(options))
    }

    fn make(self, options: &Options) -> Result<PluginLaw, OptionError> {
        let mut state: State = ptr::null_mut();
        if let Some(create) = self.table.create {
            let (values, _texts) = options::values(self.info.options, options);
            let mut error = [0; ERROR_ROOM];
            // SAFETY: there is a value for each option, and the room that the header file says.
            state = unsafe { create(values.as_ptr(), error.as_mut_ptr()) };
            if state.is_null() {
                return Err(OptionError::new(self.info.name, refusal(&error)));
            }
        }
        let shared = LawInstance { table: self.table, state, fault: Fault::default() };
        Ok(PluginLaw(Arc::new(shared)))
    }
}

/// Why an object could not be opened, in the loader's words.
fn reason(wrong: &dyn std::error::Error) -> String {
    wrong.source().map_or_else(|| wrong.to_string(), ToString::to_string)
}

/// The text of an error, up to its zero.
fn refusal(error: &[c_char; ERROR_ROOM]) -> String {
    let bytes: Vec<u8> = error.iter().map(|c| *c as u8).take_while(|byte| *byte != 0).collect();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    if text.is_empty() { "`create` returned NULL and does not say why".to_string() } else { text }
}

/// Why a shared object gives no law.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} is no law: {what}", path.display())]
pub struct LoadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub what: String,
}
