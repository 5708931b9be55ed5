import json
import re
from pathlib import Path
from typing import Any

import pytest

from callgate.vocabulary import Source
from tests.cli.command import check
from tests.detect.gguf.writer import Gguf
from tests.runtime.played import EMBEDDING, PLAIN, TOOLS, WITH_TOOLS, PlayedOllama, in_thread, model
from tests.runtime.test_hub_look import PlayedHub, ranged

KEYS = ["target", "model", "tools", "guess", "native_route", "capabilities", "evidence", "model_info", "elapsed_ms"]
FLAGS = [
    "supports_tools",
    "supports_tool_calls",
    "supports_tool_responses",
    "supports_parallel_tool_calls",
    "supports_system_role",
    "supports_string_content",
    "supports_typed_content",
    "requires_typed_content",
    "requires_object_arguments",
    "requires_string_arguments",
    "supports_preserve_reasoning",
    "supports_enable_thinking",
    "supports_vision",
    "is_embedding",
]
LLAMA_CPP_CAPS = {
    "supports_tools",
    "supports_tool_calls",
    "supports_parallel_tool_calls",
    "supports_system_role",
    "supports_string_content",
    "supports_typed_content",
    "supports_object_arguments",
    "supports_preserve_reasoning",
}


def conforms(shown: dict[str, Any]) -> None:
    """Holds an object to the contract, key by key."""
    assert list(shown) == KEYS + (["error"] if "error" in shown else [])
    assert isinstance(shown["target"], str)
    assert isinstance(shown["model"], str)
    assert shown["tools"] in ("yes", "no", "unknown")
    assert isinstance(shown["guess"], bool)
    assert shown["native_route"] in ("yes", "no", "unknown", None)
    assert shown["elapsed_ms"] >= 0
    known = shown["capabilities"]
    assert {flag: known[flag] for flag in FLAGS if known[flag] not in (True, False, None)} == {}
    assert isinstance(known["context_length"], int | None)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", known["cached_at"])
    for piece in shown["evidence"]:
        assert list(piece) == ["claim", "answer", "source", "detail", "at", "decisive"]
        assert piece["source"] in list(Source)
        assert isinstance(piece["decisive"], bool)
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", piece["at"])
    ranks = [Source(piece["source"]).rank for piece in shown["evidence"]]
    assert ranks == sorted(ranks) or known["is_embedding"]  # which overrules stronger sources
    deciding = [piece["claim"] for piece in shown["evidence"] if piece["decisive"]]
    assert len(deciding) == len(set(deciding))
    info = shown["model_info"]
    wanted = ["type", "supports_tools", "caps", "chat_format", "has_tool_use_template", "architecture", "n_params"]
    assert list(info) == wanted
    assert info["type"] == "model_info"
    assert info["supports_tools"] == {"yes": True, "no": False, "unknown": None}[shown["tools"]]
    assert set(info["caps"]) == LLAMA_CPP_CAPS
    assert set(info["caps"].values()) <= {True, False, None}
    if "error" in shown:
        assert list(shown["error"]) == ["type", "message", "hint"]


@pytest.fixture
def templates(tmp_path: Path) -> Path:
    folder = tmp_path / "templates"
    (folder / "sub").mkdir(parents=True)
    (folder / "b.jinja").write_text(TOOLS)
    (folder / "a.jinja").write_text(PLAIN)
    (folder / "sub" / "tokenizer_config.json").write_text(json.dumps({"chat_template": TOOLS, "eos_token": "</s>"}))
    return folder


# What is said of a target


def test_the_model_in_the_box_has_tools() -> None:
    done = check("--json", "tiny", "tiny-plain")
    assert (done.status, done.err) == (0, "")
    tiny, plain = done.objects
    for shown in (tiny, plain):
        conforms(shown)
        assert shown["native_route"] is None
    assert (tiny["tools"], tiny["model"], plain["tools"]) == ("yes", "tiny", "no")
    assert tiny["capabilities"]["context_length"] == 4096
    assert tiny["capabilities"]["requires_object_arguments"] is False
    assert tiny["model_info"]["n_params"] == 10808352
    assert tiny["model_info"]["architecture"] == "llama"
    assert tiny["model_info"]["chat_format"] is None
    assert tiny["evidence"][0]["claim"] == "tools"
    assert tiny["evidence"][0]["decisive"] is True


