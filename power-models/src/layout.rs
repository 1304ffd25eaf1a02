// SPDX-License-Identifier: GPL-2.0-or-later
//! Keeps McPAT's arrays in the layout that another run of it chose.
//!
//! CACTI tries every way of cutting an array into banks and takes the best by delay, energy, leakage
//! and area at the supply in hand; a chip keeps its layout. McPAT has no parameter for this. But its
//! library calls the two C++ functions below through its symbol table, where those of the program
//! come first, so these stand between: they note the layout of each array, or refuse all others.

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_uint, c_void, CStr};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

/// What a run of McPAT does about layouts.
#[derive(Clone, Debug)]
pub enum Layout {
    /// The best at this run's supply.
    Best,
    /// Likewise, and noted in this file.
    Noted(PathBuf),
    /// The one that stands in this file.
    Kept(PathBuf),
}

impl Layout {
    /// The arguments of `power-models mcpat`.
    pub fn arguments(&self) -> Vec<&std::ffi::OsStr> {
        match self {
            Layout::Best => vec![],
            Layout::Noted(file) => vec!["--note-layout".as_ref(), file.as_ref()],
            Layout::Kept(file) => vec!["--keep-layout".as_ref(), file.as_ref()],
        }
    }
}

/// How one array is cut: Nspd, Ndwl, Ndbl, Ndcm, Ndsam of both levels (CACTI's names).
type Cut = (f64, [c_uint; 5]);

/// Cuts of an array's tags and data, where it has them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Array {
    tags: Option<Cut>,
    data: Option<Cut>,
}

enum Work {
    /// Cuts by the address of CACTI's record of each, and the arrays that are done.
    Note(HashMap<usize, Cut>, Vec<Array>),
    /// Arrays to come, the first one last; the one in work.
    Keep(Vec<Array>, Array),
}

static WORK: OnceLock<Mutex<Work>> = OnceLock::new();

/// Note the layouts of all arrays from now on; `noted` gives them.
pub fn note() {
    let _ = WORK.set(Mutex::new(Work::Note(HashMap::new(), Vec::new())));
}

/// The layouts noted, as text.
pub fn noted() -> String {
    let mut text = String::new();
    if let Some(Work::Note(_, arrays)) =
        WORK.get().map(|work| work.lock().expect("no panic")).as_deref()
    {
        for array in arrays {
            text += &format!("{} {}\n", show(array.tags), show(array.data));
        }
    }
    text
}

/// Keep the arrays of this run in the layouts of `file`.
pub fn keep(file: &Path) -> Result<(), String> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
    let arrays: Option<Vec<Array>> = text.lines().rev().map(array).collect();
    let arrays = arrays.ok_or_else(|| format!("{shown}: no list of layouts"))?;
    let _ = WORK.set(Mutex::new(Work::Keep(arrays, Array::default())));
    Ok(())
}

fn show(cut: Option<Cut>) -> String {
    match cut {
        Some((nspd, [ndwl, ndbl, ndcm, first, second])) => {
            format!("{nspd},{ndwl},{ndbl},{ndcm},{first},{second}")
        }
        None => "-".to_owned(),
    }
}

fn array(line: &str) -> Option<Array> {
    let (tags, data) = line.split_once(' ')?;
    let cut = |text: &str| -> Option<Option<Cut>> {
        if text == "-" {
            return Some(None);
        }
        let (nspd, rest) = text.split_once(',')?;
        let counts: Vec<c_uint> = rest.split(',').map(|n| n.parse().ok()).collect::<Option<_>>()?;
        Some(Some((nspd.parse().ok()?, counts.try_into().ok()?)))
    };
    Some(Array { tags: cut(tags)?, data: cut(data)? })
}

/// McPAT's own function of `name`, which the one here hides.
fn original(name: &CStr) -> *mut c_void {
    // SAFETY: `name` ends with a NUL.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast::<c_char>()) };
    assert!(!found.is_null(), "{name:?} is not in McPAT's library");
    found
}

type CalculateTime = unsafe extern "C" fn(
    bool,
    c_int,
    bool,
    f64,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    *mut c_void,
    c_int,
    *mut c_void,
    *mut c_void,
    bool,
) -> bool;

/// CACTI's `calculate_time`: figures of one cut of an array, or no when it cannot be cut so.
///
/// # Safety
/// Called by McPAT alone, with its own arguments.
#[export_name = "_Z14calculate_timebibdjjjjjP9mem_arrayiP17results_mem_arrayP9uca_org_tb"]
unsafe extern "C" fn calculate_time(
    is_tag: bool,
    pure_ram: c_int,
    pure_cam: bool,
    nspd: f64,
    ndwl: c_uint,
    ndbl: c_uint,
    ndcm: c_uint,
    ndsam_1: c_uint,
    ndsam_2: c_uint,
    record: *mut c_void,
    populate: c_int,
    results: *mut c_void,
    result: *mut c_void,
    main_memory: bool,
) -> bool {
    static ORIGINAL: OnceLock<usize> = OnceLock::new();
    let address = *ORIGINAL.get_or_init(|| {
        original(c"_Z14calculate_timebibdjjjjjP9mem_arrayiP17results_mem_arrayP9uca_org_tb")
            as usize
    });
    let cut = (nspd, [ndwl, ndbl, ndcm, ndsam_1, ndsam_2]);
    if let Some(work) = WORK.get() {
        if let Work::Keep(_, array) = &*work.lock().expect("no panic") {
            if (if is_tag { array.tags } else { array.data }) != Some(cut) {
                return false;
            }
        }
    }
    let original = std::mem::transmute::<usize, CalculateTime>(address);
    let possible = original(
        is_tag,
        pure_ram,
        pure_cam,
        nspd,
        ndwl,
        ndbl,
        ndcm,
        ndsam_1,
        ndsam_2,
        record,
        populate,
        results,
        result,
        main_memory,
    );
    if let (true, Some(work)) = (possible, WORK.get()) {
        if let Work::Note(cuts, _) = &mut *work.lock().expect("no panic") {
            cuts.insert(record as usize, cut);
        }
    }
    possible
}

/// CACTI's `solve`: lays one array out. Its result begins with pointers to the records of the cuts
/// that it chose, tags first.
///
/// # Safety
/// Called by McPAT alone, with its own argument.
#[export_name = "_Z5solveP9uca_org_t"]
unsafe extern "C" fn solve(result: *mut [usize; 2]) {
    if let Some(work) = WORK.get() {
        if let Work::Keep(coming, array) = &mut *work.lock().expect("no panic") {
            // One array more than noted: nothing fits, and McPAT says so.
            *array = coming.pop().unwrap_or_default();
        }
    }
    let original = original(c"_Z5solveP9uca_org_t");
    std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut [usize; 2])>(original)(result);
    if let Some(work) = WORK.get() {
        if let Work::Note(cuts, arrays) = &mut *work.lock().expect("no panic") {
            let [tags, data] = result.read();
            arrays.push(Array { tags: cuts.get(&tags).copied(), data: cuts.get(&data).copied() });
            cuts.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{array, show, Array};

    #[test]
    fn layouts_survive_their_file() {
        let cut = Some((0.125, [4, 2, 1, 8, 1]));
        for wanted in [Array { tags: cut, data: cut }, Array { tags: None, data: cut }] {
            let line = format!("{} {}", show(wanted.tags), show(wanted.data));
            assert_eq!(array(&line), Some(wanted));
        }
        assert_eq!(array("- 0.125,4,2"), None);
    }
}
