"""Utilities: complete file writes, JSON validation, tables, TOML, HTML, `tc` output.

Independent of runs.

    signals   signals, and processes that end with their parent
    extras    optional packages
    lock      one writer at a time in a folder
    markup    self-contained HTML
    nearest   suggestions for misspelt names
    output    writes files completely or not at all
    rc_stats  `rc_stats`
    source    reads files with a size limit
    memory    available memory
    shape     validates JSON
    table     tables
    tc        `tc -s qdisc`
    terminal  width and colours
    toml      writes TOML
"""
