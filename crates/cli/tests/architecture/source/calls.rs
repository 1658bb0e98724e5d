//! The methods that a module calls.
//!
//! What is called on is known by its declaration: a field, an argument, a variable that is made of
//! one of those. Whatever another crate's type does with a value of ours (`Vec::iter`,
//! `Option::unwrap`) is taken to give that value again.

use std::collections::{BTreeMap, BTreeSet};

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

use super::paths::{follow, names};
use super::types::{Key, Types, Written};
use super::{Modules, Names, are_for_tests};

/// The files of the methods that a module calls.
pub fn files(modules: &Modules, types: &Types, module: &Names) -> BTreeSet<String> {
    let mut calls = Calls {
        modules,
        types,
        module,
        this: None,
        variables: BTreeMap::new(),
        files: BTreeSet::new(),
    };
    modules[module].code.iter().for_each(|item| calls.visit_item(item));
    calls.files
}

struct Calls<'a> {
    modules: &'a Modules,
    types: &'a Types,
    module: &'a Names,
    /// What `Self` is.
    this: Option<Key>,
    variables: BTreeMap<String, Key>,
    files: BTreeSet<String>,
}

impl Calls<'_> {
    fn written(&self, ty: &syn::Type) -> Option<Key> {
        let (ty, module) = (ty.clone(), self.module.clone());
        self.types.resolve(self.modules, &Written { ty, module, this: self.this.clone() })
    }

    fn resolve(&self, written: Option<&Written>) -> Option<Key> {
        self.types.resolve(self.modules, written?)
    }

    /// The type that a path begins with, and the names after it.
    fn type_of(&self, path: &syn::Path) -> Option<(Key, Names)> {
        let names = names(path);
        if names.first().is_some_and(|name| name == "Self") {
            return Some((self.this.clone()?, names[1..].to_vec()));
        }
        let place = follow(self.modules, self.module, &names)?;
        let key = self.types.at(self.modules, (place.module, place.item?))?;
        Some((key, place.rest))
    }

    /// The type of an expression.
    fn infer(&self, expression: &syn::Expr) -> Option<Key> {
        match expression {
            syn::Expr::Await(of) => self.infer(&of.base),
            syn::Expr::Block(of) => match of.block.stmts.last()? {
                syn::Stmt::Expr(last, None) => self.infer(last),
                _ => None,
            },
            syn::Expr::Call(of) => self.infer_call(of),
            syn::Expr::Field(of) => {
                let base = self.infer(&of.base)?;
                let name = match &of.member {
                    syn::Member::Named(name) => name.to_string(),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                self.resolve(self.types.field(&base, &name))
            }
            syn::Expr::If(of) => match of.then_branch.stmts.last()? {
                syn::Stmt::Expr(last, None) => self.infer(last),
                _ => None,
            },
            syn::Expr::Index(of) => self.infer(&of.expr),
            syn::Expr::Match(of) => of.arms.iter().find_map(|arm| self.infer(&arm.body)),
            syn::Expr::MethodCall(of) => {
                let receiver = self.infer(&of.receiver)?;
                match self.types.method(&receiver, &of.method.to_string()) {
                    Some(method) => self.resolve(method.gives.as_ref()),
                    None => Some(receiver),
                }
            }
            syn::Expr::Paren(of) => self.infer(&of.expr),
            syn::Expr::Path(of) => match of.path.get_ident() {
                Some(name) => self.variables.get(&name.to_string()).cloned(),
                None => self.type_of(&of.path).map(|(key, _)| key),
            },
            syn::Expr::Reference(of) => self.infer(&of.expr),
            syn::Expr::Struct(of) => self.type_of(&of.path).map(|(key, _)| key),
            syn::Expr::Try(of) => self.infer(&of.expr),
            syn::Expr::Unary(of) => self.infer(&of.expr),
            _ => None,
        }
    }

    fn infer_call(&self, call: &syn::ExprCall) -> Option<Key> {
        let syn::Expr::Path(function) = &*call.func else { return None };
        if let Some((key, rest)) = self.type_of(&function.path) {
            let method = rest.first().and_then(|name| self.types.method(&key, name));
            return match method {
                Some(method) => self.resolve(method.gives.as_ref()),
                None => Some(key),
            };
        }
        match follow(self.modules, self.module, &names(&function.path)) {
            Some(place) => self.resolve(self.types.function(&(place.module, place.item?))),
            // `Some`, `Box::new` and others hold what they are given.
            None => self.infer(call.args.first()?),
        }
    }

    /// Notes what the variables of a pattern are, which is matched with a value of type `key`.
    fn bind(&mut self, pattern: &syn::Pat, key: Option<Key>) {
        match pattern {
            syn::Pat::Ident(of) => {
                match key {
                    Some(key) => self.variables.insert(of.ident.to_string(), key),
                    None => self.variables.remove(&of.ident.to_string()),
                };
            }
            syn::Pat::Or(of) => of.cases.iter().for_each(|case| self.bind(case, key.clone())),
            syn::Pat::Paren(of) => self.bind(&of.pat, key),
            syn::Pat::Reference(of) => self.bind(&of.pat, key),
            syn::Pat::Slice(of) => of.elems.iter().for_each(|part| self.bind(part, key.clone())),
            syn::Pat::Struct(of) => {
                let known = self.type_of(&of.path);
                for field in &of.fields {
                    let name = match &field.member {
                        syn::Member::Named(name) => name.to_string(),
                        syn::Member::Unnamed(index) => index.index.to_string(),
                    };
                    self.bind(&field.pat, self.field(known.as_ref(), &name));
                }
            }
            syn::Pat::Tuple(of) => of.elems.iter().for_each(|part| self.bind(part, key.clone())),
            syn::Pat::TupleStruct(of) => {
                let known = self.type_of(&of.path);
                for (i, part) in of.elems.iter().enumerate() {
                    // `Some`, `Ok` and others hold what is matched.
                    let held = match &known {
                        Some(_) => self.field(known.as_ref(), &i.to_string()),
                        None => key.clone(),
                    };
                    self.bind(part, held);
                }
            }
            syn::Pat::Type(of) => {
                let key = self.written(&of.ty);
                self.bind(&of.pat, key);
            }
            _ => {}
        }
    }

    /// The type of a field of a struct, or of a variant that the path after an enum names.
    fn field(&self, of: Option<&(Key, Names)>, name: &str) -> Option<Key> {
        let (key, rest) = of?;
        let variant = rest.first().map(|variant| format!("{variant}.")).unwrap_or_default();
        self.resolve(self.types.field(key, &format!("{variant}{name}")))
    }

    /// Visits what has variables of its own.
    fn within(&mut self, visit: impl FnOnce(&mut Self)) {
        let outside = self.variables.clone();
        visit(self);
        self.variables = outside;
    }

    fn arguments(&mut self, signature: &syn::Signature) {
        self.variables.clear();
        for argument in &signature.inputs {
            match argument {
                syn::FnArg::Receiver(_) => {
                    self.variables.extend(self.this.clone().map(|this| ("self".into(), this)));
                }
                syn::FnArg::Typed(of) => {
                    let key = self.written(&of.ty);
                    self.bind(&of.pat, key);
                }
            }
        }
    }

    /// Visits a closure whose arguments are of a type that only the caller knows.
    fn closure(&mut self, closure: &syn::ExprClosure, given: Option<&Key>) {
        self.within(|calls| {
            closure.inputs.iter().for_each(|input| calls.bind(input, given.cloned()));
            calls.visit_expr(&closure.body);
        });
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        self.this = self.written(&item.self_ty);
        visit::visit_item_impl(self, item);
        self.this = None;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.within(|calls| {
            calls.arguments(&item.sig);
            calls.visit_block(&item.block);
        });
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !are_for_tests(&item.attrs) {
            self.within(|calls| {
                calls.arguments(&item.sig);
                calls.visit_block(&item.block);
            });
        }
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.within(|calls| visit::visit_block(calls, block));
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        let key = local.init.as_ref().and_then(|init| self.infer(&init.expr));
        self.bind(&local.pat, key);
    }

    fn visit_expr_let(&mut self, of: &'ast syn::ExprLet) {
        visit::visit_expr_let(self, of);
        let key = self.infer(&of.expr);
        self.bind(&of.pat, key);
    }

    fn visit_expr_if(&mut self, of: &'ast syn::ExprIf) {
        self.within(|calls| visit::visit_expr_if(calls, of));
    }

    fn visit_expr_for_loop(&mut self, of: &'ast syn::ExprForLoop) {
        self.visit_expr(&of.expr);
        self.within(|calls| {
            let key = calls.infer(&of.expr);
            calls.bind(&of.pat, key);
            calls.visit_block(&of.body);
        });
    }

    fn visit_expr_match(&mut self, of: &'ast syn::ExprMatch) {
        self.visit_expr(&of.expr);
        let key = self.infer(&of.expr);
        for arm in &of.arms {
            self.within(|calls| {
                calls.bind(&arm.pat, key.clone());
                visit::visit_arm(calls, arm);
            });
        }
    }

    fn visit_expr_closure(&mut self, of: &'ast syn::ExprClosure) {
        self.closure(of, None);
    }

    fn visit_expr_method_call(&mut self, of: &'ast syn::ExprMethodCall) {
        let receiver = self.infer(&of.receiver);
        let method =
            receiver.as_ref().and_then(|key| self.types.method(key, &of.method.to_string()));
        self.files.extend(method.map(|method| method.file.clone()));
        self.visit_expr(&of.receiver);
        for argument in &of.args {
            match argument {
                syn::Expr::Closure(closure) => self.closure(closure, receiver.as_ref()),
                argument => self.visit_expr(argument),
            }
        }
    }

    fn visit_expr_path(&mut self, of: &'ast syn::ExprPath) {
        if let Some((key, rest)) = self.type_of(&of.path)
            && let Some(method) = rest.first().and_then(|name| self.types.method(&key, name))
        {
            self.files.insert(method.file.clone());
        }
    }

    fn visit_macro(&mut self, of: &'ast syn::Macro) {
        let parser = Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(arguments) = parser.parse2(of.tokens.clone()) {
            arguments.iter().for_each(|argument| self.visit_expr(argument));
        }
    }
}
