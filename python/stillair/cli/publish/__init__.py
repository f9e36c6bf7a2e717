"""A kept result in another form: a file for another program, a picture, one page.

command     `stillair export`, `plot`, `report`
export      files for other programs
page        a result as one page
quality     `stillair qoo`: a result scored by what an application needs
time_range  part of a run: `10 s..10.05 s`
"""
