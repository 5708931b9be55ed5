"""What clients are told, in their own words: a dialect's writers, where its file would be too long with them, and what
several dialects have in common.
"""
