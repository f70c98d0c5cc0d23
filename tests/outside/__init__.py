"""Numbers from outside, against what lowering makes: golden and the file share its faults."""
