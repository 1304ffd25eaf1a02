// SPDX-License-Identifier: GPL-2.0-or-later
//! From a core's description to its energies, leakage and area: `derived/NAME.json`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{json, Map, Value};
use sha2::{Digest, Sha256};

use crate::core::Core;
use crate::design::Design;
use crate::layout::Layout;
use crate::report::{self, Component};
use crate::runner;
use crate::statistics::{Counts, CYCLES, STATISTICS};
use crate::xml;

/// The event that stands for one cycle in which the core's clock runs.
const CYCLE: &str = "core.cycles";
/// Events per cycle in a report of one event: so many that the cycles do not cost it digits.
const PER_CYCLE: u64 = 100;
/// Largest relative difference between a direct run and the sum over its events.
const LINEARITY: f64 = 1e-4;
/// Parts of an energy smaller than this share are rounding of McPAT's six digits.
const ROUNDING: f64 = 2e-5;

/// Energy in pJ by component path.
type Energies = BTreeMap<String, f64>;

/// Derive `name` and write `OUT/name.json`.
pub fn run(cores: &Path, anchors: &Path, out: &Path, name: &str) -> Result<(), String> {
    let core = Core::load(cores, name)?;
    let design = Design::of(anchors, name)?;
    let work = Scratch::new(name)?;
    let base = xml::describe(&core, &design, 1, 1, &Counts::new())?;

    let names: Vec<String> = STATISTICS
        .iter()
        .flat_map(|(unit, stats)| stats.iter().map(move |stat| format!("{unit}.{stat}")))
        .collect();
    let base_file = work.write("base", &base.xml)?;
    let mut files = vec![base_file.clone()];
    for event in &names {
        let counts = Counts::from([(event.clone(), CYCLES * PER_CYCLE)]);
        files.push(work.write(event, &xml::describe(&core, &design, 1, 1, &counts)?.xml)?);
    }
    let files: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    let reports = runner::reports(&base_file, &files, &Layout::Best)?;

    let cycle = energies_of(&powers(&reports[0])?, 1);
    let mut energies = BTreeMap::from([(CYCLE.to_owned(), cycle)]);
    let mut without_effect = Vec::new();
    // The second report is of the base once more: what each of the others has besides its event.
    let common = powers(&reports[1])?;
    for (event, text) in names.iter().zip(&reports[2..]) {
        let mut above = powers(text)?;
        for (path, power) in &mut above {
            *power -= common.get(path).copied().unwrap_or(0.0);
        }
        let energy = energies_of(&above, PER_CYCLE);
        if energy.is_empty() {
            without_effect.push(event.clone());
        } else {
            energies.insert(event.clone(), energy);
        }
    }

    let cluster = direct(&core, &design, &mixed(&energies), &Layout::Best, &work)?;
    let linearity = linearity(&core, &energies, &cluster)?;
    let document = json!({
        "schema": 1,
        "core": name,
        "provenance": provenance(&core, name, &base.xml),
        "design": design.to_json(),
        "adapted": base.adapted,
        "l2": { "scope": core.l2_scope, "cpus": core.l2_cpus, "size_kib": core.l2.size_kib },
        "energy_pj": to_json(&energies),
        "without_effect": without_effect,
        "components": components(&cluster),
        "linearity": linearity,
    });
    write(&out.join(format!("{name}.json")), &document)
}

/// Write `document` as JSON that ends with a line break.
pub fn write(path: &Path, document: &Value) -> Result<(), String> {
    let text = serde_json::to_string_pretty(document).map_err(|error| error.to_string())?;
    std::fs::write(path, text + "\n").map_err(|error| format!("{}: {error}", path.display()))
}

/// A run of the cluster with its L2 as it is, with `counts` in all: its components.
pub fn direct(
    core: &Core,
    design: &Design,
    counts: &Counts,
    layout: &Layout,
    work: &Scratch,
) -> Result<Vec<Component>, String> {
    let xml = xml::describe(core, design, core.l2_cpus, 1, counts)?.xml;
    let reports = runner::reports(&work.write("direct", &xml)?, &[], layout)?;
    let mut roots = report::parse(&reports[0])?;
    // A private L2 is printed as a part of its core: make it a sibling of the core.
    if let Some(at) = roots[0].parts.iter().position(|part| part.name == "L2") {
        let l2 = roots[0].parts.remove(at);
        let core = &mut roots[0];
        core.area_mm2 -= l2.area_mm2;
        core.subthreshold_w -= l2.subthreshold_w;
        core.gate_w = Some(core.gate() - l2.gate());
        core.dynamic_w -= l2.dynamic_w;
        roots.push(l2);
    }
    if roots.len() != 2 || roots[0].name != "Core" || roots[1].name != "L2" {
        let names: Vec<&str> = roots.iter().map(|root| root.name.as_str()).collect();
        return Err(format!("{}: McPAT reports {names:?}: expected Core, L2", core.name));
    }
    Ok(roots)
}

/// Counts in which every event has another number, so that no two can be taken for one another.
pub fn mixed(energies: &BTreeMap<String, Energies>) -> Counts {
    let events = energies.keys().filter(|event| *event != CYCLE);
    events
        .enumerate()
        .map(|(index, event)| (event.clone(), 100_000 + 7_919 * index as u64))
        .collect()
}

