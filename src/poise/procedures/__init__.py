"""Procedures: generators that ask for trials and return what they were told."""
