// SPDX-License-Identifier: GPL-2.0-or-later
//! Runs McPAT in a child process and accepts its output only when nothing in it means failure.

use std::path::Path;
use std::process::Command;

use crate::ffi::SEPARATOR;
use crate::layout::Layout;

/// Texts of McPAT's messages that mean "no result" although it exits with status 0.
const FAILURES: [&str; 12] = [
    "ERROR",
    "Error",
    "is too low",
    "Temperature must",
    "ssociativity must",
    "Invalid technology",
    "nvalid",
    "does not match",
    "not support",
    "cannot satisfy",
    "no valid",
    "Unsupported",
];

/// The reports of `base` and of each of `counts`, in that order.
pub fn reports(base: &Path, counts: &[&Path], layout: &Layout) -> Result<Vec<String>, String> {
    let program = std::env::current_exe().map_err(|error| format!("own program: {error}"))?;
    let output = Command::new(program)
        .arg("mcpat")
        .args(layout.arguments())
        .arg(base)
        .args(counts)
        .output()
        .map_err(|error| format!("McPAT: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let messages = String::from_utf8_lossy(&output.stderr);
    if let Some(line) = failure(&text).or_else(|| failure(&messages)) {
        return Err(format!("{}: McPAT says: {line}", base.display()));
    }
    if !output.status.success() {
        let last = messages.lines().last().unwrap_or("no message");
        return Err(format!("{}: McPAT ended with {}: {last}", base.display(), output.status));
    }
    let parts: Vec<String> = text.split(SEPARATOR).map(str::to_owned).collect();
    if parts.len() != counts.len() + 1 {
        return Err(format!(
            "{}: McPAT gave {} of {} reports",
            base.display(),
            parts.len(),
            counts.len() + 1
        ));
    }
    if let Some(index) = parts.iter().position(|part| !part.contains("\nProcessor:")) {
        return Err(format!("{}: McPAT gave no result in report {index}", base.display()));
    }
    Ok(parts)
}

/// The first line that means failure.
fn failure(text: &str) -> Option<&str> {
    text.lines().find(|line| FAILURES.iter().any(|sign| line.contains(sign))).map(str::trim)
}

#[cfg(test)]
mod tests {
    use super::failure;

    #[test]
    fn every_known_message_is_a_failure() {
        for message in [
            "User defined Vdd is too low.",
            "Temperature must be between 300 and 400 Kelvin and multiple of 10.",
            "Associativity must be a power of 2",
            "Invalid technology nodes",
            "ERROR: no valid data array organizations found",
            "Number of private L2 does not match number of cores",
            "Warning: Icache array structure cannot satisfy throughput constraint.",
        ] {
            assert_eq!(failure(&format!("McPAT\n  {message}\nProcessor:")), Some(message));
        }
    }

    #[test]
    fn a_report_is_no_failure() {
        assert_eq!(failure("Core:\n  Area = 2.4 mm^2\n  Peak Dynamic = 0.7 W\n"), None);
    }
}