/// Own run-time power in mW by component. 1 ms and 1e6 cycles: 1 mW is 1 pJ a cycle.
fn powers(text: &str) -> Result<Energies, String> {
    let mut powers = Energies::new();
    for root in report::parse(text)? {
        root.walk("", &mut |path, component| {
            let path = path.strip_prefix("Core/").unwrap_or(path);
            powers.insert(path.to_owned(), component.own_dynamic() * 1e3);
        });
    }
    Ok(powers)
}

/// Energy of one event in pJ by component, where it is more than McPAT's rounding to six digits.
fn energies_of(powers: &Energies, per_cycle: u64) -> Energies {
    let total: f64 = powers.values().sum::<f64>().abs();
    let floor = (total * ROUNDING).max(ROUNDING * 100.0);
    let parts = powers.iter().filter(|(_, power)| power.abs() > floor);
    parts.map(|(path, power)| (path.clone(), power / per_cycle as f64)).collect()
}

/// The sum over events against the direct run, which must agree.
fn linearity(
    core: &Core,
    energies: &BTreeMap<String, Energies>,
    cluster: &[Component],
) -> Result<Value, String> {
    let counts = mixed(energies);
    let cycles = CYCLES * u64::from(core.l2_cpus);
    let (mut in_core, mut in_l2) = (0.0, 0.0);
    for (event, parts) in energies {
        let count = counts.get(event).copied().unwrap_or(cycles) as f64;
        for (path, pj) in parts {
            let sum = if path == "L2" { &mut in_l2 } else { &mut in_core };
            *sum += count * pj * 1e-9;
        }
    }
    let row = |predicted: f64, direct: f64| {
        let error = predicted / direct - 1.0;
        if error.abs() > LINEARITY {
            return Err(format!(
                "{}: not linear: {predicted} W over events, {direct} W direct",
                core.name
            ));
        }
        Ok(json!({
            "predicted_w": digits(predicted), "direct_w": direct,
            "error": format!("{error:.1e}"),
        }))
    };
    Ok(json!({
        "counts": "100000 + 7919 k for the k-th event by name",
        "core": row(in_core, cluster[0].dynamic_w)?,
        "l2": row(in_l2, cluster[1].dynamic_w)?,
    }))
}

/// Area and leakage of one core and its L2, by component, with the part of the stack it is in.
fn components(cluster: &[Component]) -> Value {
    let mut rows = Map::new();
    for root in cluster {
        root.walk("", &mut |path, component| {
            let path = path.strip_prefix("Core/").unwrap_or(path);
            rows.insert(
                path.to_owned(),
                json!({
                    "part": part(path),
                    "leaf": component.parts.is_empty(),
                    "area_mm2": digits(component.area_mm2),
                    "subthreshold_w": digits(component.subthreshold_w),
                    "gate_w": digits(component.gate()),
                }),
            );
        });
    }
    Value::Object(rows)
}

/// The part of the energy stack that a component belongs to.
fn part(path: &str) -> &'static str {
    let unit = path.split('/').next().unwrap_or(path);
    match unit {
        "L2" => "l2",
        "Execution Unit" => "execution",
        "Load Store Unit" if path.ends_with("Data Cache") => "l1",
        "Load Store Unit" | "Memory Management Unit" => "load_store",
        "Instruction Fetch Unit" if path.ends_with("Instruction Cache") => "l1",
        "Instruction Fetch Unit" | "Renaming Unit" => "front_end",
        _ => "core",
    }
}

fn to_json(energies: &BTreeMap<String, Energies>) -> Value {
    let mut events = Map::new();
    for (event, parts) in energies {
        let parts: Map<String, Value> =
            parts.iter().map(|(path, pj)| (path.clone(), json!(digits(*pj)))).collect();
        events.insert(event.clone(), Value::Object(parts));
    }
    Value::Object(events)
}

fn provenance(core: &Core, name: &str, xml: &str) -> Value {
    json!({
        "mcpat": "1.3 (Feb, 2015) with CACTI-P, as packed in the crate mcpat-sys 0.8.0",
        "command": format!(
            "power-models derive configs/cores power-models/anchors.toml power-models/derived {name}"
        ),
        "core_file": format!("configs/cores/{name}.toml"),
        "inputs": core.inputs(),
        "description_sha256": sha256(xml),
    })
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `value` with the six digits that McPAT's figures have.
pub fn digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().expect("a formatted number parses")
}

/// A folder for McPAT's input files, removed at the end.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Result<Scratch, String> {
        let path = std::env::temp_dir().join(format!("power-models-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Scratch(path))
    }

    /// Where a file of `name` stands in the folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.0.join(format!("{name}.xml"));
        std::fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{digits, part};

    #[test]
    fn figures_keep_six_digits() {
        assert_eq!(digits(0.123_456_789), 0.123_457);
        assert_eq!(digits(-81.98), -81.98);
        assert_eq!(digits(0.0), 0.0);
    }

    #[test]
    fn every_component_has_its_part() {
        assert_eq!(part("Instruction Fetch Unit/Instruction Cache"), "l1");
        assert_eq!(part("Instruction Fetch Unit/Branch Predictor/RAS"), "front_end");
        assert_eq!(part("Load Store Unit/StoreQ"), "load_store");
        assert_eq!(part("Execution Unit"), "execution");
        assert_eq!(part("L2"), "l2");
    }
}
