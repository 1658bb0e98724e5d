//! What is refused when a module is loaded, and with which message.

use ratewire_units::Bytes;
use ratewire_wasm::{Limits, LoadError, Module};

const MEMORY: &str = r#"(memory (export "memory") 1)"#;
const ABI: &str = r#"(func (export "ratewire_abi") (result i32) i32.const 1)"#;
const MEMBERS: &str = r#"(func (export "members") (param i32) (result i32) i32.const 0)"#;
const ROUTE: &str = r#"(func (export "route") (param i64 i32 i32) (result i32) i32.const 0)"#;

fn load(parts: &[&str]) -> Result<Module, LoadError> {
    Module::load(format!("(module {})", parts.concat()).as_bytes())
}

/// The message of a refusal, which must contain these words.
fn refused(parts: &[&str], words: &[&str]) {
    told(load(parts), words);
}

fn told(result: Result<Module, LoadError>, words: &[&str]) {
    let message = result.expect_err("a refusal").to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in {message:?}");
    }
}

#[test]
fn the_least_module_loads() {
    let module = load(&[MEMORY, ABI, MEMBERS, ROUTE]).expect("a module");
    assert_eq!((module.wants(), module.limits()), (0, Limits::default()));
}

#[test]
fn each_missing_export_is_named() {
    refused(&[ABI, MEMBERS, ROUTE], &["`memory`", "export"]);
    refused(&[MEMORY, MEMBERS, ROUTE], &["`ratewire_abi() -> i32`", "export_name"]);
    refused(&[MEMORY, ABI, ROUTE], &["`members(i32) -> i32`"]);
    refused(&[MEMORY, ABI, MEMBERS], &["`route(i64, i32, i32) -> i32`"]);
    let global = r#"(global (export "route") i32 (i32.const 1))"#;
    refused(&[MEMORY, ABI, MEMBERS, global], &["`route(i64, i32, i32) -> i32`"]);
    let wants = r#"(func (export "wants") (result i32) i32.const 8)"#;
    refused(&[MEMORY, ABI, MEMBERS, ROUTE, wants], &["`frame(i32) -> i32`"]);
}

#[test]
fn other_signatures_are_refused_even_of_what_is_optional() {
    let short = r#"(func (export "route") (param i32 i32 i32) (result i32) i32.const 0)"#;
    refused(&[MEMORY, ABI, MEMBERS, short], &["`route(i64, i32, i32) -> i32`", "long long"]);
    let frame = r#"(func (export "frame") (param i64) (result i32) i32.const 0)"#;
    refused(&[MEMORY, ABI, MEMBERS, ROUTE, frame], &["`frame(i32) -> i32`"]);
}

#[test]
fn imports_are_refused() {
    let import = r#"(import "env" "clock" (func (result i64)))"#;
    refused(&[import, MEMORY, ABI, MEMBERS, ROUTE], &["`env.clock`", "define it in the module"]);
    let memory = r#"(import "env" "memory" (memory 1)) (export "memory" (memory 0))"#;
    refused(&[memory, ABI, MEMBERS, ROUTE], &["`env.memory`", "--import-memory"]);
}

#[test]
fn a_memory_that_is_too_large_is_refused() {
    let large = r#"(memory (export "memory") 17)"#;
    refused(&[large, ABI, MEMBERS, ROUTE], &["1114112 bytes", "1048576", "stack-size"]);
    let text = format!("(module {MEMORY}{ABI}{MEMBERS}{ROUTE})");
    let limits = Limits { memory: Bytes::new(65_535), ..Limits::default() };
    told(Module::load_with(text.as_bytes(), limits), &["65536 bytes", "65535"]);
}

#[test]
fn what_is_not_webassembly_is_refused() {
    told(Module::load(b""), &["not WebAssembly", "wasm32"]);
    told(Module::load(b"\x7fELF\x02\x01\x01"), &["not WebAssembly"]);
    told(Module::load(b"return 1"), &["not WebAssembly"]);
    told(Module::load(b"(module\n (func $a (export \"a\") lost))"), &["2:", "lost"]);
    told(Module::load(b"\0asm\x01\0\0\0\xff"), &["not valid"]);
    told(Module::load(&vec![b' '; 300_000]), &["300000 bytes", "262144"]);
}

#[test]
fn features_beyond_plain_wasm32_are_refused() {
    let wide = r#"(memory (export "memory") i64 1)"#;
    refused(&[wide, ABI, MEMBERS, ROUTE], &["not valid", "64-bit memory"]);
    let second = "(memory 1)";
    refused(&[MEMORY, second, ABI, MEMBERS, ROUTE], &["memor"]);
    let vector = "(func (drop (v128.const i64x2 0 0)))";
    refused(&[MEMORY, vector, ABI, MEMBERS, ROUTE], &["not valid", "SIMD"]);
}

#[test]
fn a_first_call_that_fails_is_told() {
    let abi = r#"(func (export "ratewire_abi") (result i32) i32.const 2)"#;
    refused(&[MEMORY, abi, MEMBERS, ROUTE], &["returns 2", "version 1"]);
    for (bytes, text) in [("4097", "4097"), ("-1", "-1")] {
        let wants = format!(r#"(func (export "wants") (result i32) i32.const {bytes})"#);
        refused(&[MEMORY, ABI, MEMBERS, ROUTE, &wants], &[text, "0 to 4096"]);
    }
    let members = r#"(func (export "members") (param i32) (result i32) i32.const 65513)"#;
    refused(&[MEMORY, ABI, members, ROUTE], &["`members`", "65513", "24 bytes", "65536"]);
    let endless = "(func $endless (loop $again (br $again))) (start $endless)";
    refused(&[MEMORY, endless, ABI, MEMBERS, ROUTE], &["`start` uses up its fuel"]);
    let trap = "(func $trap unreachable) (start $trap)";
    refused(&[MEMORY, trap, ABI, MEMBERS, ROUTE], &["`start` traps", "unreachable"]);
    let table = "(table 5000 funcref)";
    refused(&[MEMORY, table, ABI, MEMBERS, ROUTE], &["`start` traps", "table"]);
}
