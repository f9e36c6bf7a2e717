"""What the pictures of the paper on bursty QUIC have in common: its two variants, their names and colours."""

from stillair_lab.papers.artefacts import style

TITLES = {"quic": "QUIC", "bquic": "BQUIC"}
COLOURS = {"quic": style.BLUE, "bquic": style.ORANGE}
