from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callgate.runtime import ollama_store
from callgate.runtime.found import FoundModel
from callgate.runtime.ollama_store import ollama_files
from tests.vocabulary.strategies import json_values

MODEL = "application/vnd.ollama.image.model"


def blob(folder: Path, content: bytes) -> str:
    digest = hashlib.sha256(content).hexdigest()
    path = folder / "blobs" / f"sha256-{digest}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return f"sha256:{digest}"


def manifest(folder: Path, way: str, *layers: Any) -> bytes:
    text = json.dumps({"schemaVersion": 2, "layers": layers}).encode()
    raw(folder, way, text)
    return text


def raw(folder: Path, way: str, content: bytes) -> None:
    path = folder / "manifests" / way
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def found(folder: Path) -> list[FoundModel]:
    return [model for model, _ in ollama_files(str(folder))]


def test_models_are_found_by_their_manifests(tmp_path: Path) -> None:
    digest = blob(tmp_path, b"GGUF weights")
    layers = [{"mediaType": "application/vnd.ollama.image.license", "digest": blob(tmp_path, b"law")}]
    text = manifest(
        tmp_path, "registry.ollama.ai/library/qwen3/8b", *layers, {"mediaType": MODEL, "digest": digest, "size": 12}
    )
    (model,) = found(tmp_path)
    assert model.ref.scheme == "file"
    assert model.ref.name == str(tmp_path / "blobs" / digest.replace(":", "-"))
    assert (model.name, model.size, model.backend) == ("qwen3:8b", 12, "llamacpp")
    assert model.digest == hashlib.sha256(text).hexdigest()


def test_names_are_as_ollama_writes_them(tmp_path: Path) -> None:
    layer = {"mediaType": MODEL, "digest": blob(tmp_path, b"x")}
    for way in ("hf.co/o/n/Q4_K_M", "registry.ollama.ai/library/a/latest", "registry.ollama.ai/me/b/1"):
        manifest(tmp_path, way, layer)
    assert [model.name for model in found(tmp_path)] == ["hf.co/o/n:Q4_K_M", "a:latest", "me/b:1"]


@pytest.mark.parametrize(
    "digest",
    [
        "sha256:../../../../etc/passwd",
        "sha256-" + "g" * 64,
        "sha256:" + "a" * 63,
        "sha256:" + "a" * 64 + "/../x",
        "sha256:" + "A" * 64,
        "../" + "a" * 64,
        "",
    ],
)
def test_a_manifest_leads_nowhere_but_to_the_blobs(tmp_path: Path, digest: str) -> None:
    blob(tmp_path, b"x")
    manifest(tmp_path, "registry.ollama.ai/library/evil/latest", {"mediaType": MODEL, "digest": digest})
    assert found(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"layers": 3}',
        b'{"layers": [3]}',
        b'{"layers": [{"mediaType": 3, "digest": {}}]}',
        b'{"layers": []}',
        b"[" * 100_000,
        b"\xff\xfe",
        b" " * (ollama_store.LARGEST_MANIFEST + 1),
    ],
)
def test_a_manifest_that_is_no_good_is_no_model(tmp_path: Path, content: bytes) -> None:
    raw(tmp_path, "registry.ollama.ai/library/bad/latest", content)
    manifest(tmp_path, "registry.ollama.ai/library/good/latest", {"mediaType": MODEL, "digest": blob(tmp_path, b"x")})
    assert [model.name for model in found(tmp_path)] == ["good:latest"]


def test_a_model_whose_blob_has_gone_is_none(tmp_path: Path) -> None:
    manifest(tmp_path, "registry.ollama.ai/library/gone/latest", {"mediaType": MODEL, "digest": "sha256:" + "a" * 64})
    assert found(tmp_path) == []
    assert found(tmp_path / "nowhere") == []


def test_pipes_are_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "manifests" / "registry.ollama.ai" / "library" / "pipe"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "latest")
    assert found(tmp_path) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(json_values | st.fixed_dictionaries({"layers": json_values}))
def test_any_json_is_a_manifest_or_nothing(tmp_path: Path, content: object) -> None:
    raw(tmp_path, "registry.ollama.ai/library/x/latest", json.dumps(content).encode())
    assert found(tmp_path) == []
