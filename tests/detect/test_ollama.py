from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given

from callgate.detect.ollama import ollama_evidence, ollama_templates
from callgate.vocabulary import Answer, Capabilities, Evidence, Facts, ServerKind, Source
from tests.detect.hostile_json import hostile_json

TINY = json.loads(Path(__file__).with_name("data").joinpath("ollama_tiny.json").read_text(encoding="utf-8"))
GO = "{{ .System }}{{ range .Tools }}{{ . }}{{ end }}{{ range .Messages }}{{ .ToolCalls }}{{ end }}"


def facts(
    show: dict[str, Any] | None = None,
    *,
    tags: dict[str, Any] | None = None,
    ps: dict[str, Any] | None = None,
    version: str | None = "0.12.0",
) -> Facts:
    return Facts(
        name="m", server=ServerKind.OLLAMA, server_version=version, answer=show, listing=tags, running=ps, at=5.0
    )


def said(found: Facts) -> dict[str, Evidence]:
    """The first word on each claim, of the strongest source."""
    first: dict[str, Evidence] = {}
    for each in sorted(ollama_evidence(found), key=lambda each: each.source.rank):
        first.setdefault(each.claim, each)
    return first


def test_a_real_answer_is_read_whole() -> None:
    found = said(facts(TINY["show"], tags=TINY["tags"], ps=TINY["ps"], version=TINY["version"]["version"]))
    answers = {claim: each.answer for claim, each in found.items()}
    assert answers == {
        "tools": Answer.YES,
        "native_route": Answer.YES,
        "is_embedding": Answer.NO,
        "supports_vision": Answer.NO,
        "supports_thinking": Answer.NO,
        "architecture": "llama",
        "parameter_count": 10808352,
        "context_length": 4096,
        "loaded_context": 4096,
        "family": "llama",
        "parameter_size": "10.81M",
        "quantization": "Q8_0",
    }
    assert all(each.at == 5.0 for each in found.values())
    assert ollama_templates(TINY["show"]) == {"default": TINY["show"]["template"]}


def test_capabilities_without_tools_close_the_route() -> None:
    found = said(facts({"capabilities": ["completion"]}))
    assert found["tools"].answer == found["native_route"].answer == Answer.NO
    assert found["tools"].source is Source.ENGINE
    assert "400" in found["native_route"].detail


def test_the_list_of_models_never_says_no() -> None:
    """It doesn't see tools that come from Jinja."""
    assert "tools" not in said(facts(tags={"capabilities": ["completion"]}))
    assert said(facts(TINY["show"], tags=TINY["tags"]))["tools"].answer == Answer.YES
    assert "tools" not in TINY["tags"]["capabilities"]


def test_the_list_of_models_may_say_yes_where_nobody_else_speaks() -> None:
    found = said(facts(tags={"capabilities": ["completion", "tools"]}))
    assert found["tools"].answer == found["native_route"].answer == Answer.YES
    assert "/api/tags" in found["tools"].detail


@pytest.mark.parametrize(
    ("template", "version", "answer"),
    [
        (GO, "0.5.1", Answer.YES),
        ("{{ .Prompt }}", "0.5.1", Answer.NO),
        (GO, "0.2.8", Answer.NO),
        (GO, "0.0.0", Answer.YES),
        (GO, None, Answer.YES),
        (GO, "who knows", Answer.YES),
        (None, "0.5.1", Answer.UNKNOWN),
        ("{% if tools %}{% endif %}", "0.5.1", Answer.UNKNOWN),
    ],
)
def test_the_route_of_an_old_server_follows_from_version_and_template(
    template: str | None, version: str | None, answer: Answer
) -> None:
    found = said(facts({"template": template, "model_info": {}}, version=version))
    assert found["native_route"].answer == answer


def test_a_go_template_is_read_and_weighs_less_than_the_servers_word() -> None:
    both = [each for each in ollama_evidence(facts({"template": GO, "capabilities": []})) if each.claim == "tools"]
    assert [(each.answer, each.source) for each in both] == [
        (Answer.NO, Source.ENGINE),
        (Answer.YES, Source.TEMPLATE_TEXT),
    ]
    assert ollama_templates({"template": GO}) is None


@pytest.mark.parametrize(
    "built_in",
    [
        {"renderer": "qwen3-coder", "parser": "qwen3-coder"},
        {"modelfile": "FROM x\nTEMPLATE {{ .Prompt }}\nRENDERER qwen3-coder\nPARSER qwen3-coder\n"},
    ],
)
def test_a_renderer_of_its_own_replaces_the_template(built_in: dict[str, str]) -> None:
    show = {"template": "{{ .Prompt }}", "capabilities": ["completion", "tools"], **built_in}
    found = said(facts(show))
    assert found["supports_tools"].answer == found["supports_tool_calls"].answer == Answer.YES
    assert "qwen3-coder" in found["tools"].detail
    assert Source.TEMPLATE_TEXT not in {each.source for each in ollama_evidence(facts(show))}
    assert ollama_templates({**show, "template": "{% if tools %}{% endif %}"}) is None


