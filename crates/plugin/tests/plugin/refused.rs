//! Objects that are no laws.

use std::path::Path;

use ratewire_laws::LawSet;

use crate::{SOUND, build, changed, refusal};

#[test]
fn what_is_missing_or_of_another_version_is_named() {
    assert_eq!(refusal("int nothing;\n"), "it exports no `ratewire_law`");
    let null = "#include \"ratewire_law.h\"\nconst struct ratewire_law *ratewire_law(void)\n\
                { return NULL; }\n";
    assert_eq!(refusal(null), "`ratewire_law()` returned NULL");
    let version = changed(".version = RATEWIRE_LAW_VERSION", ".version = 7");
    assert_eq!(refusal(&version), "its table is of version 7, and this is version 2");
    let size = changed(".size = sizeof(struct ratewire_law)", ".size = 8");
    assert!(refusal(&size).starts_with("its table has 8 bytes, and one of this version has "));
    let window = changed("on_timer, window, pace", "on_timer, NULL, pace")
        .replace("static double window(", "double unused(");
    let window = window.replace("double unused(", "double unused(const void *);\ndouble unused(");
    assert_eq!(refusal(&window), "its table lacks source.window");
    let long = changed(".header_length = 4", ".header_length = 33");
    assert_eq!(refusal(&long), "a header of 33 bytes is too long: 32 fit");
    let flags = changed(".flags = RATEWIRE_EQUAL_SHARES", ".flags = 1u << 9");
    assert_eq!(refusal(&flags), "`flags` has bits that mean nothing: 0x200");
    let name = changed(".name = \"sound\"", ".name = \"\\xff\"");
    assert_eq!(refusal(&name), "its table has no `name` in UTF-8");
    let kind = changed("{\"share\", RATEWIRE_NUMBER", "{\"share\", 99");
    assert_eq!(refusal(&kind), "option \"share\" is of the unknown kind 99");
    let range = changed("RATEWIRE_BOTH, 0, 1,", "RATEWIRE_BOTH, 2, 1,");
    assert_eq!(refusal(&range), "option \"share\" has `min` 2 and `max` 1");
    let words = changed("\"slow|fast\"", "NULL");
    assert_eq!(refusal(&words), "option 1 has no `words` in UTF-8");
}

#[test]
fn a_file_that_is_no_object_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.so");
    std::fs::write(&path, "not an object").unwrap();
    let wrong = ratewire_plugin::load(&path).unwrap_err().to_string();
    assert!(wrong.contains("text.so is no law: ") && wrong.contains("file too short"), "{wrong}");
    // Not looked up among the system's libraries.
    let wrong = ratewire_plugin::load(Path::new("libm.so.6")).unwrap_err().to_string();
    assert!(wrong.contains("./libm.so.6: cannot open shared object file"), "{wrong}");
}

#[test]
fn a_law_refuses_options_with_its_own_words() {
    let built = build(SOUND);
    let mut laws = LawSet::default();
    ratewire_plugin::load(&built.object).unwrap().register(&mut laws).unwrap();
    let wrong = laws.make("sound", &[("share", "0")]).unwrap_err().to_string();
    assert!(wrong.contains("nothing to share"), "{wrong}");
    let wrong = laws.make("sound", &[("share", "2")]).unwrap_err().to_string();
    assert!(wrong.contains("allowed is a number from 0 to 1"), "{wrong}");
    let wrong = laws.make("sound", &[("mode", "quick")]).unwrap_err().to_string();
    assert!(wrong.contains("one of \"slow\", \"fast\""), "{wrong}");
    // The name is taken.
    let again = ratewire_plugin::load(&built.object).unwrap().register(&mut laws);
    assert!(again.unwrap_err().to_string().contains("another law has this name"));
}
