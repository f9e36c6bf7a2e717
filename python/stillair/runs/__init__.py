"""Runs scenarios: files, scenarios built in Python, bundled ones, and sweeps.

Result folders are written here while runs finish.

    bundled        the bundled scenarios
    crosscheck     a scenario in virtual time and live, or with kernels, side by side
    live           runs with real hosts, in real time
    sweep_result   `run_sweep` and its result
    sweep          all combinations, resumable
    metrics        figures by name, a sweep as text
    dataset        a sweep's table as Parquet
    work           runs combinations on threads or an executor
    cache          combinations in a folder
    result_writer  writes result folders
    scenario       a scenario that can be run
    imports        scenarios from the output of real machines
    overrides      overrides of scenario values
    limits         limits of arguments, memory and disk space
"""
