//! The one design point at which every core is derived, and how McPAT is asked.

use serde_json::{json, Value};

/// What McPAT is asked for beside the core's own figures.
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

/// Technology 28 nm, ITRS high performance with long-channel devices where timing allows.
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
