//! Budgets for tests in C: limits of metrics on paths, and a meter for measurements.

use core::ffi::c_char;
use core::ptr;
use std::ffi::CString;
use std::time::Duration;

use ::stillair_link::budget::{Baseline, Budget, Case, Measured, Meter, Verdict};

use crate::{are_texts, made, stillair_link, tell, text};

/// Limits of metrics on paths, and the values measured so far.
pub struct stillair_budget {
    budget: Budget,
    cases: Vec<Case>,
    /// By case: name of its path.
    names: Vec<CString>,
    /// By case: what was measured in it.
    measured: Vec<Measured>,
}

/// The verdict on a budget.
pub struct stillair_verdict {
    holds: bool,
    /// By form.
    texts: [CString; 4],
}

/// Format of a verdict.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum stillair_form {
    /// A table in plain text.
    STILLAIR_TABLE = 0,
    /// A table in Markdown.
    STILLAIR_MARKDOWN = 1,
    /// JUnit XML.
    STILLAIR_JUNIT = 2,
    /// The measured values as JSON: a baseline for stillair_budget_judge.
    STILLAIR_BASELINE = 3,
}

/// Arrivals at an application: bytes, time and delay.
#[derive(Default)]
pub struct stillair_meter {
    meter: Meter,
}

/// Reads a budget from TOML text; file is its name in messages. If it is wrong, returns null, with a message
/// of at most error_size bytes. Free it with stillair_budget_free.
///
/// # Safety
/// `budget` and `file` are strings; `error` is null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_read(
    budget: *const c_char,
    file: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_budget {
    // SAFETY: as of the caller.
    if unsafe { !are_texts([budget, file], error, error_size) } {
        return ptr::null_mut();
    }
    // SAFETY: as of the caller.
    let (budget, file) = unsafe { (text(budget).unwrap_or_default(), text(file).unwrap_or("budget")) };
    match Budget::read(budget, file) {
        Ok(budget) => {
            let cases: Vec<Case> = budget.cases().collect();
            // A key of TOML may have a zero in it; no path has.
            let names = cases.iter().map(|case| CString::new(case.path.as_str()).unwrap_or_default());
            let (names, measured) = (names.collect(), cases.iter().map(|case| case.measured([])).collect());
            Box::into_raw(Box::new(stillair_budget { budget, cases, names, measured }))
        }
        Err(says) => {
            // SAFETY: as of the caller.
            unsafe { tell(error, error_size, &says.to_string()) };
            ptr::null_mut()
        }
    }
}

/// Frees a budget. Null is allowed.
///
/// # Safety
/// `budget` is of this library and has not been ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_free(budget: *mut stillair_budget) {
    if !budget.is_null() {
        // SAFETY: it was made by `stillair_budget_read`.
        drop(unsafe { Box::from_raw(budget) });
    }
}

/// Number of runs: each path with each seed.
///
/// # Safety
/// `budget` is null or a budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_cases(budget: *const stillair_budget) -> usize {
    // SAFETY: as of the caller.
    unsafe { budget.as_ref() }.map_or(0, |budget| budget.cases.len())
}

/// Name of the path of the run with this index, counted from 0, and its seed unless seed is null. Null after
/// the last run.
///
/// # Safety
/// `budget` is null or a budget; `seed` is null or a place for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_path(
    budget: *const stillair_budget,
    number: usize,
    seed: *mut u64,
) -> *const c_char {
    // SAFETY: as of the caller.
    let Some(budget) = (unsafe { budget.as_ref() }) else { return ptr::null() };
    let Some(case) = budget.cases.get(number) else { return ptr::null() };
    if !seed.is_null() {
        // SAFETY: as of the caller.
        unsafe { seed.write(case.seed) };
    }
    budget.names[number].as_ptr()
}

/// A link for the run with this index, as from stillair_link_preset.
///
/// # Safety
/// `budget` is null or a budget; `error` is null or has room for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_link(
    budget: *const stillair_budget,
    number: usize,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_link {
    // SAFETY: as of the caller.
    unsafe {
        match budget.as_ref().and_then(|budget| budget.cases.get(number)) {
            Some(case) => made(case.link(), error, error_size),
            None => {
                tell(error, error_size, "the budget has no such run");
                ptr::null_mut()
            }
        }
    }
}

/// Records the value of a metric in the run with this index. False if there is no such run.
///
/// # Safety
/// `budget` is null or a budget; `metric` is null or a string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_measured(
    budget: *mut stillair_budget,
    number: usize,
    metric: *const c_char,
    value: f64,
) -> bool {
    // SAFETY: as of the caller.
    let found = unsafe { budget.as_mut().zip(text(metric)) };
    let run = found.and_then(|(budget, metric)| Some((budget.measured.get_mut(number)?, metric)));
    run.map(|(run, metric)| run.values.insert(metric.to_owned(), value)).is_some()
}