def test_every_kind_of_target_in_one_call_in_order(templates: Path, tiny_gguf: Path) -> None:
    ollama = PlayedOllama(able=WITH_TOOLS, embed=EMBEDDING)
    with in_thread(("*", "/files/{name}", lambda_of(tiny_gguf.read_bytes())), *ollama.routes) as url:
        targets = [
            "able",
            str(templates),
            "embed:latest",
            str(tiny_gguf),
            f"file:{templates}/a.jinja",
            f"{url}/files/tiny.gguf",
            "-",
            f"ollama+{url}#able",
            "tiny",
            "auto",
        ]
        done = check("--json", *targets, given=PLAIN.encode(), OLLAMA_HOST=url)
    assert (done.status, done.err) == (0, "")
    for shown in done.objects:
        conforms(shown)
    said = [(shown["target"].removeprefix(str(templates)), shown["tools"]) for shown in done.objects]
    assert said == [
        ("able", "yes"),
        ("/a.jinja", "no"),
        ("/b.jinja", "yes"),
        ("/sub/tokenizer_config.json", "yes"),
        ("embed:latest", "no"),
        (str(tiny_gguf), "yes"),
        (f"file:{templates}/a.jinja", "no"),
        (f"{url}/files/tiny.gguf", "yes"),
        ("-", "no"),
        (f"ollama+{url}#able", "yes"),
        ("tiny", "yes"),
        ("auto", "yes"),
    ]
    by_target = {shown["target"]: shown for shown in done.objects}
    assert by_target["able"]["native_route"] == "yes"
    assert by_target["able"]["capabilities"]["family"] == "llama"
    assert by_target["embed:latest"]["capabilities"]["is_embedding"] is True
    assert by_target["-"]["native_route"] is None


def lambda_of(content: bytes) -> Any:
    async def answer(request: Any) -> Any:
        return ranged(request, content)

    return answer


def test_a_variant_for_tools_is_reported(tmp_path: Path) -> None:
    named = [{"name": "default", "template": PLAIN}, {"name": "tool_use", "template": TOOLS}]
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"chat_template": named}))
    (shown,) = check("--json", str(tmp_path / "tokenizer_config.json")).objects
    assert (shown["tools"], shown["model_info"]["has_tool_use_template"]) == ("yes", True)


def test_a_model_on_the_hub(tiny_gguf: Path) -> None:
    hub = PlayedHub({"tiny-Q8_0.gguf": tiny_gguf.read_bytes()})
    with in_thread(("GET", "/{path:.*}", hub.answer)) as url:
        done = check("--json", "hf:owner/name:Q8_0", HF_ENDPOINT=url, HF_TOKEN="hf_secret")
    assert done.status == 0
    (shown,) = done.objects
    conforms(shown)
    assert (shown["tools"], shown["model"]) == ("yes", "owner/name/tiny-Q8_0.gguf")
    assert hub.requests[0].headers["Authorization"] == "Bearer hf_secret"
    assert "hf_secret" not in done.out


