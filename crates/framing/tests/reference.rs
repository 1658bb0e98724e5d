//! Holds `docs/reference/framings.md` to what the framings do.

use std::path::{Path, PathBuf};

use bytes::BytesMut;
use ratewire_framing::{Framing, Requests, Route, fuzzing, list};
use ratewire_testing::first_cells;

const PAGE: &str = include_str!("../../../docs/reference/framings.md");

/// Who answers a request on a line.
fn route(framing: &str, line: &str) -> Route {
    let mut requests = Requests::new(Framing::named(framing).unwrap(), 1000);
    let mut buffer = BytesMut::from(&*format!("{line}\r\n"));
    requests.next(&mut buffer).unwrap().unwrap_or_else(|| panic!("{line} is not complete")).route
}

fn local(framing: &str, line: &str) -> String {
    match route(framing, line) {
        Route::Local(answer) => String::from_utf8(answer.to_vec()).unwrap(),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn the_documentation_lists_every_framing() {
    let rows = first_cells(PAGE, "| framing | a request | routing key |");
    let names: Vec<&str> = list().map(|framing| framing.name()).collect();
    assert_eq!(
        rows, names,
        "docs/reference/framings.md: a row a framing, in the order of REGISTRY"
    );
    for name in names {
        let has = PAGE.contains(&format!("\n## {name}\n"));
        assert!(has, "docs/reference/framings.md has no section ## {name}");
    }
}

/// Names of files in a corpus begin with that of their framing.
#[test]
fn the_corpora_have_every_framing() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for corpus in ["framing_requests", "framing_answers"] {
        let files = std::fs::read_dir(corpora.join(corpus)).expect("the corpus");
        let files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
        let starts: Vec<(String, Framing)> =
            list().map(|framing| (framing.name().replace('-', "_") + "_", framing)).collect();
        for (start, framing) in &starts {
            let name = |file: &&PathBuf| file.file_name().unwrap().to_string_lossy().into_owned();
            let own: Vec<&PathBuf> =
                files.iter().filter(|file| name(file).starts_with(start)).collect();
            assert!(!own.is_empty(), "fuzz/corpus/{corpus} has no file {start}...");
            for file in own {
                let first = std::fs::read(file).expect("a file")[0];
                let chosen = fuzzing::framing_of(first);
                assert_eq!(
                    chosen,
                    *framing,
                    "{} chooses another framing by its first byte, whose low six bits are the \
                     place in REGISTRY, from 0: a new framing goes to the end of REGISTRY",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn commands_of_redis_are_routed_answered_or_refused_as_the_page_says() {
    let keyed = first_cells(PAGE, "| commands | keys |");
    assert!(keyed.len() > 50, "{keyed:?}");
    for command in keyed {
        // Each has keys in one of these places.
        let arguments =
            ["{k} {k}", "{k} 1 {k}", "1 {k} {k}", "streams {k} 0", "group g c streams {k} 0"];
        let mut routes = arguments.iter().map(|rest| route("resp", &format!("{command} {rest}")));
        assert!(routes.any(|route| matches!(route, Route::Server { .. })), "{command}");
    }
    let several = first_cells(PAGE, "| commands | sent to | answer |");
    assert!(several.len() > 10, "{several:?}");
    for command in several {
        let split = ["", "a b", "a 1 b 2"].map(|rest| route("resp", &format!("{command} {rest}")));
        let is = |route: &Route| matches!(route, Route::Split(..) | Route::All(..));
        assert!(split.iter().any(is), "{command}");
    }
    assert!(matches!(route("resp", "COMMAND COUNT"), Route::Server { key: None, .. }));
    let answered = first_cells(PAGE, "| command | answer |");
    assert!(answered.len() > 10, "{answered:?}");
    for command in answered {
        let arguments = ["", "0", "a", "a b"];
        let mut answers = arguments.iter().map(|rest| local("resp", &format!("{command} {rest}")));
        // These need MULTI in front of them.
        let is_known = |answer: String| {
            !answer.starts_with('-') || answer == format!("-ERR {command} without MULTI\r\n")
        };
        assert!(answers.any(is_known), "{command}");
    }
    let refused = first_cells(PAGE, "| commands | reason | remedy |");
    assert!(refused.len() > 50, "{refused:?}");
    for command in refused {
        let answer = local("resp", &format!("{command} a b"));
        let expected = format!("-ERR {command} is not supported by the gateway: ");
        assert!(answer.starts_with(&expected), "{answer}");
        // What is not known has a remedy of its own.
        assert!(!answer.contains("it is not known"), "{answer}");
    }
}

#[test]
fn commands_of_memcached_are_routed_answered_or_refused_as_the_page_says() {
    let commands = first_cells(PAGE, "| commands | what happens |");
    assert!(commands.len() > 25, "{commands:?}");
    let of_server = commands.iter().position(|command| *command == "stats").unwrap();
    for command in &commands[of_server..] {
        let answer = local("memcached", command);
        assert!(answer.starts_with(&format!("CLIENT_ERROR {command} is not ")), "{answer}");
    }
    for command in &commands[..of_server] {
        let lines = [format!("{command} k 0 0 0\r\n"), format!("{command} k 0 0 0 0\r\n")];
        let lines = lines.into_iter().chain([format!("{command} k 0\r\n"), command.to_string()]);
        let mut requests: Vec<BytesMut> = lines.map(|line| BytesMut::from(&*line)).collect();
        let framing = Framing::named("memcached").unwrap();
        let is_known = requests.iter_mut().any(|buffer| {
            buffer.extend_from_slice(b"\r\n");
            let request = Requests::new(framing, 1000).next(buffer);
            request.is_ok_and(|request| {
                request.is_some_and(|request| request.route != Route::Local("ERROR\r\n".into()))
            })
        });
        assert!(is_known, "{command}");
    }
}