/// Judges the values of all runs, compared with an earlier baseline, which may be null. Returns null and a
/// message if a run or a metric is missing, or the baseline is not valid. Free the verdict with
/// stillair_verdict_free.
///
/// # Safety
/// `budget` is null or a budget; `baseline` is null or a string; `error` is null or has room for `error_size`
/// bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_judge(
    budget: *const stillair_budget,
    baseline: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_verdict {
    // SAFETY: as of the caller.
    if unsafe { !are_texts([baseline], error, error_size) } {
        return ptr::null_mut();
    }
    // SAFETY: as of the caller.
    let (budget, before) = unsafe { (budget.as_ref(), text(baseline)) };
    let verdict = budget.ok_or_else(|| "no budget".to_owned()).and_then(|budget| {
        let before = before.map(|before| Baseline::read(before, "baseline")).transpose();
        let before = before.map_err(|says| says.to_string())?;
        budget.budget.judge(&budget.measured, before.as_ref()).map_err(|says| says.to_string())
    });
    match verdict {
        Ok(verdict) => Box::into_raw(Box::new(written(&verdict))),
        Err(says) => {
            // SAFETY: as of the caller.
            unsafe { tell(error, error_size, &says) };
            ptr::null_mut()
        }
    }
}

fn written(verdict: &Verdict) -> stillair_verdict {
    let texts = [verdict.to_string(), verdict.to_markdown(), verdict.to_junit(), verdict.baseline.to_json()];
    // A name with a zero in it ends there, as any text of C.
    let texts = texts.map(|text| CString::new(text.replace('\0', " ")).unwrap_or_default());
    stillair_verdict { holds: verdict.holds(), texts }
}

/// Whether no limit is broken. If false, the test should fail.
///
/// # Safety
/// `verdict` is null or a verdict.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_verdict_holds(verdict: *const stillair_verdict) -> bool {
    // SAFETY: as of the caller.
    unsafe { verdict.as_ref() }.is_some_and(|verdict| verdict.holds)
}

/// The verdict as text in a stillair_form. The text belongs to the verdict. Null if there is no such form.
///
/// # Safety
/// `verdict` is null or a verdict.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_verdict_text(verdict: *const stillair_verdict, form: u32) -> *const c_char {
    // SAFETY: as of the caller.
    let verdict = unsafe { verdict.as_ref() };
    verdict.and_then(|verdict| verdict.texts.get(form as usize)).map_or(ptr::null(), |text| text.as_ptr())
}

/// Frees a verdict. Null is allowed.
///
/// # Safety
/// `verdict` is of this library and has not been ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_verdict_free(verdict: *mut stillair_verdict) {
    if !verdict.is_null() {
        // SAFETY: it was made by `stillair_budget_judge`.
        drop(unsafe { Box::from_raw(verdict) });
    }
}

/// A new, empty meter. Free it with stillair_meter_free.
#[unsafe(no_mangle)]
pub extern "C" fn stillair_meter_new() -> *mut stillair_meter {
    Box::into_raw(Box::default())
}

/// Records bytes that arrived at at_ns and were sent at sent_ns.
///
/// # Safety
/// `meter` is null or a meter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_add(
    meter: *mut stillair_meter,
    at_ns: u64,
    sent_ns: u64,
    bytes: u64,
) {
    // SAFETY: as of the caller.
    if let Some(meter) = unsafe { meter.as_mut() } {
        let delay = Duration::from_nanos(at_ns.saturating_sub(sent_ns));
        meter.meter.add(Duration::from_nanos(at_ns), delay, bytes);
    }
}

/// Goodput between two times in Mbit/s.
///
/// # Safety
/// `meter` is null or a meter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_goodput_mbps(
    meter: *const stillair_meter,
    from_ns: u64,
    to_ns: u64,
) -> f64 {
    // SAFETY: as of the caller.
    unsafe { meter.as_ref() }.map_or(f64::NAN, |meter| {
        meter.meter.goodput_mbps(Duration::from_nanos(from_ns), Duration::from_nanos(to_ns))
    })
}

/// A quantile of the delay between two times in ms, such as 0.99; NaN if nothing arrived.
///
/// # Safety
/// `meter` is null or a meter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_delay_ms(
    meter: *const stillair_meter,
    quantile: f64,
    from_ns: u64,
    to_ns: u64,
) -> f64 {
    // SAFETY: as of the caller.
    unsafe { meter.as_ref() }.map_or(f64::NAN, |meter| {
        meter.meter.delay_ms(quantile, Duration::from_nanos(from_ns), Duration::from_nanos(to_ns))
    })
}

/// How long the queue lasts that a drop of the link rate at drop_ns has caused, in s: until the end of the
/// last 0.1 s before to_ns in which the median delay is above limit_ns or nothing arrives.
///
/// # Safety
/// `meter` is null or a meter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_recovery_s(
    meter: *const stillair_meter,
    drop_ns: u64,
    to_ns: u64,
    limit_ns: u64,
) -> f64 {
    let [drop, to, limit] = [drop_ns, to_ns, limit_ns].map(Duration::from_nanos);
    // SAFETY: as of the caller.
    unsafe { meter.as_ref() }.map_or(f64::NAN, |meter| meter.meter.recovery_s(drop, to, limit))
}

/// Frees a meter. Null is allowed.
///
/// # Safety
/// `meter` is of this library and has not been ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_free(meter: *mut stillair_meter) {
    if !meter.is_null() {
        // SAFETY: it was made by `stillair_meter_new`.
        drop(unsafe { Box::from_raw(meter) });
    }
}
