from __future__ import annotations

from callgate.tools.kept import Kept


def test_a_thing_is_made_once_for_the_same_records() -> None:
    kept: Kept[list[object]] = Kept()
    record = object()
    first = kept.of([record], "a", lambda: [record])
    assert kept.of((record,), "a", list) is first
    assert kept.of([record], "b", list) is not first
    assert kept.of([record, record], "a", list) is not first
    assert kept.of([object()], "a", list) is not first


def test_only_the_last_few_are_kept() -> None:
    kept: Kept[object] = Kept(most=2)
    records = [object() for _ in range(3)]
    made = [kept.of([record], None, object) for record in records[:2]]
    assert kept.of([records[0]], None, object) is made[0]
    kept.of([records[2]], None, object)
    assert kept.of([records[0]], None, object) is made[0]
    assert kept.of([records[1]], None, object) is not made[1]
