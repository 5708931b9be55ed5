"""The gate's mender, with tools offered and text calls looked for, on the words of a plain answer."""

import sys

from bench.measure import emit, timed
from callgate.gate import Policy, plan
from callgate.vocabulary import Answer, AssistantDelta, Capabilities, ChatRequest, Done, Means, Message, Tool

ANSWER = "The weather in Lisbon is sunny today , with 24 degrees and a light wind from the north-west .\n\n"
PROMISED = 200_000

count = int(sys.argv[1])
tools = tuple(Tool(name) for name in ("get_weather", "search", "calculator", "read_file"))
known = Capabilities(name="m", tools=Answer.YES, native_route=Answer.YES)
request = ChatRequest(model="m", messages=(Message(role="user", content="The weather?"),), tools=tools)
words = ANSWER.split(" ")
events = [AssistantDelta(f" {words[number % len(words)]}") for number in range(count)]


def through() -> None:
    mender = plan(request, known, Means(), Policy()).mender()
    passed = 0
    for event in events:
        passed += len(mender.feed(event))
    passed += len(mender.feed(Done("stop")))
    assert passed >= count


rate = count / timed(through, rounds=3, warm_up=1)
emit("chunks through the gate", rate, "chunks/s")
if rate < PROMISED:
    print(f"less than the {PROMISED:,} chunks/s that are promised", file=sys.stderr)
