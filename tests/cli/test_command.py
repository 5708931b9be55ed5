import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from callgate import __version__
from tests.cli.command import CALLGATE, callgate, check, environ
from tests.detect.gguf.writer import Gguf
from tests.runtime.played import PLAIN, TOOLS, PlayedOllama, hangs, in_thread, model

ESCAPE = "\x1b[31m\x1b]0;gotcha\x07\x9b1m\r"


AS_TABLE = "--why"
AS_JSON = "--json"


def has_control(text: str) -> bool:
    return bool(re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", text))


# Help


def test_help_has_examples() -> None:
    done = check("--help")
    assert (done.status, done.err) == (0, "")
    assert "examples:" in done.out
    assert "callgate check --why model.gguf" in done.out
    assert "exit status:" in done.out


def test_the_command_itself_has_help_and_a_version() -> None:
    done = callgate("--help")
    assert (done.status, done.err) == (0, "")
    assert "check" in done.out
    assert callgate("--version") == (0, f"callgate {__version__}\n", "")


@pytest.mark.parametrize("words", [(), ("nonsense",)])
def test_wrong_usage_is_two(words: tuple[str, ...]) -> None:
    done = callgate(*words)
    assert (done.status, done.out) == (2, "")
    assert "usage: callgate" in done.err


def test_a_command_that_is_misspelt_is_guessed() -> None:
    assert "did you mean 'check'?" in callgate("chek", "tiny").err
    assert "`callgate --help` lists them" in callgate("xyzzy").err


def test_nothing_at_all_is_answered_with_the_help() -> None:
    assert "first steps:" in callgate().err


def test_there_is_a_script_beside_the_interpreter() -> None:
    script = Path(sys.executable).with_name("callgate")
    done = subprocess.run([script, "check", "--require", "tools", "tiny"], capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", [["--version"], ["check", "--help"], ["check", "--json", "tiny"]])
def test_nothing_heavy_is_imported_for_what_needs_none(words: list[str]) -> None:
    program = (
        "import sys, callgate.cli\n"
        "try: callgate.cli.main(sys.argv[1:])\n"
        "except SystemExit: pass\n"
        "print([name for name in ('aiohttp', 'asyncio', 'jinja2', 'minijinja', 'ssl') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"


# What a person sees


def test_the_table_says_the_verdict_first() -> None:
    done = check("tiny", "tiny-plain", "qwen3:8b")
    heading, tiny, plain, guess = done.out.splitlines()[:4]
    assert heading.split()[:2] == ["TOOLS", "MODEL"]
    assert tiny.split()[:2] == ["yes", "tiny"]
    assert plain.split()[:2] == ["no", "tiny-plain"]
    assert guess.split()[:2] == ["yes?", "qwen3:8b"]
    assert "a guess: Ollama at" in guess
    assert "qwen3:8b: is it running? `ollama serve`" in done.out


def test_why_shows_each_piece_of_evidence_and_who_disagrees() -> None:
    ollama = PlayedOllama(liar=model("completion", "tools", template=PLAIN))
    with in_thread(*ollama.routes) as url:
        done = check("--why", "liar", OLLAMA_HOST=url)
    assert done.status == 0
    lines = [line.strip() for line in done.out.splitlines()]
    assert "tools: no" in lines
    at = lines.index("tools: no")
    assert lines[at + 1].startswith("● template says no")
    assert lines[at + 2].startswith("≠ engine says yes")


def test_output_that_is_piped_has_no_escape_sequences() -> None:
    for words in (("--why", "tiny", "qwen3:8b"), ("--json", "tiny")):
        done = check(*words, FORCE_COLOR="1", TERM="xterm-256color")
        assert not has_control(done.out + done.err)


# Strangers' control characters


@pytest.mark.parametrize("form", [AS_TABLE, AS_JSON])
def test_a_files_own_strings_never_reach_the_terminal_raw(tmp_path: Path, form: str) -> None:
    told = {
        "general.architecture": f"llama{ESCAPE}",
        "general.name": f"x{ESCAPE}",
        "general.size_label": f"8B{ESCAPE}",
        "tokenizer.chat_template": TOOLS,
        f"tokenizer.chat_template.{ESCAPE}": PLAIN,
        f"llama{ESCAPE}.context_length": 5,
        f"llama{ESCAPE}.pooling_type": 1,
    }
    path = tmp_path / "hostile\x1b[2J.gguf"
    path.write_bytes(Gguf(told).to_bytes())
    broken = tmp_path / "broken.jinja"
    broken.write_text(f"{{{{ raise_exception('{ESCAPE}') }}}}{{% {ESCAPE} %}}")
    done = check(form, str(path), str(broken), str(tmp_path), f"qwen3{ESCAPE}", f"hf:owner/{ESCAPE}")
    assert done.status == 1
    assert "hostile" in done.out
    assert not has_control(done.out + done.err)


@pytest.mark.parametrize("form", [AS_TABLE, AS_JSON])
def test_a_servers_words_never_reach_the_terminal_raw(form: str) -> None:
    ollama = PlayedOllama(
        hostile=model(
            f"tools{ESCAPE}",
            "completion",
            template=TOOLS,
            details={"family": ESCAPE, "parameter_size": f"8B{ESCAPE}", "quantization_level": f"Q4{ESCAPE}"},
            model_info={f"x{ESCAPE}.context_length": 77, "general.architecture": ESCAPE},
            modelfile=f"RENDERER x{ESCAPE}\nPARSER y{ESCAPE}\n",
            digest=ESCAPE,
        )
    )
    ollama.models[f"other{ESCAPE}"] = model("completion")
    with in_thread(*ollama.routes) as url:
        done = check(form, "hostile", "missing", OLLAMA_HOST=url)
    assert done.status == 1
    assert "gotcha" in done.out
    assert not has_control(done.out + done.err)


def test_names_that_are_no_text_are_shown_all_the_same(tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff\xfe.jinja"
    try:
        with open(odd, "wb") as file:  # noqa: PTH123
            file.write(TOOLS.encode())
    except OSError:
        pytest.skip("this file system takes no such names")
    done = check("--json", odd, str(tmp_path), b"\xffmodel", b"hf:owner/\xff", b"http://127.0.0.1:1/v1#\xff")
    assert (done.status, done.err) == (1, "")
    assert [shown["tools"] for shown in done.objects] == ["yes", "yes", "unknown", "unknown", "unknown"]
    assert check(odd, b"\xffmodel").err == ""


# Ends that come early


def test_a_reader_that_has_gone_is_no_trouble(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number:03}.jinja").write_text(PLAIN)
    for words in (["--json"], ["--why"]):
        with subprocess.Popen(
            [*CALLGATE, "check", *words, str(tmp_path)], env=environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout
            assert process.stderr
            assert process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait(60) == 0


def children_of(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task")
    found = [(task / "children").read_text().split() for task in tasks.iterdir()] if tasks.is_dir() else []
    return [int(child) for line in found for child in line]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="there is no /proc to see children in")
@pytest.mark.parametrize("words", [["--json"], []])
def test_an_interrupt_ends_it_quietly_and_leaves_nobody_behind(words: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.jinja").write_text(PLAIN)
    ollama = PlayedOllama()
    ollama.fault = hangs
    with in_thread(*ollama.routes) as url:
        process = subprocess.Popen(
            [*CALLGATE, "check", *words, str(tmp_path / "a.jinja"), "qwen3:8b"],
            env=environ(OLLAMA_HOST=url),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        with process:
            while not ollama.asked["/api/show"]:
                time.sleep(0.01)  # between two looks
                assert process.poll() is None
            while not (children := children_of(process.pid)):
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"")
    assert out.count(b"\n") <= 2
    for child in children:
        with pytest.raises(ProcessLookupError):
            os.kill(child, 0)


def test_a_closed_standard_input_is_no_trouble() -> None:
    words = " ".join(f"'{word}'" for word in (*CALLGATE, "check", "--json", "tiny"))
    done = subprocess.run(["sh", "-c", f"{words} <&-"], env=environ(), capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["tools"] == "yes"


def test_wrong_settings_are_wrong_usage() -> None:
    done = check("tiny", CALLGATE_DETECT_CACHE_TTL="soon")
    assert done.status == 2
    assert "detect.cache_ttl" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize("form", ["--why", "--json"])
def test_an_output_that_knows_few_letters_is_no_trouble(form: str) -> None:
    done = subprocess.run(
        [*CALLGATE, "check", form, "tiny", "é:8b"],
        env=environ(PYTHONIOENCODING="ascii"),
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (4, b"")
    assert b"tiny" in done.stdout
    if form == "--json":
        assert json.loads(done.stdout.splitlines()[1])["target"] == "é:8b"
