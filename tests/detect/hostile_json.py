"""JSON as a stranger may send it: any type anywhere, around the words that the readers look for."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import strategies as st

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(
        ["tools", "completion", "{{ .Tools }}", "num_ctx 2048", "PARSER x", 10**400, -1, 0, "llm", "b9999-x"]
    )
)


def hostile_json(keys: Iterable[str]) -> st.SearchStrategy[dict[str, object]]:
    """Objects with these keys (and others), nested in any way."""
    names = st.sampled_from(sorted(keys)) | st.text(max_size=8)
    values = st.recursive(
        scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=6), max_leaves=20
    )
    return st.dictionaries(names, values, max_size=10)
