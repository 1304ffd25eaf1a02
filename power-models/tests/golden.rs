// SPDX-License-Identifier: GPL-2.0-or-later
//! McPAT's own examples give McPAT's own results, byte for byte.
//!
//! The examples and their results are in the packed source of `mcpat-sys`.

use std::path::PathBuf;
use std::process::Command;

/// What the executable prints before its report; the report alone comes from the library.
const GREETING: &str = "McPAT (version 1.3 of Feb, 2015) is computing the target processor...\n \n";

/// The folder of McPAT's source in the crate, as cargo unpacked it.
fn mcpat_source() -> PathBuf {
    // Of this host alone: what other hosts would need was not downloaded.
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform"])
        .arg(host)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo metadata runs");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("cargo metadata prints JSON");
    let manifest = metadata["packages"]
        .as_array()
        .expect("a list of packages")
        .iter()
        .find(|package| package["name"] == "mcpat-sys")
        .and_then(|package| package["manifest_path"].as_str())
        .expect("mcpat-sys is a dependency");
    PathBuf::from(manifest).with_file_name("build").join("source")
}

fn reproduces(example: &str) {
    let source = mcpat_source();
    let input = source.join("ProcessorDescriptionFiles").join(format!("{example}.xml"));
    let expected = std::fs::read(source.join("ExampleResults").join(example)).expect("a result");
    let output = Command::new(env!("CARGO_BIN_EXE_power-models"))
        .args(["mcpat", "--opt-for-clk"])
        .arg(input)
        .output()
        .expect("power-models runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let got = [GREETING.as_bytes(), &output.stdout].concat();
    if got != expected {
        let (got, expected) = (String::from_utf8_lossy(&got), String::from_utf8_lossy(&expected));
        let differing = got.lines().zip(expected.lines()).find(|(ours, theirs)| ours != theirs);
        panic!("{example}: first difference: {differing:?}");
    }
}

#[test]
fn arm_a9_is_reproduced() {
    reproduces("ARM_A9_2GHz");
}

#[test]
fn alpha_21364_is_reproduced() {
    reproduces("Alpha21364");
}

/// A run that keeps a noted layout is the run that noted it, and no other layout fits.
#[test]
fn a_noted_layout_is_kept() {
    let example = mcpat_source().join("ProcessorDescriptionFiles").join("ARM_A9_2GHz.xml");
    let file = std::env::temp_dir().join(format!("power-models-layout-{}.txt", std::process::id()));
    let run = |option: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_power-models"))
            .args(["mcpat", option])
            .args([&file, &example])
            .output()
            .expect("power-models runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let noted = run("--note-layout");
    assert!(noted.contains("\nProcessor:"), "{noted}");
    assert_eq!(run("--keep-layout"), noted);
    let layout = std::fs::read_to_string(&file).expect("the layout");
    let longest = layout.lines().max_by_key(|line| line.len()).expect("an array");
    let impossible = layout.replace(longest, "0.125,3,3,3,3,3 0.125,3,3,3,3,3");
    std::fs::write(&file, impossible).expect("a file");
    let refused = run("--keep-layout");
    std::fs::remove_file(&file).expect("the file goes");
    assert!(refused.contains("ERROR: no valid"), "{refused}");
    assert!(!refused.contains("\nProcessor:"), "{refused}");
}

/// A description that McPAT refuses with exit status 0 is an error with one line.
#[test]
fn a_refused_description_is_one_line() {
    let example = mcpat_source().join("ProcessorDescriptionFiles").join("ARM_A9_2GHz.xml");
    let text = std::fs::read_to_string(example).expect("the example");
    let wrong =
        text.replace("name=\"temperature\" value=\"340\"", "name=\"temperature\" value=\"335\"");
    assert_ne!(text, wrong);
    let file = std::env::temp_dir().join(format!("power-models-golden-{}.xml", std::process::id()));
    std::fs::write(&file, wrong).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_power-models"))
        .arg("report")
        .arg(&file)
        .output()
        .expect("power-models runs");
    std::fs::remove_file(&file).expect("the file goes");
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("Temperature must be between"), "{message}");
}

/// A missing figure is named with its file.
#[test]
fn a_missing_figure_is_one_line() {
    let output = Command::new(env!("CARGO_BIN_EXE_power-models"))
        .args(["derive", "/nonexistent", "/nonexistent", "/nonexistent", "cortex-a53"])
        .output()
        .expect("power-models runs");
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.starts_with("power-models: /nonexistent/cortex-a53.toml: "), "{message}");
    assert_eq!(message.lines().count(), 1);
}
