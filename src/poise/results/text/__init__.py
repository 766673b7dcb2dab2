"""Results in words: five lines, and everything else about them."""
