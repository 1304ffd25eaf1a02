// SPDX-License-Identifier: GPL-2.0-or-later
//! A core type as `configs/cores/NAME.toml` describes it; every figure that is needed must be there.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{json, Value as Json};
use toml::{Table, Value};

#[derive(Clone, Debug)]
pub struct Cache {
    pub size_kib: u64,
    pub ways: u64,
}

#[derive(Clone, Debug)]
pub struct Core {
    pub name: String,
    pub out_of_order: bool,
    pub l1i: Cache,
    pub l1d: Cache,
    pub l2: Cache,
    /// "cluster" or "private"; how many cores use it.
    pub l2_scope: String,
    pub l2_cpus: u32,
    pub path: PathBuf,
    parameters: Table,
    structure: Table,
    /// Every figure that was asked for: what McPAT's input was made from.
    taken: RefCell<BTreeMap<String, u64>>,
}

impl Core {
    /// Read the description of `name` from `directory`.
    pub fn load(directory: &Path, name: &str) -> Result<Core, String> {
        let path = directory.join(format!("{name}.toml"));
        let file = path.display();
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{file}: {error}"))?;
        let top: Table = text
            .parse()
            .map_err(|error: toml::de::Error| format!("{file}: {}", error.message()))?;
        let table = |key: &str| {
            top.get(key)
                .and_then(Value::as_table)
                .ok_or_else(|| format!("{file}: {key}: missing: allowed: a table"))
        };
        let cache = |key: &str| {
            let table = table(key)?;
            let figure = |name| {
                integer(table.get(name))
                    .ok_or_else(|| format!("{file}: {key}.{name}: missing: allowed: an integer"))
            };
            Ok::<_, String>(Cache { size_kib: figure("size_kib")?, ways: figure("ways")? })
        };
        let out_of_order = match top.get("pipeline").and_then(Value::as_str) {
            Some("in-order") => false,
            Some("out-of-order") => true,
            other => {
                return Err(format!("{file}: pipeline: {other:?}: allowed: in-order, out-of-order"))
            }
        };
        let l2 = table("l2")?;
        let scope = match l2.get("scope").and_then(Value::as_str) {
            Some(scope @ ("cluster" | "private")) => scope.to_owned(),
            other => return Err(format!("{file}: l2.scope: {other:?}: allowed: cluster, private")),
        };
        let cpus = integer(l2.get("cpus"))
            .and_then(|cpus| u32::try_from(cpus).ok())
            .filter(|cpus| *cpus >= 1 && (scope == "cluster" || *cpus == 1))
            .ok_or_else(|| {
                format!("{file}: l2.cpus: missing or wrong: allowed: cores that share it")
            })?;
        Ok(Core {
            name: name.to_owned(),
            out_of_order,
            l1i: cache("l1i")?,
            l1d: cache("l1d")?,
            l2: cache("l2")?,
            l2_scope: scope,
            l2_cpus: cpus,
            parameters: table("parameters")?.clone(),
            structure: table("structure")?.clone(),
            path: path.clone(),
            taken: RefCell::default(),
        })
    }

    /// The figure `name`, which stands in the table `parameters` or `structure`.
    pub fn get(&self, name: &str) -> Result<u64, String> {
        let entry = self.parameters.get(name).or_else(|| self.structure.get(name));
        let value = integer(entry.and_then(|entry| entry.get("value"))).ok_or_else(|| {
            format!(
                "{}: structure.{name}.value: missing: allowed: an integer (McPAT needs it)",
                self.path.display()
            )
        })?;
        self.taken.borrow_mut().insert(name.to_owned(), value);
        Ok(value)
    }

    /// All that was taken from the file so far; its other keys (sources, what other engines read)
    /// do not touch McPAT.
    pub fn inputs(&self) -> Json {
        let cache = |cache: &Cache| json!({ "size_kib": cache.size_kib, "ways": cache.ways });
        let mut l2 = cache(&self.l2);
        l2["scope"] = json!(self.l2_scope);
        l2["cpus"] = json!(self.l2_cpus);
        json!({
            "pipeline": if self.out_of_order { "out-of-order" } else { "in-order" },
            "l1i": cache(&self.l1i),
            "l1d": cache(&self.l1d),
            "l2": l2,
            "figures": *self.taken.borrow(),
        })
    }
}

fn integer(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_integer).and_then(|number| u64::try_from(number).ok())
}
