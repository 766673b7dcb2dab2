"""What several test files use.

algorithms     small algorithms with a known answer
browsers       browsers that only write down what they were asked to open
data           rows drawn from a linear model, and shares that are 0 or 1
forgery        certificates that somebody has altered, one value at a time
fuzzing/       damaged files: how they are made, and what came of reading them
journals       journals as a killed process leaves them
ledgers        what is in a ledger
memory         how much memory something takes
monitors       rows and an algorithm with known changes, for records that grow
paper_loop     the paper's split as a loop written by hand
partitions     partitions that are data frames of this process
paths          where the documentation and the examples are
procedures     procedures that several tests run
processes      Python in a process of its own, and what it leaves behind
r              R and its packages, which not every machine has
row_trace      one row of a CSV file, followed through the files of poise
shortcut_rows  rows that are hard for a shortcut
table_files    one column of a table in a file
ui             folders with one result of every kind, and clients of a server
zip_files      zip files in memory
"""
