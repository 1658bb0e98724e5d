//! XML elements that know where in which file they stand.

mod limits;

use roxmltree::{Document, Node};

use crate::InputError;
use crate::location::Location;

/// A parsed file.
pub(crate) struct File<'a> {
    name: &'a str,
    document: Document<'a>,
}

/// An element of a document.
#[derive(Clone, Copy)]
pub(crate) struct Element<'d, 'a> {
    file: &'a str,
    node: Node<'d, 'a>,
}

/// Parses XML. Documents with a DTD are refused: neither format has one, and entities can make a
/// small file fill memory.
pub(crate) fn open<'a>(file: &'a str, text: &'a str) -> Result<File<'a>, InputError> {
    limits::check(file, text)?;
    match Document::parse(text) {
        Ok(document) => Ok(File { name: file, document }),
        Err(error) => {
            let remedy = match error {
                roxmltree::Error::DtdDetected => "delete the <!DOCTYPE ...> declaration",
                _ => "check that the file is complete, and not an error page saved in its place",
            };
            let at = Location::line(file, error.pos().row as usize);
            Err(at.error(format!("XML that cannot be read ({error})"), "well-formed XML", remedy))
        }
    }
}

impl<'a> File<'a> {
    pub(crate) fn root<'d>(&'d self) -> Element<'d, 'a> {
        Element { file: self.name, node: self.document.root_element() }
    }
}

impl<'d, 'a> Element<'d, 'a>
where
    'a: 'd,
{
    /// Where the element starts.
    pub(crate) fn at(self) -> Location<'d> {
        Location::offset(self.file, self.node.document().input_text(), self.node.range().start)
    }
    /// The file's display name.
    pub(crate) fn file(self) -> &'a str {
        self.file
    }
    /// The element's name, without namespace.
    pub(crate) fn tag(self) -> &'d str {
        self.node.tag_name().name()
    }
    /// The child elements called `tag`, in whatever namespace.
    pub(crate) fn children(self, tag: &'static str) -> impl Iterator<Item = Element<'d, 'a>> {
        let file = self.file;
        self.node
            .children()
            .filter(move |node| node.is_element() && node.tag_name().name() == tag)
            .map(move |node| Element { file, node })
    }
    /// The elements called `tag` inside this one, at any depth, in the file's order.
    pub(crate) fn descendants(self, tag: &'static str) -> impl Iterator<Item = Element<'d, 'a>> {
        let file = self.file;
        self.node
            .descendants()
            .skip(1)
            .filter(move |node| node.is_element() && node.tag_name().name() == tag)
            .map(move |node| Element { file, node })
    }
    /// The name of the element around this one.
    pub(crate) fn parent_tag(self) -> Option<&'d str> {
        Some(self.node.parent_element()?.tag_name().name())
    }
    /// The value of an attribute of the element around this one.
    pub(crate) fn parent_attribute(self, name: &str) -> Option<&'d str> {
        self.node.parent_element()?.attribute(name)
    }
    /// The child elements, whatever they are called.
    pub(crate) fn elements(self) -> impl Iterator<Item = Element<'d, 'a>> {
        let file = self.file;
        let elements = self.node.children().filter(Node::is_element);
        elements.map(move |node| Element { file, node })
    }
    /// The first child called `tag`.
    pub(crate) fn child(self, tag: &'static str) -> Option<Element<'d, 'a>> {
        self.children(tag).next()
    }
    /// The first child called `tag`, which must be there.
    pub(crate) fn need(self, tag: &'static str) -> Result<Element<'d, 'a>, InputError> {
        self.child(tag).ok_or_else(|| {
            self.at().error(
                format!("<{}> without <{tag}>", self.tag()),
                format!("a <{tag}> inside"),
                "add it, or check that the file is complete",
            )
        })
    }
    /// The element's text, trimmed; empty if there is none.
    pub(crate) fn text(self) -> &'d str {
        self.node.text().unwrap_or("").trim()
    }
    /// The value of an attribute.
    pub(crate) fn attribute(self, name: &str) -> Option<&'d str> {
        self.node.attribute(name)
    }
    /// The value of an attribute that must be there.
    pub(crate) fn need_attribute(self, name: &str) -> Result<&'d str, InputError> {
        self.attribute(name).ok_or_else(|| {
            self.at().error(
                format!("<{}> without the attribute {name}", self.tag()),
                format!("<{} {name}=\"...\">", self.tag()),
                "add the attribute",
            )
        })
    }
}
