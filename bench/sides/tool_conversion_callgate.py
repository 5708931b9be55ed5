"""Functions into OpenAI's form with callgate."""

from bench.measure import emit, timed
from bench.sides.hundred_functions import AGAIN, FIRST_TIME, FUNCTIONS, hundred_functions
from callgate.tools import read_tools, write_tools

ROUNDS = 9
sets = iter([hundred_functions() for _ in range(ROUNDS + 1)])
known = hundred_functions()

assert len(write_tools(read_tools(known), "openai")) == FUNCTIONS
first = timed(lambda: write_tools(read_tools(next(sets)), "openai"), rounds=ROUNDS, warm_up=1)
emit(FIRST_TIME, first * 1e3, "ms")
emit(AGAIN, timed(lambda: write_tools(read_tools(known), "openai"), rounds=ROUNDS, warm_up=1) * 1e3, "ms")
