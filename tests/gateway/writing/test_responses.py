import re

from callgate.gateway.writing.responses import Asked, ResponseWriter
from callgate.vocabulary import AssistantDelta, Done, Event, ThinkingDelta


def test_every_event_has_the_next_number_however_many_there_are() -> None:
    events: list[Event] = [AssistantDelta(f"word {number}%d ") for number in range(5_000)]
    events[100:100] = [ThinkingDelta("hm "), ThinkingDelta("well ")]
    for _ in range(2):  # the second answer ends its pieces as the first did
        writer = ResponseWriter("m", asked=Asked({}, (), {}, stores=False))
        said = b"".join([*map(writer.feed, events), writer.feed(Done("stop")), writer.end(None)])
        numbers = [int(number) for number in re.findall(rb'"sequence_number":(\d+)}\n\n', said)]
        assert numbers == list(range(len(numbers)))
        assert len(numbers) > len(events)
        assert said.count(b'"delta":"word ') == 5_000
