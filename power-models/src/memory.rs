// SPDX-License-Identifier: GPL-2.0-or-later
//! McPAT's memory controller: power that is always spent, energy of an access, leakage.
//!
//! McPAT computes a controller only together with a core, so there is one; its figures are not used.

use std::path::Path;

use serde_json::{json, Map, Value};

use crate::core::Core;
use crate::derive::{digits, write, Scratch};
use crate::design::{Design, DESIGN};
use crate::layout::Layout;
use crate::report::{self, Component};
use crate::runner;
use crate::statistics::{Counts, CYCLES};
use crate::xml;

/// One 64-bit channel of DDR3-1600, what gem5's machine has (`engines/gem5/settings.py`).
const PARAMETERS: [(&str, u32, &str); 13] = [
    ("type", 1, "low power"),
    ("mc_clock", 800, "MHz"),
    ("peak_transfer_rate", 12_800, "MB/s"),
    ("block_size", 64, "bytes of an access: a cache line"),
    ("number_mcs", 1, "controllers"),
    ("memory_channels_per_mc", 1, "channels"),
    ("number_ranks", 1, "ranks"),
    ("req_window_size_per_channel", 32, "entries, McPAT's example of a low-power controller"),
    ("IO_buffer_size_per_channel", 32, "entries, likewise"),
    ("databus_width", 64, "bits"),
    ("addressbus_width", 51, "bits, likewise"),
    ("LVDS", 0, "single-ended signals"),
    ("withPHY", 1, "the pads' drivers are in it"),
];
/// Accesses of each kind in a report: 1 uW each is 1 pJ at 1e3 a millisecond.
const ACCESSES: u64 = 1_000_000;
/// What the description of a machine without a controller says.
const ABSENT: &str = "<param name=\"number_mcs\" value=\"0\"/>";

/// Derive the controller and write `OUT/memory/ddr3-1600.json`.
pub fn run(cores: &Path, out: &Path, carrier: &str) -> Result<(), String> {
    let core = Core::load(cores, carrier)?;
    let work = Scratch::new("memory-controller")?;
    let base = xml::describe(&core, &DESIGN, 1, 1, &Counts::new())?.xml;
    let report = |name: &str, reads: u64, writes: u64| {
        let file = work.write(name, &with_controller(&base, &DESIGN, reads, writes)?)?;
        controller(&runner::reports(&file, &[], &Layout::Best)?[0])
    };
    let (idle, reading, writing) =
        (report("idle", 0, 0)?, report("reads", ACCESSES, 0)?, report("writes", 0, ACCESSES)?);
    let both = report("both", ACCESSES, ACCESSES)?;
    let predicted = reading.dynamic_w + writing.dynamic_w - idle.dynamic_w;
    let error = predicted / both.dynamic_w - 1.0;
    if error.abs() > 1e-4 {
        return Err(format!("memory controller: not linear: {predicted} W for {both:?}"));
    }
    // 1e6 cycles at 1 GHz: 1 ms.
    let seconds = CYCLES as f64 / (f64::from(DESIGN.clock_mhz) * 1e6);
    let per_access = |busy: &Component| {
        let pj = |busy: &Component, idle: &Component| {
            digits((busy.dynamic_w - idle.dynamic_w) * seconds / ACCESSES as f64 * 1e12)
        };
        let parts = busy.parts.iter().zip(&idle.parts);
        Value::Object(
            parts.map(|(busy, idle)| (busy.name.clone(), json!(pj(busy, idle)))).collect(),
        )
    };
    let parameters: Map<String, Value> = PARAMETERS
        .iter()
        .map(|(name, value, meaning)| {
            ((*name).to_owned(), json!({ "value": value, "meaning": meaning }))
        })
        .collect();
    let document = json!({
        "schema": 1,
        "provenance": {
            "mcpat": "1.3 (Feb, 2015) with CACTI-P, as packed in the crate mcpat-sys 0.8.0",
            "command": format!(
                "power-models memory configs/cores power-models/derived {carrier}"
            ),
            "parameters": parameters,
        },
        "design": DESIGN.to_json(),
        "routine_w": digits(idle.dynamic_w),
        "routine": "spent without any access: McPAT takes a tenth of peak power for it",
        "read_pj": per_access(&reading),
        "write_pj": per_access(&writing),
        "subthreshold_w": digits(idle.subthreshold_w),
        "gate_w": digits(idle.gate()),
        "area_mm2": digits(idle.area_mm2),
        "linearity_error": format!("{error:.1e}"),
    });
    let folder = out.join("memory");
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    write(&folder.join("ddr3-1600.json"), &document)
}

/// `base` with a controller that had so many accesses.
fn with_controller(base: &str, design: &Design, reads: u64, writes: u64) -> Result<String, String> {
    if base.matches(ABSENT).count() != 1 {
        return Err("memory controller: no place for it in the description".to_owned());
    }
    let mut text = String::new();
    for (name, value, _) in PARAMETERS {
        text += &format!("<param name=\"{name}\" value=\"{value}\"/>\n");
    }
    text += &format!("<param name=\"vdd\" value=\"{}\"/>\n", design.vdd);
    for (name, value) in
        [("memory_accesses", reads + writes), ("memory_reads", reads), ("memory_writes", writes)]
    {
        text += &format!("<stat name=\"{name}\" value=\"{value}\"/>\n");
    }
    Ok(base.replace(ABSENT, &text))
}

/// The controller in a report.
fn controller(text: &str) -> Result<Component, String> {
    let mut roots = report::parse(text)?;
    let at = roots
        .iter()
        .position(|root| root.name == "Memory Controller")
        .ok_or("memory controller: McPAT reports none")?;
    Ok(roots.swap_remove(at))
}

#[cfg(test)]
mod tests {
    use super::{with_controller, ABSENT};
    use crate::design::DESIGN;

    #[test]
    fn the_controller_takes_the_empty_ones_place() {
        let text = with_controller(ABSENT, &DESIGN, 3, 4).unwrap();
        assert!(!text.contains(ABSENT));
        assert!(text.contains("<stat name=\"memory_accesses\" value=\"7\"/>"));
        assert!(with_controller("", &DESIGN, 0, 0).is_err());
    }
}
