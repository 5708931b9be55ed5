from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from callgate.runtime import digest_of
from callgate.runtime.file_digests import BLOCKS, WHOLE, content_digest
from callgate.vocabulary import Facts, ModelRef


def test_a_copy_of_a_file_is_the_same_model_and_so_is_one_that_was_touched(tmp_path: Path) -> None:
    path, copy = tmp_path / "model.gguf", tmp_path / "copy.gguf"
    path.write_bytes(b"one")
    copy.write_bytes(b"one")
    digest = digest_of(ModelRef.parse(str(path)), Facts(name="model"))
    assert digest == f"sha256:{sha256(b'one').hexdigest()}"
    os.utime(path, (5, 5))
    assert digest == digest_of(ModelRef.parse(str(path)), Facts(name="model"))
    assert digest == digest_of(ModelRef.parse(str(copy)), Facts(name="model"))
    boxed = {name: digest_of(ModelRef.parse(name), Facts(name=name)) for name in ("tiny", "tiny-plain")}
    assert len(set(boxed.values())) == 2
    assert "None" not in str(boxed)


def test_of_a_large_file_the_front_and_blocks_all_over_the_rest_count(tmp_path: Path) -> None:
    path = tmp_path / "large.gguf"
    size = WHOLE + 1_000_000

    def digest(changed_at: int | None = None, longer: int = 0) -> str | None:
        with path.open("wb") as file:
            file.truncate(size + longer)
            if changed_at is not None:
                file.seek(changed_at)
                file.write(b"x" * (size // BLOCKS))
        return digest_of(ModelRef.parse(str(path)), Facts(name="large"))

    found = [digest(), digest(0), digest(size // 2), digest(size - size // BLOCKS), digest(longer=1)]
    assert len(set(found)) == len(found)
    assert all(each and each.startswith("sampled-sha256:") for each in found)


def test_what_is_not_here_has_no_digest(tmp_path: Path) -> None:
    for name in (str(tmp_path / "none.gguf"), str(tmp_path), "ollama:m", "http://127.0.0.1:1/v1#m"):
        assert content_digest(ModelRef.parse(name)) is None
