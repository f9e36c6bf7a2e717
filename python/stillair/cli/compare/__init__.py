"""`stillair compare`: results, scenarios or settings side by side, with what is different and how sure that is.

command  the command
picture  bars with intervals
shown    text, Markdown, JSON
rows     each quantity on every side
sides    what is compared
"""
