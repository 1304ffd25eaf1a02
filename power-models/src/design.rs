// SPDX-License-Identifier: GPL-2.0-or-later
//! The design point at which a core is derived, and how McPAT is asked.
//!
//! It is one for all cores but for the supply: that of a core stands in the middle of the supplies
//! that its chip has and McPAT takes, since the law that scales it errs more the further it reaches.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{json, Value};
use toml::Table;

/// What McPAT is asked for in addition to the core's own figures.
#[derive(Clone, Debug)]
pub struct Design {
    pub technology_nm: u32,
    /// Supply of core and L2, V.
    pub vdd: f64,
    /// Multiple of 10 in 300..400 K.
    pub temperature_k: u32,
    /// Only a time base: energies do not depend on it.
    pub clock_mhz: u32,
    /// Bytes that one access of an L1 reads or writes; McPAT charges a whole block an access.
    pub l1_access_bytes: u32,
    pub l2_access_bytes: u32,
}

/// Technology 28 nm, ITRS high performance with long-channel devices where timing allows; the supply
/// is that of a core without published ones, and of the memory controller.
pub const DESIGN: Design = Design {
    technology_nm: 28,
    vdd: 1.0,
    temperature_k: 330,
    clock_mhz: 1000,
    l1_access_bytes: 16,
    l2_access_bytes: 32,
};

/// Lowest supply that McPAT accepts at `DESIGN.technology_nm`, V (its check adds up a default twice).
pub const LOWEST_VDD: f64 = 0.84;

impl Design {
    /// The design point of `name`: the middle of its legal supplies, in steps of 10 mV.
    pub fn of(anchors: &Path, name: &str) -> Result<Design, String> {
        let legal: Vec<f64> = supplies(anchors, name)?
            .into_iter()
            .map(volts)
            .filter(|vdd| *vdd >= LOWEST_VDD)
            .collect();
        let (Some(lowest), Some(highest)) = (legal.first(), legal.last()) else {
            let file = anchors.display();
            return Err(format!(
                "{file}: {name}.opps: all below {LOWEST_VDD} V: allowed: some that McPAT takes"
            ));
        };
        Ok(Design { vdd: middle(*lowest, *highest), ..DESIGN.clone() })
    }

    /// The design point in words for the provenance.
    pub fn to_json(&self) -> Value {
        json!({
            "technology_nm": self.technology_nm,
            "device_type": "ITRS high performance, long channel where timing allows",
            "vdd_v": self.vdd,
            "temperature_k": self.temperature_k,
            "l1_access_bytes": self.l1_access_bytes,
            "l2_access_bytes": self.l2_access_bytes,
            "optimise_for_clock": false,
        })
    }
}

/// The middle of two supplies, V, in steps of 10 mV.
fn middle(lowest: f64, highest: f64) -> f64 {
    (50.0 * (lowest + highest)).round() / 100.0
}

/// A supply of 0.1 mV steps in V.
pub fn volts(tenths: u32) -> f64 {
    f64::from(tenths) / 1e4
}

/// The supplies of the core's published OPPs in units of 0.1 mV, ascending.
pub fn supplies(anchors: &Path, name: &str) -> Result<BTreeSet<u32>, String> {
    let file = anchors.display();
    let text = std::fs::read_to_string(anchors).map_err(|error| format!("{file}: {error}"))?;
    let top: Table =
        text.parse().map_err(|error: toml::de::Error| format!("{file}: {}", error.message()))?;
    let wrong = || format!("{file}: {name}.opps: missing or wrong: allowed: [[MHz, V], ...]");
    let opps = top
        .get(name)
        .and_then(|core| core.get("opps"))
        .and_then(toml::Value::as_array)
        .ok_or_else(wrong)?;
    opps.iter()
        .map(|opp| {
            let volts = opp.get(1).and_then(toml::Value::as_float).ok_or_else(wrong)?;
            Ok((volts * 1e4).round() as u32)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{middle, Design};

    #[test]
    fn the_supply_of_a_core_is_the_middle_of_its_legal_ones() {
        assert_eq!(middle(0.9125, 1.25), 1.08);
        assert_eq!(middle(0.9, 1.0), 0.95);
        let file =
            std::env::temp_dir().join(format!("power-models-of-{}.toml", std::process::id()));
        let text = "[one]\nopps = [[500, 0.5], [800, 0.85], [900, 1.05]]\n\
                    [low]\nopps = [[500, 0.5]]\n";
        std::fs::write(&file, text).unwrap();
        let of = |name| Design::of(&file, name);
        assert_eq!(of("one").unwrap().vdd, 0.95);
        assert!(of("low").unwrap_err().contains("low.opps: all below 0.84 V"));
        assert!(of("none").unwrap_err().contains("none.opps: missing"));
        std::fs::remove_file(&file).unwrap();
    }
}
