"""Where minijinja and Jinja2 differ, and that we know it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect.template.differences import ADDED_SAFE_TEXT, LOOP_OVER_NONE, first_difference
from callgate.detect.template.jinja_engine import JinjaEngine
from callgate.detect.template.minijinja_engine import MinijinjaEngine, Unsure

CONTEXT: dict[str, Any] = {"text": "a\n", "items": ["x", "y"], "nothing": None, "tools": None, "documents": None}

DIFFERENT = {
    "a raw block": "{% raw %}\nb{% endraw %}",
    ADDED_SAFE_TEXT: "{% set a = '<a>' | safe %}{{ a + '<b>' }}",
    "the filter indent": "{{ text | indent(2) }}",
    "the filter attr": "{{ {'a': 1} | attr('a') }}",
    "the test sameas": "{{ items is sameas items }}",
    "the variable self": "{{ self is defined }}",
    LOOP_OVER_NONE: "{% for tool in tools %}{{ tool }}{% endfor %}",
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_the_engines_differ_on_each_construct_and_it_is_recognised(name: str) -> None:
    source = DIFFERENT[name]
    assert first_difference(source) == name
    assert MinijinjaEngine(source).render(CONTEXT) != JinjaEngine(source).render(CONTEXT)


UNSURE = {
    "a list that grows": "{% set l = [] %}{{ l.append(1) or l }}",
    "a dictionary that grows": "{% set d = {} %}{{ d.update({'a': 1}) or d }}",
    "a test of none": "{{ nothing is iterable }}",
    "the length of what isn't there": "{{ absent | length }}",
    "formatting by percent": "{{ '%s' % 'a' }}",
    "a method that it lacks": "{{ 'ab'.removesuffix('b') }}",
    "a filter that it lacks": "{{ 'a b' | wordcount }}",
    "arguments beyond the named ones": "{% macro f() %}{{ varargs }}{% endmacro %}{{ f(1) }}",
}


@pytest.mark.parametrize("source", UNSURE.values(), ids=UNSURE.keys())
def test_what_minijinja_alone_refuses_is_left_to_jinja2(source: str) -> None:
    assert JinjaEngine(source).render(CONTEXT) is not None
    with pytest.raises(Unsure):
        MinijinjaEngine(source).render(CONTEXT)


SHARED = {
    "a sum with none": "{{ 'a' + nothing }}",
    "a sum with what isn't there": "{{ 'a' + absent }}",
    "items of a text": "{% for a, b in text.items() %}{% endfor %}",
    "pairs of a text": "{% for a, b in text | items %}{% endfor %}",
    "a method of none": "{{ nothing.strip() }}",
    "a field of what isn't there": "{{ absent.field }}",
    "the length of none": "{{ nothing | length }}",
    "an exception of its own": "{{ raise_exception('no') }}",
}


@pytest.mark.parametrize("source", SHARED.values(), ids=SHARED.keys())
def test_what_both_refuse_needs_no_second_opinion(source: str) -> None:
    assert JinjaEngine(source).render(CONTEXT) is None
    assert MinijinjaEngine(source).render(CONTEXT) is None


SAME = [
    "{{ {'a': true, 'b': none} }}{{ [1, 'q'] }}{{ ('a',) }}",
    "{{ {'a': 'é<'} | tojson }}{{ {'b': 1, 'a': 2} | tojson(sort_keys=true, indent=2) }}",
    "{{ [1, 2] | tojson(separators=(',', ':')) }}{{ 'é' | tojson(ensure_ascii=true) }}",
    "{% set ns = namespace(x=1) %}{% for i in [1, 2] %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}",
    "{% for x in [1, 2, 3] %}{% if x == 2 %}{% continue %}{% endif %}{{ loop.index }}{{ loop.last }}{% endfor %}",
    "{% for x in [1, 2] %}{% if x == 2 %}{% break %}{% endif %}{{ x }}{% endfor %}",
    "{{ ' a '.strip() }}{{ 'a,b'.split(',')[-1] }}{{ 'ab'.startswith(('x', 'a')) }}",
    "{{ 'a'.replace('a', 'b') }}{{ 'A b'.lower().title() }}{{ 'ab'.find('b') }}{{ ' a'.lstrip() }}",
    "{% macro f(a, b=2) %}{{ a }}{{ b }}{% endmacro %}{{ f(1) }}{{ f(1, b=3) }}",
    "{{ items[::-1] }}{{ items[-1] }}{{ text[:1] }}",
    "{{ [{'a': 1}, {'a': 2}] | selectattr('a', 'equalto', 2) | map(attribute='a') | list }}",
    "{{ strftime_now('%Y-%m-%d') }}{{ '[1]' | from_json }}",
    "{{ {'a': 1} is sequence }}{{ 'a' is sequence }}{{ 3 is iterable }}{{ {'a': 1} is mapping }}",
    "a {% generation %}b{% endgeneration %} c {%- generation -%} d {%- endgeneration %} e",
    "a\r\nb\r{% if true %}\r\nc{% endif %}",
    "  {% if true %}\n  a\n  {% endif %}\n  {# c #}\nb\n",
    "{{ '<b>' | safe }}{{ {'a': '<'} | tojson | safe ~ '<' }}",
    "{% set a = '<a>' | safe %}{{ a }}{{ a ~ '<b>' }}{{ 'x' + 'y' }}",
]


@pytest.mark.parametrize("source", SAME)
def test_the_dialect_is_rendered_alike(source: str) -> None:
    assert first_difference(source) is None
    rendered = MinijinjaEngine(source).render(CONTEXT)
    assert rendered is not None
    assert rendered == JinjaEngine(source).render(CONTEXT)


def test_documents_may_be_none_as_well_as_tools() -> None:
    assert first_difference("{% for d in documents %}{{ d }}{% endfor %}") == LOOP_OVER_NONE
    assert first_difference("{% if documents %}{% for d in documents %}{{ d }}{% endfor %}{% endif %}") is None


def test_words_in_strings_comments_and_text_are_no_constructs() -> None:
    assert first_difference("{# x | safe + y #} self | indent {{ 'self' ~ \"| indent(\" }}") is None
    assert first_difference("{% if tools %}{% for tool in tools %}{{ tool }}{% endfor %}{% endif %}") is None


@given(st.text(alphabet="{%}#'\"\\ abs|+\n", max_size=200))
def test_looking_for_constructs_takes_any_text(source: str) -> None:
    first_difference(source)
