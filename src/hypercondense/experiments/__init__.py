"""Experiments: plans become runs, runs become lines of a results file, lines become tables and figures."""
