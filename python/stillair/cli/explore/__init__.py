"""`stillair explore`: the page of `web/`, served on loopback, with the native engine behind it.

`guard` decides which requests are answered, `engines` what runs and for how long. Neither knows scenarios.

    command     the command: named files, printed address, server
    server      HTTP requests
    guard       request checks
    engines     engine processes and their limits
    engine      one engine process
"""
