"""The sample is a project of its own, which the tests run."""

collect_ignore = ["sample"]
