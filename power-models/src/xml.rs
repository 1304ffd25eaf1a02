// SPDX-License-Identifier: GPL-2.0-or-later
//! McPAT's description of one core with its L2, as XML.

use std::fmt::Write;

use crate::core::{Cache, Core};
use crate::design::Design;
use crate::statistics::{Counts, CYCLES, STATISTICS};

/// Entries of the smallest branch target buffer for which McPAT finds an array.
const SMALLEST_BTB: u64 = 64;

/// A description, and what had to be changed for McPAT to accept it.
pub struct Description {
    pub xml: String,
    pub adapted: Vec<String>,
}

struct Writer<'a> {
    out: String,
    depth: usize,
    counts: &'a Counts,
}

impl Writer<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", self.depth * 2);
    }

    fn open(&mut self, id: &str, name: &str) {
        self.line(&format!("<component id=\"{id}\" name=\"{name}\">"));
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("</component>");
    }

    fn params(&mut self, params: &[(&str, String)]) {
        for (name, value) in params {
            self.line(&format!("<param name=\"{name}\" value=\"{value}\"/>"));
        }
    }

    fn stat(&mut self, name: &str, value: impl std::fmt::Display) {
        self.line(&format!("<stat name=\"{name}\" value=\"{value}\"/>"));
    }

    /// The statistics of `component` with their counts (0 where none is given).
    fn stats(&mut self, component: &str) {
        let names = STATISTICS.iter().find(|(id, _)| *id == component).map_or(&[][..], |row| row.1);
        for name in names {
            let count = self.counts.get(&format!("{component}.{name}")).copied().unwrap_or(0);
            self.stat(name, count);
        }
    }
}

/// Describe `cpus` cores with an L2: one core and a private one for the derivation, since that is
/// the L2 that McPAT prints for its core, or a cluster that shares it for the direct runs.
///
/// `busy` is the share of cycles in which the clock runs. Counts are sums over the cores.
pub fn describe(
    core: &Core,
    design: &Design,
    cpus: u32,
    busy: u32,
    counts: &Counts,
) -> Result<Description, String> {
    let mut adapted = Vec::new();
    let bits = core.get("data_bits")?;
    let mut w = Writer { out: "<?xml version=\"1.0\" ?>\n".to_owned(), depth: 0, counts };
    w.open("root", "root");
    w.open("system", "system");
    w.params(&system(core, design, cpus)?);
    w.stat("total_cycles", CYCLES);
    w.stat("idle_cycles", 0);
    w.stat("busy_cycles", CYCLES);

    w.open("system.core0", "core0");
    w.params(&core_params(core, design, bits, &mut adapted)?);
    w.stats("core");
    w.stat("pipeline_duty_cycle", busy);
    for name in ["total_cycles", "busy_cycles"] {
        w.stat(name, CYCLES);
    }
    w.stat("idle_cycles", 0);
    // Every unit's pipeline registers are clocked in each cycle in which the clock runs.
    for (unit, duty) in DUTY_CYCLES {
        w.stat(&format!("{unit}_duty_cycle"), duty);
    }
    w.params(&[("number_of_BPT", "2".into())]);
    predictor(&mut w, core)?;
    for (unit, entries) in [("itlb", "itlb_entries"), ("dtlb", "dtlb_entries")] {
        if unit == "dtlb" {
            cache(&mut w, core, design, "icache", &core.l1i, &mut adapted)?;
        }
        w.open(&format!("system.core0.{unit}"), unit);
        w.params(&[("number_entries", core.get(entries)?.to_string())]);
        w.stats(unit);
        w.stat("conflicts", 0);
        w.close();
    }
    cache(&mut w, core, design, "dcache", &core.l1d, &mut adapted)?;
    w.params(&[("number_of_BTB", "2".into())]);
    w.open("system.core0.BTB", "BTB");
    let entries = core.get("btb_entries")?;
    let accepted = entries.max(SMALLEST_BTB);
    if accepted != entries {
        adapted.push(format!("branch targets: {accepted} for {entries}: McPAT finds no array"));
    }
    let btb_bytes = accepted * 4;
    w.params(&[("BTB_config", format!("{btb_bytes},4,2,1,1,1"))]);
    w.stats("BTB");
    w.close();
    w.close();

    // McPAT's parser goes by position, so what is absent has its place all the same.
    absent(&mut w, &["L1Directory0", "L2Directory0"]);
    l2(&mut w, core, design, &mut adapted)?;
    absent(&mut w, &["L30", "NoC0"]);
    absent_controllers(&mut w);
    w.close();
    w.close();
    Ok(Description { xml: w.out, adapted })
}

