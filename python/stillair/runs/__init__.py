"""From a scenario to its runs: scenarios as files or built in Python, those the package ships, and sweeps.

A result folder is written here while its runs finish.

    bundled        the scenarios that the package ships
    sweep          all combinations, what is finished kept
    result_writer  a result folder written
    scenario       a scenario that can be run
    limits         the numbers that can be asked for
"""
