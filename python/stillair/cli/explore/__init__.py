"""`stillair explore`: the page of `web/`, served on loopback, with the native engine behind it.

Who may ask is decided by `guard`, what runs and for how long by `engines`; neither knows what a scenario is.

    command     the command: files named, address printed, server run
    server      requests over HTTP
    guard       which requests are answered
    engines     processes with the engine in them, and their limits
    engine      such a process
"""
