"""What several test files use.

algorithms    small algorithms with a known answer
data          rows drawn from a linear model
journals      journals as a killed process leaves them
processes     Python in a process of its own, and what it leaves behind
    r             R and its packages, which not every machine has
"""
