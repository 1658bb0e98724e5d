//! JSON whose pieces know where in which file they stand.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::InputError;
use crate::attributes::Attribute;
use crate::location::{Location, finite};

/// A piece of the file's JSON, kept as text: errors can name its line, and the standard library
/// reads its numbers exactly, whatever features of `serde_json` are on.
#[derive(Clone, Copy)]
pub(crate) struct Json<'a> {
    pub(crate) file: &'a str,
    text: &'a str,
    pub(crate) raw: &'a str,
}

pub(crate) type Object<'a> = BTreeMap<String, Json<'a>>;

impl<'a> Json<'a> {
    /// A whole file.
    pub(crate) fn of_file(file: &'a str, text: &'a str) -> Json<'a> {
        Json { file, text, raw: text.trim() }
    }

    pub(crate) fn at(self) -> Location<'a> {
        // `raw` is a slice of `text`: the distance of their addresses is its offset.
        let offset = self.raw.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        Location::offset(self.file, self.text, offset)
    }

    fn piece(self, raw: &'a RawValue) -> Json<'a> {
        Json { raw: raw.get(), ..self }
    }

    fn wrong(self, error: &serde_json::Error, allowed: &str) -> InputError {
        let at = self.at().below(error.line().saturating_sub(1));
        let remedy = "check that the file is complete, and is node-link JSON";
        if error.is_data() {
            at.error("JSON of another kind", allowed, remedy)
        } else {
            // The position in the message counts from this piece, not from the file's start.
            let message = error.to_string();
            let reason = message.split(" at line ").next().unwrap_or("");
            at.error(format!("JSON that cannot be read ({reason})"), allowed, remedy)
        }
    }

    pub(crate) fn object(self, allowed: &str) -> Result<Object<'a>, InputError> {
        let object: BTreeMap<String, &'a RawValue> =
            serde_json::from_str(self.raw).map_err(|error| self.wrong(&error, allowed))?;
        Ok(object.into_iter().map(|(key, raw)| (key, self.piece(raw))).collect())
    }

    pub(crate) fn array(self) -> Result<impl Iterator<Item = Json<'a>>, InputError> {
        let array: Vec<&'a RawValue> =
            serde_json::from_str(self.raw).map_err(|error| self.wrong(&error, "an array"))?;
        Ok(array.into_iter().map(move |raw| self.piece(raw)))
    }

    pub(crate) fn is_null(self) -> bool {
        self.raw == "null"
    }

    pub(crate) fn is_object(self) -> bool {
        self.raw.starts_with('{')
    }

    pub(crate) fn is_array(self) -> bool {
        self.raw.starts_with('[')
    }

    pub(crate) fn string(self) -> Option<String> {
        serde_json::from_str(self.raw).ok()
    }

    pub(crate) fn number(self) -> Option<f64> {
        finite(self.raw)
    }

    /// An id as text, as demands refer to it: a string, or the digits of a number.
    pub(crate) fn id(self) -> Cow<'a, str> {
        self.string().map_or(Cow::Borrowed(self.raw), Cow::Owned)
    }

    /// The piece as the attribute `name`; null gives it no value.
    pub(crate) fn attribute(self, name: impl Into<Cow<'a, str>>) -> Attribute<'a> {
        let value = if self.is_null() { Cow::Borrowed("") } else { self.id() };
        let is_compound = self.is_object() || self.is_array();
        Attribute { is_compound, ..Attribute::new(name, value, self.at()) }
    }
}
