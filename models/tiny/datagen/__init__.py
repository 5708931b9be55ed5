"""Tool-calling conversations, made up by rules: for training, and with tools held out for the evaluation.

`Generator.conversation()` gives messages, tools and what of it to learn; `render` makes the text of it. Arguments come
in the order that llama.cpp's schema grammars want: required ones first, then optional ones, each as in `properties`.
"""

from datagen.conversations import Generator, training_generator
from datagen.lists import HELD_NOUNS, HERE, JOBS, OPEN_QUESTIONS, SMALL_TALK, WORDS, dumps
from datagen.rendering import emulated, render
from datagen.specs import load_domains

__all__ = [
    "HELD_NOUNS",
    "HERE",
    "JOBS",
    "OPEN_QUESTIONS",
    "SMALL_TALK",
    "WORDS",
    "Generator",
    "dumps",
    "emulated",
    "load_domains",
    "render",
    "training_generator",
]
