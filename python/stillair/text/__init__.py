"""Text by itself: files written whole, JSON read by its shape, tables, TOML, HTML, what `tc` prints.

Nothing here knows a run.

    signals   signals, and processes that end with their parent
    extras    packages that only some commands need
    lock      one writer at a time in a folder
    markup    HTML that needs no other file
    nearest   the name that was probably meant
    output    files written whole
    rc_stats  `rc_stats`
    source    files read within a limit
    memory    how much there is
    shape     what JSON has to look like
    table     tables
    tc        `tc -s qdisc`
    terminal  how wide it is, colours
    toml      TOML written
"""
