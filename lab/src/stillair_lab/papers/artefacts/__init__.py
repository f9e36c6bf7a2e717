"""The figures and tables of the papers, regenerated: as text for the terminal, as a picture in the paper's form.

A plan says by name what an experiment draws, and describes by data what no room here knows.

    gallery          all of them by name
    anomaly          those of *Ending the Anomaly*
    bquic            those of the paper on bursty QUIC
    kinds            figures that a plan describes by data
    retry_out        marks over their data rate, and where claims about them hold
    worked_examples  worked examples, frame by frame
    tsq              Figures 4 to 7 of *The New TCP Modules on the Block*
    intervals        a mean with its interval, as text and on a bar
    style            the look of pictures
"""
