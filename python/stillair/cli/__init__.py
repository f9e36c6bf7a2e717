"""The commands, their options, and what single commands write.

A command says what is to be done and prints what came of it. What is done stands in the packages below.

    app         all commands together
    running     `stillair run` and `sweep`
    compare     `stillair compare`: results, scenarios, settings side by side
    look        `stillair ss`, `tc`, `rc`: what a host would tell
    check       `stillair check`: what a scenario comes to
    new         `stillair new`: a scenario with comments
    scenarios   `stillair scenarios`: what runs by name
    paper       the papers' command
    export      `stillair export`: files for other programs
    page        `stillair report`: a result as one page
    options     options that several commands have
    place       whether a folder may take a new result
    progress    how far it is, for people
    time_range  part of a run: `10 s..10.05 s`
"""
