//! The types that a crate defines: their fields, and the files of their methods.

use std::collections::BTreeMap;

use super::paths::{follow, names};
use super::{Modules, Names, are_for_tests};

/// The module and the name of a type.
pub type Key = (Names, String);

/// A type as written, and where: what its names mean depends on that.
#[derive(Clone)]
pub struct Written {
    pub ty: syn::Type,
    pub module: Names,
    /// What `Self` is.
    pub this: Option<Key>,
}

#[derive(Default)]
struct Type {
    /// Fields of a struct by name or number; of an enum's variants, `Variant.field`.
    fields: BTreeMap<String, Written>,
    methods: BTreeMap<String, Method>,
}

pub struct Method {
    pub file: String,
    pub gives: Option<Written>,
}

/// The types and functions of a crate.
#[derive(Default)]
pub struct Types {
    types: BTreeMap<Key, Type>,
    /// What another name stands for.
    aliases: BTreeMap<Key, Written>,
    /// What functions give.
    functions: BTreeMap<Key, Written>,
}

impl Types {
    pub fn of(modules: &Modules) -> Types {
        let mut types = Types::default();
        let all = || modules.iter().flat_map(|(name, of)| of.code.iter().map(move |i| (name, i)));
        all().for_each(|(module, item)| types.define(module, item));
        // Methods of traits after a type's own: the type's own come first in Rust, too.
        for of_traits in [false, true] {
            for (module, item) in all() {
                if let syn::Item::Impl(item) = item
                    && item.trait_.is_some() == of_traits
                {
                    types.add_methods(modules, module, item);
                }
            }
        }
        types
    }

    fn define(&mut self, module: &Names, item: &syn::Item) {
        let key = |ident: &syn::Ident| (module.clone(), ident.to_string());
        match item {
            syn::Item::Struct(item) => {
                let this = key(&item.ident);
                let fields = fields("", &item.fields, module, &this).collect();
                self.types.insert(this, Type { fields, ..Type::default() });
            }
            syn::Item::Enum(item) => {
                let this = key(&item.ident);
                let of = |variant: &syn::Variant| {
                    let before = format!("{}.", variant.ident);
                    fields(&before, &variant.fields, module, &this).collect::<Vec<_>>()
                };
                let fields = item.variants.iter().flat_map(of).collect();
                self.types.insert(this, Type { fields, ..Type::default() });
            }
            syn::Item::Type(item) => {
                let ty = (*item.ty).clone();
                let written = Written { ty, module: module.clone(), this: None };
                self.aliases.insert(key(&item.ident), written);
            }
            syn::Item::Fn(item) => {
                if let Some(gives) = gives(&item.sig, module, None) {
                    self.functions.insert(key(&item.sig.ident), gives);
                }
            }
            _ => {}
        }
    }

    fn add_methods(&mut self, modules: &Modules, module: &Names, item: &syn::ItemImpl) {
        let ty = (*item.self_ty).clone();
        let Some(this) = self.resolve(modules, &Written { ty, module: module.clone(), this: None })
        else {
            return;
        };
        for of in &item.items {
            let syn::ImplItem::Fn(of) = of else { continue };
            if are_for_tests(&of.attrs) {
                continue;
            }
            let file = modules[module].file.clone();
            let gives = gives(&of.sig, module, Some(&this));
            let methods = &mut self.types.get_mut(&this).unwrap().methods;
            methods.entry(of.sig.ident.to_string()).or_insert(Method { file, gives });
        }
    }

    /// The type of this crate that a written type is, or holds: of `Vec<Link>`, `Link`.
    pub fn resolve(&self, modules: &Modules, written: &Written) -> Option<Key> {
        let inner =
            |ty: &syn::Type| self.resolve(modules, &Written { ty: ty.clone(), ..written.clone() });
        match &written.ty {
            syn::Type::Array(of) => inner(&of.elem),
            syn::Type::Group(of) => inner(&of.elem),
            syn::Type::Paren(of) => inner(&of.elem),
            syn::Type::Reference(of) => inner(&of.elem),
            syn::Type::Slice(of) => inner(&of.elem),
            syn::Type::Path(of) if of.path.is_ident("Self") => written.this.clone(),
            syn::Type::Path(of) => {
                let found = follow(modules, &written.module, &names(&of.path));
                if let Some(place) = found {
                    return self.at(modules, (place.module, place.item?));
                }
                let syn::PathArguments::AngleBracketed(arguments) =
                    &of.path.segments.last()?.arguments
                else {
                    return None;
                };
                let mut types = arguments.args.iter().filter_map(|argument| match argument {
                    syn::GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                });
                // A map's values; what a result is if it is no error.
                let is_result = of.path.segments.last()?.ident == "Result";
                inner(if is_result { types.next()? } else { types.next_back()? })
            }
            _ => None,
        }
    }

    /// The type of that name, which may stand for another.
    pub fn at(&self, modules: &Modules, key: Key) -> Option<Key> {
        if let Some(written) = self.aliases.get(&key) {
            return self.resolve(modules, written);
        }
        self.types.contains_key(&key).then_some(key)
    }

    pub fn field(&self, of: &Key, name: &str) -> Option<&Written> {
        self.types[of].fields.get(name)
    }

    pub fn method(&self, of: &Key, name: &str) -> Option<&Method> {
        self.types[of].methods.get(name)
    }

    pub fn function(&self, key: &Key) -> Option<&Written> {
        self.functions.get(key)
    }
}

fn fields(
    before: &str,
    fields: &syn::Fields,
    module: &Names,
    this: &Key,
) -> impl Iterator<Item = (String, Written)> {
    fields.iter().enumerate().map(move |(i, field)| {
        let name = field.ident.as_ref().map_or_else(|| i.to_string(), ToString::to_string);
        let (ty, this) = (field.ty.clone(), Some(this.clone()));
        (format!("{before}{name}"), Written { ty, module: module.clone(), this })
    })
}

fn gives(signature: &syn::Signature, module: &Names, this: Option<&Key>) -> Option<Written> {
    let syn::ReturnType::Type(_, ty) = &signature.output else { return None };
    Some(Written { ty: (**ty).clone(), module: module.clone(), this: this.cloned() })
}
