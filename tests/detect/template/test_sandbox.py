from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from callgate.detect.template import TemplateSandbox
from callgate.detect.template.choose import probe
from callgate.vocabulary import CallgateError, TemplateError, TemplateTooCostly
from tests.detect.template.samples import SAMPLES

BY_JINJA = "{% raw %}{% endraw %}"
DOUBLING = (
    "{% set n = namespace(s='aaaaaaaaaa') %}{% for i in range(60) %}{% set n.s = n.s ~ n.s %}{% endfor %}{{ n.s }}"
)
NESTED = "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}x" + "{% endfor %}" * 3
GROWING = "{% macro f(n) %}{% if n %}{{ f(n - 1) }}{{ f(n - 1) }}{% endif %}{% endmacro %}{{ f(60) }}"
BOMBS = {
    "a long range": "{% for i in range(10**9) %}a{% endfor %}",
    "a long text": "{{ 'a' * 10**10 }}",
    "doubling": DOUBLING,
    "loops in loops": NESTED,
    "macros that call themselves": "{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}",
    "macros that call themselves twice": GROWING,
    "a giant join": "{{ range(99999) | join('a' * 100000) }}",
    "a wide format": "{{ '%10000000000d' % 1 }}",
    "a wide format, Python's way": "{{ '{:>10000000000}'.format(1) }}",
    "parentheses": "{{ " + "(" * 20_000 + "1" + ")" * 20_000 + " }}",
    "lists": "{{ " + "[" * 20_000 + "]" * 20_000 + " }}",
    "conditions": "{% if true %}" * 20_000,
    "doubling in Jinja2": BY_JINJA + DOUBLING,
    "loops in loops in Jinja2": BY_JINJA + NESTED,
    "macros in Jinja2": BY_JINJA + GROWING,
}


def test_it_gives_the_answers_of_the_probe() -> None:
    with TemplateSandbox() as sandbox:
        for sample in SAMPLES.values():
            assert sandbox.probe(sample.source) == probe(sample.source, {})


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_too_costly_and_the_next_template_is_examined(name: str) -> None:
    with TemplateSandbox() as sandbox:
        with pytest.raises(TemplateTooCostly):
            sandbox.probe(BOMBS[name])
        assert sandbox.probe(SAMPLES["plain"].source).supports_string_content


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't tell or limit a process's memory alike")
def test_no_bomb_takes_more_than_200_mb() -> None:
    script = (
        "import resource\n"
        "from callgate.detect.template import TemplateSandbox\n"
        "from tests.detect.template.test_sandbox import BOMBS\n"
        "with TemplateSandbox() as sandbox:\n"
        "    for bomb in BOMBS.values():\n"
        "        try: sandbox.probe(bomb)\n"
        "        except Exception: pass\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(done.stdout) * 1024 < 200_000_000


@pytest.mark.parametrize(
    "source",
    [
        "{{ messages.__class__ }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ messages.append.__self__ }}",
        "{{ raise_exception.__globals__ }}",
        "{{ strftime_now.__globals__['sys'] }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ cycler.__init__.__globals__.os }}",
        "{{ messages | attr('__class__') }}",
        "{{ '{0.__class__}'.format(messages) }}",
        "{{ '{0.__class__}'.format(tools) }}",
    ],
)
@pytest.mark.parametrize("engine", ["minijinja", "jinja2"])
def test_python_itself_is_out_of_reach(engine: str, source: str) -> None:
    from callgate.detect.template.jinja_engine import JinjaEngine
    from callgate.detect.template.minijinja_engine import MinijinjaEngine, Unsure

    context = {"messages": [{"role": "user", "content": "x"}], "tools": None}
    try:
        shown = (MinijinjaEngine if engine == "minijinja" else JinjaEngine)(source).render(context) or ""
    except Unsure:
        shown = ""
    assert not any(word in shown for word in ("class", "built-in", "module", "function", "object"))


def test_a_broken_template_is_an_error_and_no_death() -> None:
    with TemplateSandbox() as sandbox:
        with pytest.raises(TemplateError, match="line 1"):
            sandbox.probe("{% for %}")
        with pytest.raises(TemplateError) as caught:
            sandbox.probe("{{ 1 | no_such_filter }}")
        assert not isinstance(caught.value, TemplateTooCostly)


def test_it_may_be_shared_between_threads() -> None:
    with TemplateSandbox() as sandbox:
        seen: dict[str, bool] = {}

        def ask(name: str) -> None:
            seen[name] = sandbox.probe(SAMPLES[name].source).supports_tools

        threads = [threading.Thread(target=ask, args=(name,)) for name in SAMPLES]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert seen == {name: "supports_tools" in sample.can for name, sample in SAMPLES.items()}


def test_it_starts_anew_after_it_was_closed() -> None:
    sandbox = TemplateSandbox()
    assert sandbox.probe(SAMPLES["plain"].source).supports_string_content
    sandbox.close()
    assert sandbox.probe(SAMPLES["plain"].source).supports_string_content
    sandbox.close()


@pytest.mark.skipif(os.name != "posix", reason="there are no such signals")
def test_the_worker_ends_with_its_parent_even_after_a_kill() -> None:
    script = (
        "import os, signal\n"
        "from callgate.detect.template import TemplateSandbox\n"
        "sandbox = TemplateSandbox()\n"
        "sandbox.probe('{{ messages }}')\n"
        "print(sandbox._worker._process.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    worker = int(done.stdout)
    for _ in range(500):
        try:
            os.kill(worker, 0)
        except ProcessLookupError:
            return
        time.sleep(0.01)
    pytest.fail("the worker is still there")


@pytest.mark.skipif(os.name != "posix", reason="there are no process groups")
def test_ctrl_c_is_for_whoever_typed_it_and_not_for_the_worker() -> None:
    with TemplateSandbox() as sandbox:
        sandbox.start()
        worker = sandbox._worker
        assert worker is not None
        assert os.getpgid(worker._process.pid) != os.getpgid(0)


def test_a_worker_that_dies_before_its_first_template_is_replaced() -> None:
    with TemplateSandbox() as sandbox:
        sandbox.start()
        assert sandbox._worker is not None
        sandbox._worker._process.kill()
        with pytest.raises(CallgateError, match="doesn't start"):
            sandbox.probe(SAMPLES["plain"].source)
        assert sandbox.probe(SAMPLES["plain"].source).supports_tools is False
