"""Black-box tests (Definition 1), each a generator that asks and is answered."""
