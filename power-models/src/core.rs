//! A core type as `configs/cores/NAME.toml` describes it; every figure that is needed must be there.

use std::path::{Path, PathBuf};

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
    /// The file's content: its digest is part of the provenance.
    pub text: String,
    parameters: Table,
    structure: Table,
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
            text,
        })
    }

    /// The figure `name`, which stands in the table `parameters` or `structure`.
    pub fn get(&self, name: &str) -> Result<u64, String> {
        let entry = self.parameters.get(name).or_else(|| self.structure.get(name));
        integer(entry.and_then(|entry| entry.get("value"))).ok_or_else(|| {
            format!(
                "{}: structure.{name}.value: missing: allowed: an integer (McPAT needs it)",
                self.path.display()
            )
        })
    }
}

fn integer(value: Option<&Value>) -> Option<u64> {
    value.and_then(Value::as_integer).and_then(|number| u64::try_from(number).ok())
}