const DUTY_CYCLES: [(&str, f64); 11] = [
    ("IFU", 1.0),
    ("BR", 1.0),
    ("LSU", 1.0),
    ("MemManU_I", 1.0),
    ("MemManU_D", 1.0),
    ("ALU", 1.0),
    ("MUL", 1.0),
    ("FPU", 1.0),
    ("ALU_cdb", 1.0),
    ("MUL_cdb", 1.0),
    ("FPU_cdb", 1.0),
];

fn system(core: &Core, design: &Design, cpus: u32) -> Result<Vec<(&'static str, String)>, String> {
    let bits = core.get("data_bits")?;
    let virtual_bits = if bits == 64 { 48 } else { 32 };
    let mut params: Vec<(&str, String)> = vec![("number_of_cores", cpus.to_string())];
    for (name, value) in [
        ("number_of_L1Directories", 0),
        ("number_of_L2Directories", 0),
        ("number_of_L2s", 1),
        ("Private_L2", u32::from(cpus == 1)),
        ("number_of_L3s", 0),
        ("number_of_NoCs", 0),
        ("homogeneous_cores", 1),
        ("homogeneous_L2s", 1),
        ("homogeneous_L1Directories", 1),
        ("homogeneous_L2Directories", 1),
        ("homogeneous_L3s", 1),
        ("homogeneous_ccs", 1),
        ("homogeneous_NoCs", 1),
        ("core_tech_node", design.technology_nm),
        ("target_core_clockrate", design.clock_mhz),
        ("temperature", design.temperature_k),
        ("number_cache_levels", 2),
        ("interconnect_projection_type", 1),
        ("device_type", 0),
        ("longer_channel_device", 1),
        ("Embedded", 1),
        ("power_gating", 0),
        ("opt_clockrate", 0),
    ] {
        params.push((name, value.to_string()));
    }
    params.push(("machine_bits", bits.to_string()));
    params.push(("virtual_address_width", virtual_bits.to_string()));
    params.push(("physical_address_width", core.get("physical_address_bits")?.to_string()));
    params.push(("virtual_memory_page_size", "4096".into()));
    Ok(params)
}

fn core_params(
    core: &Core,
    design: &Design,
    bits: u64,
    adapted: &mut Vec<String>,
) -> Result<Vec<(&'static str, String)>, String> {
    let mut params: Vec<(&'static str, String)> = vec![
        ("clock_rate", design.clock_mhz.to_string()),
        ("vdd", design.vdd.to_string()),
        ("opt_local", "0".into()),
        ("instruction_length", "32".into()),
        ("opcode_width", "7".into()),
        ("x86", "0".into()),
        ("micro_opcode_width", "8".into()),
        ("machine_type", u32::from(!core.out_of_order).to_string()),
        ("number_hardware_threads", "1".into()),
        ("number_instruction_fetch_ports", "1".into()),
        ("prediction_width", "1".into()),
        ("pipelines_per_core", "1,1".into()),
        ("instruction_window_scheme", "0".into()),
        ("rename_scheme", "0".into()),
        ("checkpoint_depth", "1".into()),
        ("register_windows_size", "0".into()),
        ("LSU_order", if core.out_of_order { "OoO" } else { "inorder" }.into()),
        ("archi_Regs_IRF_size", if bits == 64 { "32" } else { "16" }.into()),
        ("archi_Regs_FRF_size", "32".into()),
    ];
    let stages = core.get("pipeline_stages")?;
    params.push(("pipeline_depth", format!("{stages},{}", core.get("fp_pipeline_stages")?)));
    let (width, ports) = if core.out_of_order {
        ("dispatch_width", "issue_ports")
    } else {
        ("issue_width", "issue_width")
    };
    for (name, figure) in [
        ("fetch_width", "fetch_width"),
        ("decode_width", "decode_width"),
        ("issue_width", width),
        ("peak_issue_width", ports),
        ("commit_width", "commit_width"),
        ("fp_issue_width", "fp_issue_width"),
        ("ALU_per_core", "integer_alus"),
        ("MUL_per_core", "integer_multipliers"),
        ("FPU_per_core", "fp_units"),
        ("instruction_buffer_size", "fetch_queue_entries"),
        ("decoded_stream_buffer_size", "decode_queue_entries"),
        ("store_buffer_size", "store_queue_entries"),
        ("memory_ports", "memory_ports"),
    ] {
        params.push((name, core.get(figure)?.to_string()));
    }
    // In-order cores have none of these arrays; McPAT wants the names all the same.
    for (name, figure) in [
        ("instruction_window_size", "issue_queue_entries"),
        ("fp_instruction_window_size", "fp_issue_queue_entries"),
        ("ROB_size", "rob_entries"),
        ("phy_Regs_IRF_size", "physical_int_registers"),
        ("phy_Regs_FRF_size", "physical_fp_registers"),
        ("load_buffer_size", "load_queue_entries"),
    ] {
        let value = if core.out_of_order { core.get(figure)? } else { 0 };
        params.push((name, value.to_string()));
    }
    let stack = core.get("return_stack_entries")?;
    let accepted = if bits == 64 { stack.max(16) } else { stack };
    if accepted != stack {
        adapted.push(format!("return stack: {accepted} entries for {stack}: McPAT finds no array"));
    }
    params.push(("RAS_size", accepted.to_string()));
    Ok(params)
}

