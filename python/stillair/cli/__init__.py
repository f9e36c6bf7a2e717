"""The commands and their options.

A command reads its options, calls the packages below, and prints the result.

    app         all commands by name, each imported on use
    extension   commands of other packages, announced by entry points
    running     `stillair run` and `sweep`
    compare     `stillair compare`, `bisect`: results, scenarios, settings and versions side by side
    advice      `stillair explain`, `tune`, `faq`: why packets are late, which settings are best
    host_state  `stillair ss`, `tc`, `rc-stats`: the state of a simulated host
    real        `stillair live`, `crosscheck`, `kernel`: real hosts
    budget      `stillair budget`: a transport's limits on named paths
    new         `stillair new`: a commented scenario
    imports     `stillair import`, `doctor`: scenarios from a machine's own output
    scenarios   `stillair scenarios`, `schema`, `check`: list, describe and check scenarios
    explore     `stillair explore`: the web page with the native engine behind it
    publish     `stillair export`, `plot`, `report`: results in other formats
    common      shared options, progress and output folders
"""
