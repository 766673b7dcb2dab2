"""What is tested: algorithms as black boxes, and how far apart their predictions are."""
