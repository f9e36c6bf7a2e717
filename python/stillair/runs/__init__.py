"""From a scenario to its runs: scenarios as files or built in Python, those the package ships, and sweeps.

A result folder is written here while its runs finish.

    bundled        the scenarios that the package ships
    crosscheck     a scenario in virtual time and live, or with kernels, side by side
    live           runs with real hosts, in real time
    sweep_result   a sweep from Python, and what came of it
    sweep          all combinations, what is finished kept
    metrics        figures by their names, a sweep as text
    dataset        a sweep's table as Parquet
    work           combinations run, by threads or by an executor
    cache          combinations in a folder
    result_writer  a result folder written
    scenario       a scenario that can be run
    imports        a scenario made of what a machine tells
    overrides      values that take the place of a scenario's
    limits         the numbers that can be asked for
"""
