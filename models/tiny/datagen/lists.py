"""The words and phrases that conversations are made of: words.json, phrases.json, and what follows from them."""

from __future__ import annotations

import json
import re
import zlib
from functools import cache
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


@cache
def split(text):
    """The alternatives in `a|b|c`."""
    return text.split("|")


def dumps(value):
    return json.dumps(value, ensure_ascii=False)


def parse_kind(text):
    """A kind of value, such as `int(1,500)`, as its name and what it needs."""
    kind, arg = re.match(r"(\w+)(?:\((.*)\))?$", text).groups()
    if kind == "int":
        arg = tuple(int(number) for number in arg.split(",")) if arg else (1, 500)
    elif kind == "enum":
        arg = [(word.split("~")[0], word.split("~")[1:]) for word in arg.split(",")]
    elif kind == "bool":
        arg = [words.split("~") for words in arg.split("/")]
    return kind, arg


_words = json.loads((HERE / "words.json").read_text("utf-8"))
WORDS, JOBS, COUNTRIES, STREETS = (_words[name] for name in ("words", "jobs", "countries", "streets"))
FIRST_NAMES, LAST_NAMES, CURRENCIES = _words["first"], _words["last"], _words["currencies"]

_lists = json.loads((HERE / "phrases.json").read_text("utf-8"))
CITIES, LONG_CITIES, LANGUAGES, UNITS, ROOMS, THINGS = (
    _lists[name] for name in ("cities", "long_cities", "languages", "units", "rooms", "things")
)
PLACES, CONDITIONS, SERVICES, EXTENSIONS, TIME_ZONES, TLDS = (
    _lists[name] for name in ("places", "conditions", "services", "extensions", "time_zones", "tlds")
)
MONTHS, WEEKDAYS, NUMBER_WORDS, COLORS = (_lists[name] for name in ("months", "weekdays", "number_words", "colors"))
TASKS, MESSAGES, TOPICS, COMMANDS, PYTHON, SQL = (
    _lists[name] for name in ("tasks", "messages", "topics", "commands", "python", "sql")
)
SYSTEM, SYSTEM_MORE, OPEN_QUESTIONS = (_lists[name] for name in ("system", "system_more", "open_questions"))
ERRORS, EXCEPTIONS, NO_TOOL = _lists["errors"], _lists["exceptions"], _lists["no_tool"][0]
PHRASES, TRUE_PHRASES, FALSE_PHRASES = _lists["phrases"], _lists["true_phrases"], _lists["false_phrases"]
DESCRIPTIONS, TAILS = _lists["descriptions"], _lists["tails"]
DIMENSIONS, DIMENSION_UNITS, PAIRS = _lists["dimensions"], _lists["dimension_units"], _lists["pairs"]
ROLE_KINDS, OBJECTS = _lists["role_kinds"], _lists["objects"]
FOREIGN = _lists["foreign"]
OBJECT_PHRASES = {tuple(keys.split()): split(phrases) for keys, phrases in _lists["object_phrases"].items()}
SMALL_TALK = [(split(said), split(answers)) for said, answers in _lists["small_talk"]]
ATTRIBUTES = [
    (split(names), parse_kind(kind), split(phrases) if phrases else []) for names, kind, phrases in _lists["attributes"]
]

HELD_NOUNS = _lists["held_nouns"]
"""For the evaluation alone."""
NOUNS = _lists["nouns"]
ALL_NOUNS = NOUNS + [word for word in WORDS if word not in set(HELD_NOUNS) and zlib.crc32(word.encode()) % 25]

SYLLABLES = [
    start + end
    for start in split(
        "b|bl|br|c|cl|d|dr|f|fl|g|gl|gr|h|j|k|kl|l|m|n|p|pl|pr|qu|r|s|sk|sl|sn|sp|st|t|tr|v|w|x|z|zh|th|sh"
    )
    for end in split("a|e|i|o|u|oo|ee|ai|ar|or|er|un|in|im|al|ig|op|ap|ix|ex|ob|ub|ant|ond")
]

VERBS = [(split(names), split(texts), split(requests), does) for names, texts, requests, does in _lists["verbs"]]
"""Names, descriptions, requests, and what it does: C creates, I acts on one, L lists, S searches, U updates."""


def _plain_verb(number, name):
    word = name.replace("_", " ")
    texts = [f"{word} a {{n}}", f"{word} the {{n}}", f"{word}s a {{n}}", f"{word} one or more {{ns}}"]
    requests = [" {x}", " {x}", " {x}"] if number % 3 else [" a {n}", " a new {n}", " one {n}", " the {n}"]
    texts = [text[0].upper() + text[1:] for text in texts]
    return [name], texts, [word + request for request in requests], "CIU"[number % 3]


MORE_VERBS = [_plain_verb(number, name) for number, name in enumerate(_lists["more_verbs"])]

# What begins like this is no order, and nobody would put "please" before it.
STATEMENT = re.compile(
    r"(I|I'd|I'm|I'll|[Mm]y|[Ww]e|[Tt]he|[Tt]here|[Ff]or|[Ww]ith|[Aa]bout|[Tt]his|[Ii]ts?|[Oo]ne|[Ss]omething|[Hh]ow"
    r"|[Ww]hat|[Ww]hich|[Ww]hen|[Ww]ho|[Ww]here|[-'\"\d(]"
    r"|\w+ (?:of|is|are|was|to|for|in|on|rate|percent|degrees|light)\b)"
)


def plural(noun):
    if noun.endswith(("s", "x", "ch", "sh", "z")):
        return noun + "es"
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + "s"
