"""The figures and tables of the papers, regenerated as text for the terminal and as pictures in the paper's form.

A plan names the artefact of each experiment, and can describe figures as data.

    gallery          all artefacts by name
    anomaly          figures of *Ending the Anomaly*
    bquic            figures of the paper on bursty QUIC
    kinds            figures that a plan describes as data
    retry_out        marks by data rate, and where claims about them hold
    worked_examples  worked examples, frame by frame
    tsq              Figures 4 to 7 of *The New TCP Modules on the Block*
    intervals        a mean with its interval, as text and on a bar
    style            style of pictures
"""
