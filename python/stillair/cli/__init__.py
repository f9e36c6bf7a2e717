"""The commands, their options, and what single commands write.

A command says what is to be done and prints what came of it. What is done stands in the packages below.

    app         all commands and their options
    paper       the papers' command
    export      `stillair export`: files for other programs
    page        `stillair report`: a result as one page
    sweeps      what a sweep says beside its table
    options     options that several commands have
    place       whether a folder may take a new result
    progress    how far it is, for people
    time_range  part of a run: `10 s..10.05 s`
"""
