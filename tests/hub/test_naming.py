from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.hub import read_hub_name
from callgate.runtime import stays_inside
from callgate.vocabulary import HubRef, UsageError

HUB = "https://huggingface.co"


@pytest.mark.parametrize(
    ("text", "ref"),
    [
        ("owner/name", HubRef("owner/name")),
        ("hf:owner/name:Q4_K_M", HubRef("owner/name", quant="Q4_K_M")),
        ("owner/name/sub/file.gguf@v1", HubRef("owner/name", "sub/file.gguf", None, "v1")),
        ("owner/name@refs/pr/1", HubRef("owner/name", revision="refs/pr/1")),
        ("hf.co/owner/name:Q8_0", HubRef("owner/name", quant="Q8_0")),
        ("huggingface.co/owner/name", HubRef("owner/name")),
        ("https://huggingface.co/owner/name", HubRef("owner/name")),
        ("https://huggingface.co/owner/name/", HubRef("owner/name")),
        ("https://hf.co/owner/name/tree/main", HubRef("owner/name")),
        ("https://huggingface.co/owner/name/tree/v2", HubRef("owner/name", revision="v2")),
        ("https://huggingface.co/owner/name/blob/main/a%20b.gguf", HubRef("owner/name", "a b.gguf")),
        (
            "https://huggingface.co/owner/name/resolve/v1/q/m.gguf?download=true",
            HubRef("owner/name", "q/m.gguf", None, "v1"),
        ),
        ("https://huggingface.co/o/n/resolve/refs%2Fpr%2F3/m.gguf", HubRef("o/n", "m.gguf", None, "refs/pr/3")),
        (" owner/name ", HubRef("owner/name")),
    ],
)
def test_models_have_many_names(text: str, ref: HubRef) -> None:
    assert read_hub_name(text, HUB) == ref


def test_a_url_of_the_users_own_hub_is_one_too() -> None:
    assert read_hub_name("http://127.0.0.1:8/o/n", "http://127.0.0.1:8") == HubRef("o/n")
    assert read_hub_name("http://mirror/hub/o/n/blob/main/m.gguf", "http://mirror/hub/") == HubRef("o/n", "m.gguf")
    assert read_hub_name("https://huggingface.co/o/n", "http://mirror/hub/") == HubRef("o/n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "name",
        "owner/..",
        "../name",
        "owner/name/../x.gguf",
        "owner/name@..",
        "https://elsewhere.org/owner/name",
        "https://huggingface.co/owner",
        "https://huggingface.co/owner/name/resolve/main/../../x.gguf",
        "https://huggingface.co/owner/name/resolve/main/..%2Fx.gguf",
        "https://huggingface.co/owner/name/blob/main/README.md",
        "ftp://huggingface.co/owner/name",
        "https://[bad/owner/name",
        "owner/name/x\x1b.gguf",
    ],
)
def test_what_names_no_model_of_the_hub_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        read_hub_name(text, HUB)


@given(st.text(max_size=60) | st.text(max_size=40).map(lambda rest: f"{HUB}/o/n/resolve/main/{rest}"))
def test_no_name_leads_astray(text: str) -> None:
    try:
        ref = read_hub_name(text, HUB)
    except UsageError:
        return
    assert all(part is None or stays_inside(part) for part in (ref.repo, ref.file, ref.revision))
