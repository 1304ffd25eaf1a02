// SPDX-License-Identifier: GPL-2.0-or-later
//! The law by which the figures of the design point are scaled, against direct runs of McPAT.
//!
//! Dynamic energy goes with V^2, sub-threshold leakage power with V^3 g(T), gate leakage with V. A
//! direct run keeps the layout of the design point; a second one, which McPAT lays out anew, is shown next to it.

use std::path::Path;

use serde_json::{json, Map, Value};

use crate::core::Core;
use crate::derive::{digits, direct, write, Scratch};
use crate::design::{supplies, volts, Design, DESIGN, LOWEST_VDD};
use crate::layout::Layout;
use crate::report::Component;
use crate::statistics::{Counts, CYCLES, STATISTICS};

/// Temperatures that McPAT knows, K.
const TEMPERATURES: [u32; 11] = [300, 310, 320, 330, 340, 350, 360, 370, 380, 390, 400];

/// Scaled and direct figures of `name` at every supply of its published OPPs: `OUT/scaling/name.json`.
pub fn voltages(cores: &Path, anchors: &Path, out: &Path, name: &str) -> Result<(), String> {
    let core = Core::load(cores, name)?;
    let work = Scratch::new(name)?;
    let derived = Derived::load(out, name)?;
    let counts = all_events();
    let base = derived.cluster(&counts, core.l2_cpus)?;
    let at = derived.design()?;
    let layout = work.path("layout");
    direct(&core, &at, &counts, &Layout::Noted(layout.clone()), &work)?;
    let kept = Layout::Kept(layout);
    let mut rows = Vec::new();
    for tenths in supplies(anchors, name)? {
        let vdd = volts(tenths);
        let legal = vdd >= LOWEST_VDD;
        let design = Design { vdd, ..at.clone() };
        let run = |layout| direct(&core, &design, &counts, layout, &work);
        let runs = if legal { Some((run(&kept)?, run(&Layout::Best)?)) } else { None };
        let mut row = Map::from_iter([
            ("vdd_v".to_owned(), json!(vdd)),
            ("extrapolated".to_owned(), json!(!legal)),
        ]);
        for (index, unit) in ["core", "l2"].into_iter().enumerate() {
            let direct = runs.as_ref().map(|(kept, anew)| (&kept[index], &anew[index]));
            row.insert(unit.to_owned(), compare(&base[index], direct, vdd / at.vdd));
        }
        rows.push(Value::Object(row));
    }
    let document = json!({
        "schema": 1,
        "core": name,
        "law": "dynamic V^2, subthreshold V^3, gate V, from the design point",
        "design": at.to_json(),
        "lowest_legal_vdd_v": LOWEST_VDD,
        "voltages": rows,
    });
    write(&out.join("scaling").join(format!("{name}.json")), &document)
}

/// Sub-threshold leakage of `name` by temperature, relative to the design point: `OUT/scaling/g-of-t.json`.
pub fn temperatures(cores: &Path, out: &Path, name: &str) -> Result<(), String> {
    let core = Core::load(cores, name)?;
    let work = Scratch::new(name)?;
    let counts = all_events();
    let derived = Derived::load(out, name)?;
    let base = derived.cluster(&counts, core.l2_cpus)?;
    let at = derived.design()?;
    let mut rows = Vec::new();
    for temperature_k in TEMPERATURES {
        let design = Design { temperature_k, ..at.clone() };
        let run = direct(&core, &design, &counts, &Layout::Best, &work)?;
        rows.push(json!({
            "temperature_k": temperature_k,
            "core": digits(run[0].subthreshold_w / base[0].subthreshold_w),
            "l2": digits(run[1].subthreshold_w / base[1].subthreshold_w),
            "gate": digits(run[0].gate() / base[0].gate()),
            "dynamic": digits(run[0].dynamic_w / base[0].dynamic_w),
        }));
    }
    let document = json!({
        "schema": 1, "core": name, "design": at.to_json(), "relative_to_design": rows,
    });
    write(&out.join("scaling").join("g-of-t.json"), &document)
}

/// What `derive` wrote of a core.
struct Derived {
    document: Value,
    file: String,
}

impl Derived {
    fn load(out: &Path, name: &str) -> Result<Derived, String> {
        let path = out.join(format!("{name}.json"));
        let file = path.display().to_string();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        let document = serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?;
        Ok(Derived { document, file })
    }

    /// The design point that it was derived at.
    fn design(&self) -> Result<Design, String> {
        let vdd = self.document["design"]["vdd_v"].as_f64();
        let vdd = vdd.ok_or_else(|| format!("{}: design.vdd_v: missing", self.file))?;
        Ok(Design { vdd, ..DESIGN.clone() })
    }

    /// Core and L2 of a cluster of `cpus` cores that are always clocked, with `counts` in all.
    fn cluster(&self, counts: &Counts, cpus: u32) -> Result<[Component; 2], String> {
        let table = |key: &str| {
            self.document[key].as_object().ok_or_else(|| format!("{}: {key}: missing", self.file))
        };
        let mut cluster =
            ["Core", "L2"].map(|name| Component { name: name.to_owned(), ..Component::default() });
        for unit in &mut cluster {
            let row = &table("components")?[unit.name.as_str()];
            unit.area_mm2 = row["area_mm2"].as_f64().unwrap_or(f64::NAN);
            unit.subthreshold_w = row["subthreshold_w"].as_f64().unwrap_or(f64::NAN);
            unit.gate_w = row["gate_w"].as_f64();
        }
        for (event, parts) in table("energy_pj")? {
            let count = counts.get(event).copied().unwrap_or(CYCLES * u64::from(cpus)) as f64;
            for (path, pj) in parts.as_object().into_iter().flatten() {
                let unit = &mut cluster[usize::from(path == "L2")];
                unit.dynamic_w += count * pj.as_f64().unwrap_or(f64::NAN) * 1e-9;
            }
        }
        Ok(cluster)
    }
}

fn all_events() -> Counts {
    STATISTICS
        .iter()
        .flat_map(|(unit, stats)| stats.iter().map(move |stat| (format!("{unit}.{stat}"), CYCLES)))
        .collect()
}

/// The law's figures at `ratio` times the design supply, and the direct ones where there are any:
/// in the layout of the design point, and laid out anew.
fn compare(base: &Component, direct: Option<(&Component, &Component)>, ratio: f64) -> Value {
    let dynamic = base.dynamic_w * ratio.powi(2);
    let leakage = base.subthreshold_w * ratio.powi(3) + base.gate() * ratio;
    let row = |law: f64, figure: &dyn Fn(&Component) -> f64| match direct {
        Some((kept, anew)) => {
            let (kept, anew) = (figure(kept), figure(anew));
            json!({
                "law_w": digits(law),
                "direct_w": digits(kept), "error": digits(law / kept - 1.0),
                "laid_out_anew_w": digits(anew), "error_laid_out_anew": digits(law / anew - 1.0),
            })
        }
        None => json!({ "law_w": digits(law) }),
    };
    let mut rows = Map::from_iter([
        ("dynamic".to_owned(), row(dynamic, &|unit| unit.dynamic_w)),
        ("leakage".to_owned(), row(leakage, &|unit| unit.subthreshold_w + unit.gate())),
    ]);
    if let Some((kept, anew)) = direct {
        let area = |unit: &Component| json!(digits(unit.area_mm2 / base.area_mm2 - 1.0));
        rows.insert("area_change".to_owned(), area(kept));
        rows.insert("area_change_laid_out_anew".to_owned(), area(anew));
    }
    Value::Object(rows)
}