fn predictor(w: &mut Writer, core: &Core) -> Result<(), String> {
    let entries = core.get("predictor_entries")?.to_string();
    w.open("system.core0.predictor", "PBT");
    w.params(&[
        ("local_predictor_size", "10,3".into()),
        ("local_predictor_entries", "4".into()),
        ("global_predictor_entries", entries.clone()),
        ("global_predictor_bits", "2".into()),
        ("chooser_predictor_entries", entries),
        ("chooser_predictor_bits", "2".into()),
    ]);
    w.close();
    Ok(())
}

/// Ways and size as McPAT takes them: ways must be a power of two, the number of sets stays.
fn accepted(cache: &Cache, what: &str, adapted: &mut Vec<String>) -> (u64, u64) {
    let ways = cache.ways.next_power_of_two();
    let kib = cache.size_kib * ways / cache.ways;
    if ways != cache.ways {
        adapted.push(format!(
            "{what}: {kib} KiB {ways}-way for {} KiB {}-way: McPAT takes powers of two",
            cache.size_kib, cache.ways
        ));
    }
    (kib * 1024, ways)
}

fn cache(
    w: &mut Writer,
    core: &Core,
    design: &Design,
    unit: &'static str,
    cache: &Cache,
    adapted: &mut Vec<String>,
) -> Result<(), String> {
    let (bytes, ways) = accepted(cache, unit, adapted);
    let write_back = u32::from(unit == "dcache");
    let misses = core.get(if unit == "dcache" { "dcache_mshrs" } else { "icache_mshrs" })?;
    let buffers = if unit == "dcache" { core.get("write_buffer_entries")? } else { 0 };
    let width = design.l1_access_bytes;
    w.open(&format!("system.core0.{unit}"), unit);
    let config = format!("{bytes},{width},{ways},1,10,10,{width},{write_back}");
    w.params(&[
        (if unit == "dcache" { "dcache_config" } else { "icache_config" }, config),
        ("buffer_sizes", format!("{misses},{misses},{misses},{buffers}")),
    ]);
    w.stats(unit);
    w.stat("conflicts", 0);
    w.close();
    Ok(())
}

fn l2(
    w: &mut Writer,
    core: &Core,
    design: &Design,
    adapted: &mut Vec<String>,
) -> Result<(), String> {
    let (bytes, ways) = accepted(&core.l2, "L2", adapted);
    let width = design.l2_access_bytes;
    let buffers = core.get("l2_mshrs")?;
    w.open("system.L20", "L20");
    w.params(&[
        ("L2_config", format!("{bytes},{width},{ways},1,8,23,{width},1")),
        ("buffer_sizes", format!("{buffers},{buffers},{buffers},{buffers}")),
        ("clockrate", design.clock_mhz.to_string()),
        ("vdd", design.vdd.to_string()),
        ("ports", "1,1,1".into()),
        ("device_type", "0".into()),
    ]);
    w.stats("L2");
    w.stat("conflicts", 0);
    w.stat("duty_cycle", 1);
    w.close();
    Ok(())
}

fn absent(w: &mut Writer, ids: &[&str]) {
    for id in ids {
        w.open(&format!("system.{id}"), id);
        w.close();
    }
}

fn absent_controllers(w: &mut Writer) {
    for (unit, number) in [
        ("mc", "number_mcs"),
        ("niu", "number_units"),
        ("pcie", "number_units"),
        ("flashc", "number_flashcs"),
    ] {
        w.open(&format!("system.{unit}"), unit);
        w.params(&[(number, "0".into())]);
        w.close();
    }
}
