"""Pictures of results and plans, drawn by matplotlib for a column of 3.3 inches."""
