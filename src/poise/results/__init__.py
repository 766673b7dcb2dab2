"""What trials say: designs, questions, changes, results, their words and files; fits nothing."""
