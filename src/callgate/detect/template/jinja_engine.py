"""Jinja2, the authority: what it renders is what transformers renders."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import TemplateSyntaxError
from jinja2.ext import Extension, loopcontrols
from jinja2.meta import find_undeclared_variables
from jinja2.parser import Parser
from jinja2.sandbox import SandboxedEnvironment

from callgate.detect.template.dialect import FILTERS, FUNCTIONS, Refused
from callgate.vocabulary import TemplateError, TemplateTooCostly

LONGEST_WORDS = 300


class _Generation(Extension):
    """`{% generation %} … {% endgeneration %}` marks what an assistant wrote; in a prompt it is just its body."""

    tags = {"generation"}  # noqa: RUF012  (as the base class declares it)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _environment() -> SandboxedEnvironment:
    """As transformers has it, but for what llama.cpp allows as well: changing lists, and the filter `from_json`."""
    environment = SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, loopcontrols])
    environment.filters.update(FILTERS)
    environment.globals.update(FUNCTIONS)
    return environment


_ENVIRONMENT = _environment()


class JinjaEngine:
    """One compiled template."""

    def __init__(self, source: str, *, why: str = "") -> None:
        """Raises: TemplateError, if `source` doesn't parse; TemplateTooCostly, if it is nested too deeply."""
        self.name = f"jinja2, because of {why}" if why else "jinja2"
        self.failure: str | None = None
        self._source = source
        try:
            with warnings.catch_warnings():  # Python warns of escapes such as '\\s', which templates have
                warnings.simplefilter("ignore")
                self._template = _ENVIRONMENT.from_string(source)
        except TemplateSyntaxError as error:
            raise TemplateError(f"the chat template doesn't parse: line {error.lineno}: {error.message}") from None
        except (RecursionError, MemoryError):
            raise TemplateTooCostly("the chat template is nested too deeply") from None
        except (SyntaxError, ValueError, OverflowError) as error:
            raise TemplateError(f"the chat template doesn't compile: {error}") from None

    def prompt(self, context: Mapping[str, Any]) -> str:
        """Raises: TemplateError, if it won't have this conversation; TemplateTooCostly, if it takes too much memory, or
        nests too deeply.
        """
        try:
            return self._template.render(context)
        except (MemoryError, RecursionError, OverflowError) as error:
            why = f": {error}" if str(error) else ""
            raise TemplateTooCostly(f"the chat template is too costly to render{why}") from None
        except Refused as error:
            raise TemplateError(f"the chat template refuses this conversation: {_words(error)}") from None
        except Exception as error:  # noqa: BLE001  (a template can provoke any)
            raise TemplateError(f"the chat template fails on this conversation: {_words(error)}") from None

    def render(self, context: Mapping[str, Any]) -> str | None:
        """Raises: TemplateTooCostly, as `prompt` does."""
        try:
            return self.prompt(context)
        except TemplateTooCostly:
            raise
        except TemplateError as error:
            self.failure = error.message
            return None

    def confirm(self, *, thin: bool) -> None:
        """Jinja2's answers are final."""

    def variables(self) -> set[str]:
        """The variables that it expects from whoever renders it."""
        return find_undeclared_variables(_ENVIRONMENT.parse(self._source))


def _words(error: Exception) -> str:
    """What an error says, on one line and not for ever. Its words are a stranger's."""
    try:
        said = str(error)[: 4 * LONGEST_WORDS]
    except Exception:  # noqa: BLE001  (of an object that the template made)
        said = ""
    line = " ".join("".join(c if c.isprintable() else " " for c in said).split())
    return line[:LONGEST_WORDS] or type(error).__name__
