"""What runs gave: summaries, series of 0.2 s steps, what was sampled, statistics over runs.

A result reads its folder, and writes tables, qlog and the files of Flent.

    result         what runs gave
    summary        results as text
    result_folder  a result folder read
    flent          Flent's files
    sampled        what `[record]` asks for
    tidy           one table of all series
    qlog           flows over QUIC, as qvis reads them
    exchanges      every exchange on the air
    sojourn        where the time of packets went
    series         what happened in steps of 0.2 s
    frame          tables by columns, for whatever reads Arrow
    report         a run's report, key by key
    statistics     means and intervals over runs
"""
