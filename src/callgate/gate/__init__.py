"""Pure, the heart: plans how tools reach a model, rewrites the history for it, and mends what comes back.

Tool-support logic lives here and nowhere else.
"""
