"""A kept result in another form: an export, a picture, or a page.

command     `stillair export`, `plot`, `report`
export      files for other programs
page        a result as one page
quality     `stillair qoo`: a result scored against an application's needs
time_range  part of a run: `10 s..10.05 s`
"""
