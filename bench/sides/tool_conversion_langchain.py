"""Functions into OpenAI's form with langchain-core, which is what most people have for it."""

from importlib.metadata import version

from langchain_core.utils.function_calling import convert_to_openai_tool

from bench.measure import emit, timed
from bench.sides.hundred_functions import AGAIN, FIRST_TIME, FUNCTIONS, hundred_functions

ROUNDS = 3
VERSION = f"langchain-core {version('langchain-core')}"
sets = iter([hundred_functions() for _ in range(ROUNDS + 1)])
known = hundred_functions()

assert len([convert_to_openai_tool(function) for function in known]) == FUNCTIONS
first = timed(lambda: [convert_to_openai_tool(one) for one in next(sets)], rounds=ROUNDS, warm_up=1)
emit(FIRST_TIME, first * 1e3, "ms", VERSION)
again = timed(lambda: [convert_to_openai_tool(one) for one in known], rounds=ROUNDS, warm_up=1)
emit(AGAIN, again * 1e3, "ms", VERSION)