def test_instructions_inside_a_text_block_arent_instructions() -> None:
    show = {"capabilities": ["tools"], "modelfile": 'SYSTEM """\nRENDERER evil\nPARSER evil\n"""\n', "template": GO}
    found = said(facts(show))
    assert "evil" not in found["tools"].detail
    assert found["supports_tools"].source is Source.TEMPLATE_TEXT


@pytest.mark.parametrize(
    ("info", "parameters", "context", "where"),
    [
        ({"qwen3.context_length": 40960}, None, 40960, "qwen3.context_length"),
        ({"a.context_length": 2048, "b.context_window": 8192}, None, 8192, "b.context_window"),
        ({"a.rope.scaling.original_context_length": 4096, "a.context_length": 131072}, "", 131072, "a.context_length"),
        ({"a.context_length": 2048}, 'stop   "x"\nnum_ctx                        32768', 32768, "num_ctx"),
        ({"a.context_length": 65536}, "num_ctx 4096", 65536, "a.context_length"),
        (
            {"a.context_length": "8192", "b.context_length": True, "c.context_length": -5},
            "num_ctx 1024",
            1024,
            "num_ctx",
        ),
    ],
)
def test_the_largest_context_anywhere_is_the_models(
    info: dict[str, object], parameters: str | None, context: int, where: str
) -> None:
    found = said(facts({"model_info": info, "parameters": parameters}))["context_length"]
    assert found.answer == context
    assert where in found.detail


def test_the_loaded_context_is_another_matter() -> None:
    found = said(facts({"model_info": {"a.context_length": 131072}}, ps={"context_length": 4096}))
    assert (found["context_length"].answer, found["loaded_context"].answer) == (131072, 4096)


def test_a_pooling_type_makes_an_embedding_model() -> None:
    found = said(facts({"model_info": {"general.architecture": "nomic-bert", "nomic-bert.pooling_type": 1}}))
    assert (found["is_embedding"].answer, found["is_embedding"].source) == (Answer.YES, Source.HEADER)


def test_the_servers_word_makes_an_embedding_model() -> None:
    assert said(facts({"capabilities": ["embedding"]}))["is_embedding"].answer == Answer.YES
    assert said(facts({"capabilities": ["completion", "embedding"]}))["is_embedding"].answer == Answer.NO


@pytest.mark.parametrize(
    "show",
    [
        {"capabilities": ["completion", "vision"]},
        {"model_info": {"gemma3.vision.block_count": 27}},
        {"projector_info": {"general.architecture": "clip", "clip.has_vision_encoder": True}},
        {"projector_info": {"general.architecture": "clip"}},
    ],
)
def test_pictures(show: dict[str, object]) -> None:
    assert said(facts(show))["supports_vision"].answer == Answer.YES


def test_a_projector_for_sounds_is_none_for_pictures() -> None:
    show = {"projector_info": {"clip.has_vision_encoder": False, "clip.has_audio_encoder": True}}
    found = said(facts(show))
    assert "supports_vision" not in found
    assert found["supports_audio"].answer == Answer.YES


@pytest.mark.parametrize(("version", "said_so"), [("0.8.0", False), ("0.9.0", True), ("0.0.0", True), (None, False)])
def test_only_a_server_that_knows_thinking_can_deny_it(version: str | None, said_so: bool) -> None:
    assert ("supports_thinking" in said(facts({"capabilities": ["completion"]}, version=version))) is said_so
    assert said(facts({"capabilities": ["thinking"]}, version=version))["supports_thinking"].answer == Answer.YES


def test_nothing_is_said_where_nothing_was_heard() -> None:
    assert list(ollama_evidence(facts())) == []
    assert ollama_templates(None) is None


def test_control_characters_never_reach_a_detail() -> None:
    show = {"model_info": {"\x1b[31mcontext_length": 5, "general.architecture": "\x1b[2J"}, "parser": "\x07"}
    assert all(each.detail.isprintable() for each in ollama_evidence(facts({**show, "capabilities": ["tools"]})))


KEYS = [
    "capabilities",
    "template",
    "modelfile",
    "parameters",
    "model_info",
    "details",
    "projector_info",
    "renderer",
    "parser",
    "context_length",
    "family",
    "parameter_size",
    "quantization_level",
    "general.architecture",
    "general.parameter_count",
    "a.context_length",
    "a.pooling_type",
    "clip.has_vision_encoder",
]


@given(hostile_json(KEYS), hostile_json(KEYS), hostile_json(KEYS))
def test_any_json_gets_an_answer(show: dict[str, Any], tags: dict[str, Any], ps: dict[str, Any]) -> None:
    claims = {field.name for field in msgspec.structs.fields(Capabilities)}
    for each in ollama_evidence(facts(show, tags=tags, ps=ps)):
        assert each.claim in claims
        assert each.detail.isprintable()
        assert len(each.detail) < 400
    templates = ollama_templates(show)
    assert templates is None or list(templates) == ["default"]
