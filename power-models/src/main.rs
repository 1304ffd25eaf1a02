// SPDX-License-Identifier: GPL-2.0-or-later
//! Derives energy per event, leakage and area of a core type with McPAT.

mod core;
mod derive;
mod design;
mod ffi;
mod layout;
mod memory;
mod report;
mod runner;
mod scaling;
mod statistics;
mod xml;

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use crate::layout::Layout;

const USAGE: &str = "usage: power-models derive CORES_DIR ANCHORS_TOML OUT_DIR CORE...   \
    energies, leakage and area of each CORE at its design point\n       \
    power-models voltages CORES_DIR ANCHORS_TOML OUT_DIR CORE...   \
    the scaling law against direct runs\n       \
    power-models temperatures CORES_DIR OUT_DIR CORE   leakage by temperature\n       \
    power-models memory CORES_DIR OUT_DIR CORE   the memory controller, derived with CORE\n       \
    power-models mcpat [--opt-for-clk | --note-layout FILE | --keep-layout FILE] XML \
    [COUNTS_XML...]   McPAT's own report\n       \
    power-models report XML   the same, but every message that means failure is an error\n\
    example: cargo run --release -- derive ../configs/cores anchors.toml derived cortex-a53";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["--help" | "-h" | "help"] => {
            println!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        ["derive", cores, anchors, out, names @ ..] if !names.is_empty() => {
            names.iter().try_for_each(|name| {
                derive::run(Path::new(cores), Path::new(anchors), Path::new(out), name)
            })
        }
        ["voltages", cores, anchors, out, names @ ..] if !names.is_empty() => {
            names.iter().try_for_each(|name| {
                scaling::voltages(Path::new(cores), Path::new(anchors), Path::new(out), name)
            })
        }
        ["temperatures", cores, out, name] => {
            scaling::temperatures(Path::new(cores), Path::new(out), name)
        }
        ["memory", cores, out, name] => memory::run(Path::new(cores), Path::new(out), name),
        ["report", xml] => runner::reports(Path::new(xml), &[], &Layout::Best)
            .map(|reports| print!("{}", reports[0])),
        ["mcpat", "--opt-for-clk", base, counts @ ..] => mcpat(base, counts, true),
        ["mcpat", "--note-layout", file, base, counts @ ..] => {
            layout::note();
            mcpat(base, counts, false).and_then(|()| {
                std::fs::write(file, layout::noted()).map_err(|error| format!("{file}: {error}"))
            })
        }
        ["mcpat", "--keep-layout", file, base, counts @ ..] => {
            layout::keep(Path::new(file)).and_then(|()| mcpat(base, counts, false))
        }
        ["mcpat", base, counts @ ..] => mcpat(base, counts, false),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("power-models: {message}");
            ExitCode::FAILURE
        }
    }
}

fn mcpat(base: &str, counts: &[&str], opt_for_clk: bool) -> Result<(), String> {
    let counts: Vec<&OsStr> = counts.iter().map(OsStr::new).collect();
    ffi::print_reports(OsStr::new(base), &counts, opt_for_clk)
}
