// SPDX-License-Identifier: GPL-2.0-or-later
//! The part that runs inside McPAT's process: build a processor, print its report.
//!
//! McPAT leaves its process on many input errors, so this runs in a child of the program (see
//! `runner`). The two C++ methods below have no C wrapper in `mcpat-sys`; its library exports them.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;

use mcpat_sys::{
    new_ParseXML, new_Processor, opt_for_clk_set, Core, ParseXML, ParseXML_parse, Processor,
    Processor_cores,
};

// McPAT's classes are opaque here: only pointers to them cross.
#[allow(improper_ctypes)]
extern "C" {
    #[link_name = "_ZN9Processor13displayEnergyEjib"]
    fn display_energy(this: *mut Processor, indent: u32, level: i32, is_tdp: bool);
    #[link_name = "_ZN4Core13computeEnergyEb"]
    fn compute_energy(this: *mut Core, is_tdp: bool);
}

/// The line that stands before the report of each further counts file.
pub const SEPARATOR: &str = "=== counts ";

/// Print the report of `base`, then one per file of `counts`.
///
/// A counts file is a full description that differs from `base` in its statistics alone. McPAT adds
/// run-time energies (sums of count times energy) to what `base` left, so a further report holds the
/// sum of both. Each is made in a fork of this process, so that nothing of one adds to the next and
/// the arrays are laid out once only.
pub fn print_reports(base: &OsStr, counts: &[&OsStr], opt_for_clk: bool) -> Result<(), String> {
    // SAFETY: the pointers come from McPAT's own constructors and live until the process ends.
    unsafe {
        opt_for_clk_set(i32::from(opt_for_clk));
        let xml = new_ParseXML();
        parse(xml, base)?;
        let processor = new_Processor(xml);
        display_energy(processor, 2, 5, true);
        libc::fflush(std::ptr::null_mut());
        for file in counts {
            in_fork(|| {
                println!("\n{SEPARATOR}{}", file.to_string_lossy());
                parse(xml, file)?;
                compute_energy(Processor_cores(processor, 0), false);
                display_energy(processor, 2, 5, true);
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Let McPAT read `file` into `xml`.
///
/// # Safety
/// `xml` must come from `new_ParseXML`.
unsafe fn parse(xml: *mut ParseXML, file: &OsStr) -> Result<(), String> {
    let shown = file.to_string_lossy();
    std::fs::metadata(file).map_err(|error| format!("{shown}: {error}"))?;
    let path = CString::new(file.as_bytes()).map_err(|_| format!("{shown}: a NUL in the name"))?;
    ParseXML_parse(xml, path.as_ptr().cast_mut());
    Ok(())
}

/// Do `work` in a fork of this process and wait for it.
///
/// # Safety
/// No other thread of this process may be running (McPAT joins its own).
unsafe fn in_fork(work: impl Fn() -> Result<(), String>) -> Result<(), String> {
    match libc::fork() {
        -1 => Err(format!("fork: {}", std::io::Error::last_os_error())),
        0 => {
            let code = match work() {
                Ok(()) => 0,
                Err(message) => {
                    eprintln!("{message}");
                    1
                }
            };
            libc::fflush(std::ptr::null_mut());
            libc::_exit(code)
        }
        child => {
            let mut status = 0;
            if libc::waitpid(child, &mut status, 0) != child || status != 0 {
                return Err(format!("McPAT's fork ended with status {status:#x}"));
            }
            Ok(())
        }
    }
}
