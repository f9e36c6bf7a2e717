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
    /// Path name of each case.
    names: Vec<CString>,
    /// Measurements of each case.
    measured: Vec<Measured>,
}

/// The verdict on a budget.
pub struct stillair_verdict {
    holds: bool,
    /// Texts by form.
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

/// Reads a budget from TOML text; file is its name in messages. On error, returns null and writes a message
/// of at most error_size bytes to error. Free the budget with stillair_budget_free.
///
/// # Safety
/// `budget` and `file` must be null-terminated strings; `error` must be null or valid for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_read(
    budget: *const c_char,
    file: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_budget {
    // SAFETY: guaranteed by the caller.
    if unsafe { !are_texts([budget, file], error, error_size) } {
        return ptr::null_mut();
    }
    // SAFETY: guaranteed by the caller.
    let (budget, file) = unsafe { (text(budget).unwrap_or_default(), text(file).unwrap_or("budget")) };
    match Budget::read(budget, file) {
        Ok(budget) => {
            let cases: Vec<Case> = budget.cases().collect();
            // A TOML key may contain a null byte; path names do not.
            let names = cases.iter().map(|case| CString::new(case.path.as_str()).unwrap_or_default());
            let (names, measured) = (names.collect(), cases.iter().map(|case| case.measured([])).collect());
            Box::into_raw(Box::new(stillair_budget { budget, cases, names, measured }))
        }
        Err(says) => {
            // SAFETY: guaranteed by the caller.
            unsafe { tell(error, error_size, &says.to_string()) };
            ptr::null_mut()
        }
    }
}

/// Frees a budget. Null is allowed.
///
/// # Safety
/// `budget` must be null or a budget from this library that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_free(budget: *mut stillair_budget) {
    if !budget.is_null() {
        // SAFETY: created by `stillair_budget_read`.
        drop(unsafe { Box::from_raw(budget) });
    }
}

/// Returns the number of runs: each path with each seed.
///
/// # Safety
/// `budget` must be null or a budget.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_cases(budget: *const stillair_budget) -> usize {
    // SAFETY: guaranteed by the caller.
    unsafe { budget.as_ref() }.map_or(0, |budget| budget.cases.len())
}

/// Returns the path name of the run with this index, starting at 0, and writes its seed to seed unless that
/// is null. Returns null after the last run.
///
/// # Safety
/// `budget` must be null or a budget; `seed` must be null or valid for writes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_path(
    budget: *const stillair_budget,
    number: usize,
    seed: *mut u64,
) -> *const c_char {
    // SAFETY: guaranteed by the caller.
    let Some(budget) = (unsafe { budget.as_ref() }) else { return ptr::null() };
    let Some(case) = budget.cases.get(number) else { return ptr::null() };
    if !seed.is_null() {
        // SAFETY: guaranteed by the caller.
        unsafe { seed.write(case.seed) };
    }
    budget.names[number].as_ptr()
}

/// Creates a link for the run with this index, like stillair_link_preset.
///
/// # Safety
/// `budget` must be null or a budget; `error` must be null or valid for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_link(
    budget: *const stillair_budget,
    number: usize,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_link {
    // SAFETY: guaranteed by the caller.
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

/// Records the value of a metric in the run with this index. Returns false if there is no such run.
///
/// # Safety
/// `budget` must be null or a budget; `metric` must be null or a null-terminated string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_measured(
    budget: *mut stillair_budget,
    number: usize,
    metric: *const c_char,
    value: f64,
) -> bool {
    // SAFETY: guaranteed by the caller.
    let found = unsafe { budget.as_mut().zip(text(metric)) };
    let run = found.and_then(|(budget, metric)| Some((budget.measured.get_mut(number)?, metric)));
    run.map(|(run, metric)| run.values.insert(metric.to_owned(), value)).is_some()
}

/// Evaluates the values of all runs, and compares them with an earlier baseline unless that is null. On error
/// (a run or a metric is missing, or the baseline is invalid), returns null and writes a message. Free the
/// verdict with stillair_verdict_free.
///
/// # Safety
/// `budget` must be null or a budget; `baseline` must be null or a null-terminated string; `error` must be
/// null or valid for `error_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_budget_judge(
    budget: *const stillair_budget,
    baseline: *const c_char,
    error: *mut c_char,
    error_size: usize,
) -> *mut stillair_verdict {
    // SAFETY: guaranteed by the caller.
    if unsafe { !are_texts([baseline], error, error_size) } {
        return ptr::null_mut();
    }
    // SAFETY: guaranteed by the caller.
    let (budget, before) = unsafe { (budget.as_ref(), text(baseline)) };
    let verdict = budget.ok_or_else(|| "no budget".to_owned()).and_then(|budget| {
        let before = before.map(|before| Baseline::read(before, "baseline")).transpose();
        let before = before.map_err(|says| says.to_string())?;
        budget.budget.judge(&budget.measured, before.as_ref()).map_err(|says| says.to_string())
    });
    match verdict {
        Ok(verdict) => Box::into_raw(Box::new(written(&verdict))),
        Err(says) => {
            // SAFETY: guaranteed by the caller.
            unsafe { tell(error, error_size, &says) };
            ptr::null_mut()
        }
    }
}

