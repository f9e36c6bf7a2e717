"""The commands, their options, and what single commands write.

A command says what is to be done and prints what came of it. What is done stands in the packages below.

    app         all commands by name, each loaded late
    extension   commands of other packages, announced by entry points
    running     `stillair run` and `sweep`
    compare     `stillair compare`, `bisect`: results, scenarios, settings, versions side by side
    advice      `stillair explain`, `tune`, `faq`: why packets are late, which settings are best
    host_state  `stillair ss`, `tc`, `rc-stats`: what a host would tell
    real        `stillair live`, `crosscheck`, `kernel`: real hosts
    budget      `stillair budget`: a transport's limits on named paths
    new         `stillair new`: a scenario with comments
    imports     `stillair import`, `doctor`: what a machine tells of its network
    scenarios   `stillair scenarios`, `schema`, `check`: what there is to run, without running it
    explore     `stillair explore`: the page in the browser, with the native engine behind it
    publish     `stillair export`, `plot`, `report`: a result in another form
    common      what several commands need
"""