def test_hundreds_of_templates_in_one_call(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number:03}.jinja").write_text(f"{TOOLS if number % 2 else PLAIN}{{# {number} #}}")
    done = check("--json", str(tmp_path))
    assert done.status == 0
    assert [shown["tools"] for shown in done.objects] == ["no", "yes"] * 150


# What goes wrong


def test_a_bad_file_fails_and_the_others_are_still_shown(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUF\3\0\0\0 no more")
    (tmp_path / "broken.jinja").write_text("{% if %}")
    (tmp_path / "empty").mkdir()
    targets = [
        f"{tmp_path}/bad.gguf",
        "tiny",
        f"{tmp_path}/broken.jinja",
        f"{tmp_path}/empty",
        f"{tmp_path}/none.gguf",
        "",
    ]
    done = check("--json", *targets)
    assert (done.status, done.err) == (1, "")
    assert [shown["target"] for shown in done.objects] == targets
    kinds = [shown.get("error", {}).get("type") for shown in done.objects]
    assert kinds == ["HeaderError", None, "TemplateError", "UsageError", "NotFound", "UsageError"]
    assert all(list(shown) == [*KEYS, "error"] for shown in done.objects if "error" in shown)
    done = check(*targets)
    assert done.status == 1
    assert "has no model files" in done.out
    assert re.search(r"^yes +tiny ", done.out, re.MULTILINE)


def test_a_server_that_is_down_makes_a_guess_and_four() -> None:
    done = check("--json", "tiny", "qwen3:8b", "custom-model:latest", "http://127.0.0.1:1/v1#qwen3")
    assert (done.status, done.err) == (4, "")
    for shown in done.objects:
        conforms(shown)
    _, known, unknown, other = done.objects
    assert (known["tools"], known["guess"], known["capabilities"]["family"]) == ("yes", True, "qwen3")
    assert known["error"]["type"] == "Unreachable"
    assert "ollama serve" in known["error"]["hint"]
    assert (unknown["tools"], unknown["guess"]) == ("unknown", True)
    assert (unknown["capabilities"]["family"], unknown["capabilities"]["context_length"]) == ("unknown", 4096)
    assert (other["tools"], other["native_route"]) == ("yes", "unknown")


@pytest.mark.parametrize("words", [(), ("--why",), ("--json",), ("--require", "tools")])
@pytest.mark.parametrize(
    "target",
    [
        "http://me:s3cret@127.0.0.1:1/v1#m",
        "ollama+http://me:s3cret@127.0.0.1:1#m",
        "https://me:s3cret@127.0.0.1:1/m.gguf",
        "http://me:s3cret@/v1#m",
        "http://me:s3cret@127.0.0.1:1/v1#",
    ],
)
def test_what_stands_for_a_password_is_not_repeated(target: str, words: tuple[str, ...]) -> None:
    done = check(*words, target)
    assert done.out + done.err
    assert "s3cret" not in done.out + done.err


def test_a_file_that_is_bad_weighs_more_than_a_server_that_is_down(tmp_path: Path) -> None:
    assert check("--json", "qwen3:8b", f"{tmp_path}/none.gguf").status == 1


def test_a_model_that_the_server_lacks_is_a_guess_and_one() -> None:
    ollama = PlayedOllama(other=WITH_TOOLS)
    with in_thread(*ollama.routes) as url:
        done = check("--json", "qwen3:8b", OLLAMA_HOST=url)
    (shown,) = done.objects
    assert (done.status, shown["guess"], shown["error"]["type"]) == (1, True, "NotFound")


# --require


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (("--require", "tools", "tiny"), 0),
        (("--require", "tools,system,parallel", "tiny"), 0),
        (("--require", "tools", "tiny", "tiny-plain"), 3),
        (("--require", "tools,vision", "tiny"), 3),
        (("--require", "tools", "qwen3:8b"), 3),
        (("--require", "teleport", "tiny"), 2),
        (("--require", "tools,", "tiny-plain"), 3),
        (("--require",), 2),
        ((), 2),
        (("--nonsense", "tiny"), 2),
    ],
)
def test_requirements_decide_the_exit_status(words: tuple[str, ...], status: int) -> None:
    done = check("--json", *words)
    assert done.status == status
    assert "Traceback" not in done.err
    if status == 2:
        assert done.out == ""
        assert "usage: callgate" in done.err


def test_what_is_required_and_missing_is_told() -> None:
    done = check("--require", "tools,vision,audio", "tiny", "qwen3:8b", "tiny-plain")
    assert "tiny: it isn't known to have vision and audio\n" in done.err
    assert "qwen3:8b: it isn't known to have tools and vision and audio, for this is a guess\n" in done.err
    assert "tiny-plain: it has no tools, and isn't known to have vision and audio\n" in done.err


def test_vision_may_be_required() -> None:
    ollama = PlayedOllama(seeing=model("completion", "tools", "vision", template=TOOLS))
    with in_thread(*ollama.routes) as url:
        assert check("--require", "tools,vision", "seeing", OLLAMA_HOST=url).status == 0


# Standard input


@pytest.mark.parametrize(
    ("given", "tools", "kind"),
    [
        (TOOLS.encode(), "yes", None),
        (b"\xef\xbb\xbf" + PLAIN.encode(), "no", None),
        (b"\xff\xfe", "unknown", "TemplateError"),
        (b"{% if %}", "unknown", "TemplateError"),
        (b" " * (10 * 1024 * 1024 + 1), "unknown", "TemplateError"),
    ],
)
def test_a_template_may_come_on_standard_input(given: bytes, tools: str, kind: str | None) -> None:
    done = check("--json", "-", given=given)
    (shown,) = done.objects
    assert (done.status, shown["tools"], shown.get("error", {}).get("type")) == (1 if kind else 0, tools, kind)


def test_standard_input_may_be_named_twice() -> None:
    assert [shown["tools"] for shown in check("--json", "-", "-", given=TOOLS.encode()).objects] == ["yes", "yes"]


def test_what_is_too_long_says_so() -> None:
    (shown,) = check("--json", "-", given=b"x" * (10 * 1024 * 1024 + 1)).objects
    assert "longer than 10 MB" in shown["error"]["message"]


def test_a_costly_template_spoils_nothing_else() -> None:
    done = check("--json", "-", "tiny", given=b"{% for a in range(10**9) %}{% endfor %}{{ messages }}")
    assert done.status == 1
    costly, tiny = done.objects
    assert (costly["error"]["type"], tiny["tools"]) == ("TemplateTooCostly", "yes")


def test_a_file_of_lies_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "liar.gguf").write_bytes(Gguf({"general.name": "x"}, key_count=2**60).to_bytes())
    done = check("--json", f"{tmp_path}/liar.gguf")
    assert (done.status, done.objects[0]["error"]["type"]) == (1, "HeaderError")
