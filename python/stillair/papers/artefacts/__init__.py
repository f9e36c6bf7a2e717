"""The figures and tables of the papers, regenerated: as text for the terminal, as a picture in the paper's form.

A plan says by name what an experiment draws.

    gallery    all of them by name
    anomaly    those of *Ending the Anomaly*
    bquic      those of the paper on bursty QUIC
    one_ms     figures of *Towards 1 ms WLAN Latency*
    retry_out  marks over their data rate, and where claims about them hold
    worked     worked examples, frame by frame
    tsq        Figures 4 to 7 of *The New TCP Modules on the Block*
    tsq_wifi   its Figure 8
    intervals  a mean with its interval, as text and on a bar
    style      the look of pictures
"""
