//! Options: from rows of a table to those of this library, and their values back.

use std::ffi::{CStr, CString};
use std::slice;

use ratewire_laws::options::{OptionKind, OptionSpec, Options, Part, Size};

use crate::abi::{OptionRow, OptionValue};
use crate::reason::text;

/// The options that a table lists; they stay for the rest of the process.
///
/// # Errors
/// What is wrong with a row.
///
/// # Safety
/// `rows` must point to `count` rows that stay as they are, as their texts do.
pub(crate) unsafe fn read(
    rows: *const OptionRow,
    count: u32,
) -> Result<&'static [OptionSpec], String> {
    if count == 0 {
        return Ok(&[]);
    }
    if rows.is_null() {
        return Err(format!("`option_count` is {count} and `options` NULL"));
    }
    // SAFETY: as this function's.
    let rows = unsafe { slice::from_raw_parts(rows, count as usize) };
    // SAFETY: as this function's.
    let specs = rows.iter().enumerate().map(|(at, row)| unsafe { spec(at, row) });
    Ok(specs.collect::<Result<Vec<OptionSpec>, String>>()?.leak())
}

/// # Safety
/// The row's texts must be null or stay as they are.
unsafe fn spec(at: usize, row: &OptionRow) -> Result<OptionSpec, String> {
    let need = |given, what: &str| {
        // SAFETY: as this function's.
        unsafe { text(given) }.ok_or_else(|| format!("option {at} has no `{what}` in UTF-8"))
    };
    let name = need(row.name, "name")?;
    let kind = match row.kind {
        0 => OptionKind::Switch,
        1 => OptionKind::Number(row.min, row.max),
        2 => OptionKind::Count(row.min as u64, row.max as u64),
        3 => OptionKind::Time,
        4 => OptionKind::Rate(None),
        5 => OptionKind::Size(None),
        6 => OptionKind::Word(need(row.words, "words")?.split('|').collect::<Vec<_>>().leak()),
        other => return Err(format!("option {name:?} is of the unknown kind {other}")),
    };
    if matches!(row.kind, 1 | 2) && (row.min.is_nan() || row.max.is_nan() || row.min > row.max) {
        return Err(format!("option {name:?} has `min` {} and `max` {}", row.min, row.max));
    }
    let part = match row.part {
        0 => Part::Source,
        1 => Part::Sink,
        2 => Part::Port,
        3 => Part::Both,
        other => return Err(format!("option {name:?} is of the unknown part {other}")),
    };
    let default = need(row.default_value, "default_value")?;
    Ok(OptionSpec { name, kind, default, part, doc: need(row.doc, "doc")? })
}

/// The values of all options as a table's `create` takes them, and the texts that they point to.
pub(crate) fn values(
    specs: &'static [OptionSpec],
    options: &Options,
) -> (Vec<OptionValue>, Vec<CString>) {
    let texts: Vec<CString> = specs
        .iter()
        .map(|spec| CString::new(options.text(spec.name)).unwrap_or_default())
        .collect();
    let value = |(spec, text): (&OptionSpec, &CString)| {
        let (number, in_packets) = number(spec, options);
        OptionValue { text: CStr::as_ptr(text), number, in_packets }
    };
    (specs.iter().zip(&texts).map(value).collect(), texts)
}

/// An option's value as a number, and whether it is a number of packets.
fn number(spec: &OptionSpec, options: &Options) -> (f64, bool) {
    let name = spec.name;
    let number = match spec.kind {
        OptionKind::Switch => f64::from(u8::from(options.switch(name))),
        OptionKind::Number(..) => options.number(name),
        OptionKind::Count(..) => options.count(name) as f64,
        OptionKind::Time => options.time(name).secs(),
        OptionKind::Rate(_) => {
            options.rate(name).map_or(f64::INFINITY, |rate| rate.throughput().get())
        }
        OptionKind::Size(_) => match options.size(name) {
            Some(Size::Packets(packets)) => return (packets, true),
            Some(Size::Bytes(bytes)) => bytes.as_f64(),
            None => f64::INFINITY,
        },
        OptionKind::Word(words) => {
            let given = options.word(name);
            words.iter().position(|word| *word == given).map_or(f64::NAN, |at| at as f64)
        }
    };
    (number, false)
}