fn written(verdict: &Verdict) -> stillair_verdict {
    let texts = [verdict.to_string(), verdict.to_markdown(), verdict.to_junit(), verdict.baseline.to_json()];
    // C strings cannot contain null bytes.
    let texts = texts.map(|text| CString::new(text.replace('\0', " ")).unwrap_or_default());
    stillair_verdict { holds: verdict.holds(), texts }
}

/// Returns true if no limit is exceeded. If false, the test should fail.
///
/// # Safety
/// `verdict` must be null or a verdict.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_verdict_holds(verdict: *const stillair_verdict) -> bool {
    // SAFETY: guaranteed by the caller.
    unsafe { verdict.as_ref() }.is_some_and(|verdict| verdict.holds)
}

/// Returns the verdict as text in a stillair_form, or null if there is no such form. The text belongs to the
/// verdict.
///
/// # Safety
/// `verdict` must be null or a verdict.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_verdict_text(verdict: *const stillair_verdict, form: u32) -> *const c_char {
    // SAFETY: guaranteed by the caller.
    let verdict = unsafe { verdict.as_ref() };
    verdict.and_then(|verdict| verdict.texts.get(form as usize)).map_or(ptr::null(), |text| text.as_ptr())
}

/// Frees a verdict. Null is allowed.
///
/// # Safety
/// `verdict` must be null or a verdict from this library that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_verdict_free(verdict: *mut stillair_verdict) {
    if !verdict.is_null() {
        // SAFETY: created by `stillair_budget_judge`.
        drop(unsafe { Box::from_raw(verdict) });
    }
}

/// Creates an empty meter. Free it with stillair_meter_free.
#[unsafe(no_mangle)]
pub extern "C" fn stillair_meter_new() -> *mut stillair_meter {
    Box::into_raw(Box::default())
}

/// Records bytes that arrived at at_ns and were sent at sent_ns.
///
/// # Safety
/// `meter` must be null or a meter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_add(
    meter: *mut stillair_meter,
    at_ns: u64,
    sent_ns: u64,
    bytes: u64,
) {
    // SAFETY: guaranteed by the caller.
    if let Some(meter) = unsafe { meter.as_mut() } {
        let delay = Duration::from_nanos(at_ns.saturating_sub(sent_ns));
        meter.meter.add(Duration::from_nanos(at_ns), delay, bytes);
    }
}

/// Returns the goodput between two times in Mbit/s.
///
/// # Safety
/// `meter` must be null or a meter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_goodput_mbps(
    meter: *const stillair_meter,
    from_ns: u64,
    to_ns: u64,
) -> f64 {
    // SAFETY: guaranteed by the caller.
    unsafe { meter.as_ref() }.map_or(f64::NAN, |meter| {
        meter.meter.goodput_mbps(Duration::from_nanos(from_ns), Duration::from_nanos(to_ns))
    })
}

/// Returns a quantile (such as 0.99) of the delay between two times in ms; NaN if nothing arrived.
///
/// # Safety
/// `meter` must be null or a meter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_delay_ms(
    meter: *const stillair_meter,
    quantile: f64,
    from_ns: u64,
    to_ns: u64,
) -> f64 {
    // SAFETY: guaranteed by the caller.
    unsafe { meter.as_ref() }.map_or(f64::NAN, |meter| {
        meter.meter.delay_ms(quantile, Duration::from_nanos(from_ns), Duration::from_nanos(to_ns))
    })
}

/// Returns how long the queue caused by a link rate drop at drop_ns lasts, in s: until the end of the last
/// 0.1 s before to_ns in which the median delay exceeds limit_ns or nothing arrives.
///
/// # Safety
/// `meter` must be null or a meter.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_recovery_s(
    meter: *const stillair_meter,
    drop_ns: u64,
    to_ns: u64,
    limit_ns: u64,
) -> f64 {
    let [drop, to, limit] = [drop_ns, to_ns, limit_ns].map(Duration::from_nanos);
    // SAFETY: guaranteed by the caller.
    unsafe { meter.as_ref() }.map_or(f64::NAN, |meter| meter.meter.recovery_s(drop, to, limit))
}

/// Frees a meter. Null is allowed.
///
/// # Safety
/// `meter` must be null or a meter from this library that has not been freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn stillair_meter_free(meter: *mut stillair_meter) {
    if !meter.is_null() {
        // SAFETY: created by `stillair_meter_new`.
        drop(unsafe { Box::from_raw(meter) });
    }
}
