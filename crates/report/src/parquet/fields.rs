//! Names and types of columns: as Parquet has them, and as Arrow is to read them.

use std::borrow::Cow;
use std::sync::Arc;

use flatbuffers::{FlatBufferBuilder, ForwardsUOffset, TableFinishedWIPOffset, Vector, WIPOffset};
use parquet::basic::{LogicalType, Repetition, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::schema::types::{Type, TypePtr};

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number of 64 bits with a point.
    Float,
    /// A number of 64 bits without a sign.
    Count,
    /// A number of 32 bits without a sign.
    Small,
    /// A text that Arrow is to read as a dictionary, because it is repeated in many rows.
    Name,
    /// A text.
    Text,
}

/// A column without its cells.
#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) name: Cow<'static, str>,
    pub(super) kind: Kind,
    pub(super) is_nullable: bool,
    /// Whether values hardly repeat, so that a dictionary would be in vain.
    pub(super) is_varied: bool,
}

impl Field {
    /// A column without nulls, whose values may repeat.
    pub(super) fn new(name: impl Into<Cow<'static, str>>, kind: Kind) -> Field {
        Field { name: name.into(), kind, is_nullable: false, is_varied: false }
    }

    /// A column that may have nulls.
    pub(super) fn or_null(name: impl Into<Cow<'static, str>>, kind: Kind) -> Field {
        Field { is_nullable: true, ..Field::new(name, kind) }
    }

    fn parquet_type(&self) -> Result<TypePtr, ParquetError> {
        let unsigned = |bits| Some(LogicalType::integer(bits, false));
        let (physical, logical) = match self.kind {
            Kind::Float => (PhysicalType::DOUBLE, None),
            Kind::Count => (PhysicalType::INT64, unsigned(64)),
            Kind::Small => (PhysicalType::INT32, unsigned(32)),
            Kind::Name | Kind::Text => (PhysicalType::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let repetition = if self.is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
        let built = Type::primitive_type_builder(&self.name, physical)
            .with_logical_type(logical)
            .with_repetition(repetition)
            .build()?;
        Ok(Arc::new(built))
    }
}

/// The schema of a file with these columns.
///
/// # Errors
/// When two columns have one name.
pub(super) fn parquet_schema(fields: &[Field]) -> Result<TypePtr, ParquetError> {
    let types = fields.iter().map(Field::parquet_type).collect::<Result<_, _>>()?;
    // The name that Arrow gives the schemas of its files.
    Ok(Arc::new(Type::group_type_builder("arrow_schema").with_fields(types).build()?))
}

/// Key of the metadata under which Arrow looks for its own types of the columns.
pub(super) const ARROW_SCHEMA: &str = "ARROW:schema";

// Places of fields in the tables of Arrow's `Message.fbs` and `Schema.fbs`, and members of its
// unions and enumerations. Field `n` of a table is at `4 + 2 n` of its list of offsets.
const MESSAGE_VERSION: u16 = 4;
const MESSAGE_HEADER_TYPE: u16 = 6;
const MESSAGE_HEADER: u16 = 8;
const SCHEMA_FIELDS: u16 = 6;
const FIELD_NAME: u16 = 4;
const FIELD_NULLABLE: u16 = 6;
const FIELD_TYPE_TYPE: u16 = 8;
const FIELD_TYPE: u16 = 10;
const FIELD_DICTIONARY: u16 = 12;
const FIELD_CHILDREN: u16 = 14;
const INT_BIT_WIDTH: u16 = 4;
const FLOAT_PRECISION: u16 = 4;
const DICTIONARY_ID: u16 = 4;
const DICTIONARY_INDEX_TYPE: u16 = 6;
/// `MetadataVersion.V5`.
const VERSION_5: i16 = 4;
/// `MessageHeader.Schema`.
const HEADER_SCHEMA: u8 = 1;
/// `Type.Int`.
const TYPE_INT: u8 = 2;
/// `Type.FloatingPoint`.
const TYPE_FLOAT: u8 = 3;
/// `Type.Utf8`.
const TYPE_UTF8: u8 = 5;
/// `Precision.DOUBLE`.
const DOUBLE: i16 = 2;

type Table = WIPOffset<TableFinishedWIPOffset>;

/// The columns as the text under [`ARROW_SCHEMA`]: an encapsulated IPC message with the schema, in
/// base64.
///
/// Without it, Arrow reads names as plain texts.
pub(super) fn arrow_schema(fields: &[Field]) -> String {
    let mut buffer = FlatBufferBuilder::new();
    let mut dictionaries = 0;
    let all: Vec<Table> =
        fields.iter().map(|field| arrow_field(&mut buffer, field, &mut dictionaries)).collect();
    let all = buffer.create_vector(&all);
    let schema = buffer.start_table();
    buffer.push_slot_always(SCHEMA_FIELDS, all);
    let schema = buffer.end_table(schema);
    let message = buffer.start_table();
    buffer.push_slot_always(MESSAGE_VERSION, VERSION_5);
    buffer.push_slot_always(MESSAGE_HEADER_TYPE, HEADER_SCHEMA);
    buffer.push_slot_always(MESSAGE_HEADER, schema);
    let message = buffer.end_table(message);
    buffer.finish(message, None);
    let message = buffer.finished_data();
    let length = u32::try_from(message.len()).expect("names of columns are short");
    // A message begins with a mark and its length.
    base64(&[&[0xff; 4], &length.to_le_bytes()[..], message].concat())
}

/// A column. `dictionaries` is the number of those before it, each of which has a number.
fn arrow_field(buffer: &mut FlatBufferBuilder<'_>, field: &Field, dictionaries: &mut i64) -> Table {
    let name = buffer.create_string(&field.name);
    let (kind, children, of_kind) = match field.kind {
        Kind::Float => {
            let children = no_children(buffer);
            let float = buffer.start_table();
            buffer.push_slot_always(FLOAT_PRECISION, DOUBLE);
            (TYPE_FLOAT, children, buffer.end_table(float))
        }
        Kind::Count => (TYPE_INT, no_children(buffer), unsigned(buffer, 64)),
        Kind::Small => (TYPE_INT, no_children(buffer), unsigned(buffer, 32)),
        Kind::Name | Kind::Text => {
            let text = buffer.start_table();
            let text = buffer.end_table(text);
            (TYPE_UTF8, no_children(buffer), text)
        }
    };
    let dictionary = (field.kind == Kind::Name).then(|| {
        let index = unsigned(buffer, 32);
        let dictionary = buffer.start_table();
        // A field with its default is left out.
        buffer.push_slot(DICTIONARY_ID, *dictionaries, 0);
        buffer.push_slot_always(DICTIONARY_INDEX_TYPE, index);
        *dictionaries += 1;
        buffer.end_table(dictionary)
    });
    let table = buffer.start_table();
    buffer.push_slot_always(FIELD_NAME, name);
    if let Some(dictionary) = dictionary {
        buffer.push_slot_always(FIELD_DICTIONARY, dictionary);
    }
    buffer.push_slot_always(FIELD_TYPE_TYPE, kind);
    buffer.push_slot(FIELD_NULLABLE, field.is_nullable, false);
    buffer.push_slot_always(FIELD_CHILDREN, children);
    buffer.push_slot_always(FIELD_TYPE, of_kind);
    buffer.end_table(table)
}

type Tables<'a> = WIPOffset<Vector<'a, ForwardsUOffset<TableFinishedWIPOffset>>>;

/// Readers in C++ refuse a field without a list of children.
fn no_children<'a>(buffer: &mut FlatBufferBuilder<'a>) -> Tables<'a> {
    buffer.create_vector(&[] as &[Table])
}

/// A type of whole numbers. Without a field that says otherwise, they have no sign.
fn unsigned(buffer: &mut FlatBufferBuilder, bits: i32) -> Table {
    let int = buffer.start_table();
    buffer.push_slot_always(INT_BIT_WIDTH, bits);
    buffer.end_table(int)
}

/// Base64 with padding (RFC 4648, section 4).
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            text.push(match digit <= group.len() {
                true => char::from(DIGITS[(bits >> (18 - 6 * digit) & 63) as usize]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 4648, section 10.
    #[test]
    fn base64_is_that_of_the_rfc() {
        let examples = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in examples {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }

    #[test]
    fn arrow_reads_its_own_types_of_the_columns() {
        use arrow_schema::{DataType, Field as ArrowField, Schema};
        use parquet::file::metadata::KeyValue;
        use parquet::schema::types::SchemaDescriptor;
        let fields = [
            Field::new("seconds", Kind::Float),
            Field::new("name", Kind::Name),
            Field::or_null("bytes", Kind::Count),
            Field::or_null("share", Kind::Float),
            Field::new("flow", Kind::Small),
            Field::new("law of the flow", Kind::Name),
            Field::new("text", Kind::Text),
        ];
        let name = DataType::Dictionary(DataType::UInt32.into(), DataType::Utf8.into());
        let expected = Schema::new(vec![
            ArrowField::new("seconds", DataType::Float64, false),
            ArrowField::new("name", name.clone(), false),
            ArrowField::new("bytes", DataType::UInt64, true),
            ArrowField::new("share", DataType::Float64, true),
            ArrowField::new("flow", DataType::UInt32, false),
            ArrowField::new("law of the flow", name, false),
            ArrowField::new("text", DataType::Utf8, false),
        ]);
        let schema = SchemaDescriptor::new(parquet_schema(&fields).expect("a schema"));
        let pair = KeyValue::new(ARROW_SCHEMA.to_string(), arrow_schema(&fields));
        let read = parquet::arrow::parquet_to_arrow_schema(&schema, Some(&vec![pair]));
        assert_eq!(read.expect("a schema of Arrow"), expected);
        let plain = parquet::arrow::parquet_to_arrow_schema(&schema, None).expect("a schema");
        assert_eq!(*plain.field(1).data_type(), DataType::Utf8, "names are texts without it");
    }
}
