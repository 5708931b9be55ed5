"""Training data: processes that make conversations up, tokenize them and pack them into rows, and who takes them in."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import numpy as np

from datagen import HERE, render, training_generator

OPEN_ROWS = 12
MOST_WAITING = 400
MOST_KEPT = 3000
CONVERSATIONS = 64  # tokenized at a time


class Packer:
    """Packs documents into rows of `length` tokens, each where it fits best of a few open rows."""

    def __init__(self, length):
        self._length = length
        self._open = []

    def add(self, ids, weights):
        """Gives a row that is as good as full, where there is one."""
        fitting = [row for row in self._open if row[0] + len(ids) <= self._length]
        row = max(fitting, key=lambda row: row[0], default=None)
        if row is None:
            row = [0, []]
            self._open.append(row)
        row[0] += len(ids)
        row[1].append((ids, weights))
        if len(self._open) <= OPEN_ROWS:
            return None
        self._open.sort(key=lambda row: -row[0])
        return self._open.pop(0)[1]


def row_arrays(documents, length):
    """Tokens, their weights, and the number of the document that each belongs to; 0 is padding."""
    tokens, weights, numbers = np.zeros(length, np.uint16), np.zeros(length, np.uint8), np.zeros(length, np.uint8)
    at = 0
    for number, (ids, document_weights) in enumerate(documents, 1):
        here = slice(at, at + len(ids))
        tokens[here], weights[here], numbers[here] = ids, document_weights, number
        weights[at] = 0  # nothing before it foretells it
        at += len(ids)
    return tokens, weights, numbers


class Encoder:
    """Tokenizes conversations. Weight 2 is on what the assistant must write, 1 on the rest."""

    def __init__(self):
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(HERE / "tokenizer.json"))
        self._start, self._end, self._assistant, self._call, self._arguments = (
            self._tokenizer.token_to_id(token)
            for token in ("<|im_start|>", "<|im_end|>", "assistant", "<tool_call>", "arguments")
        )

    def encode(self, documents, length):
        encodings = self._tokenizer.encode_batch_fast([text for text, _ in documents], add_special_tokens=False)
        for encoding, (_, flags) in zip(encodings, documents, strict=True):
            ids = np.array(encoding.ids, np.uint16)
            if 8 <= len(ids) <= length - 8:
                yield ids, self._weights(ids, flags)

    def _weights(self, ids, flags):
        weights = np.ones(len(ids), np.uint8)
        ends = np.flatnonzero(ids == self._end)
        starts = [start for start in np.flatnonzero(ids == self._start) if ids[start + 1] == self._assistant]
        for start, flag in zip(starts, flags, strict=True):
            end = ends[np.searchsorted(ends, start)]
            weights[start + 3 : end + 1] = 2
            if flag in ("call", "arguments"):
                # Nobody asked for a call, so it is hardly to begin one, and to go on with one that has begun.
                call = start + np.flatnonzero(ids[start:end] == self._call)[0]
                named = start + np.flatnonzero(ids[start:end] == self._arguments)[0]
                weights[start + 3 : named if flag == "arguments" else call + 1] = 0
                if call > start + 3:
                    weights[call - 1 : call + 1] = 1
            elif flag != 1:
                weights[end] = 0
        return weights


def make_batches(number, seed, length, rows, folder, stop_at):
    """Writes batches into `folder` until `stop_at`, never more than are taken. Runs in a process of its own."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    folder = Path(folder)
    generator, encoder, packer = training_generator(seed * 1000 + number), Encoder(), Packer(length)
    batch, made = [], 0
    while time.time() < stop_at:
        if len(list(folder.iterdir())) > MOST_WAITING:
            time.sleep(0.5)
            continue
        conversations = [generator.conversation() for _ in range(CONVERSATIONS)]
        documents = [
            (render(messages, tools, variant), flags) for messages, tools, flags, variant in conversations if flags
        ]
        for ids, weights in encoder.encode(documents, length):
            if (row := packer.add(ids, weights)) is not None:
                batch.append(row_arrays(row, length))
                if len(batch) == rows:
                    _write(folder, f"{number}_{made}", batch)
                    batch, made = [], made + 1


def _write(folder, name, batch):
    hidden = folder / f".{name}"
    with hidden.open("wb") as file:
        for arrays in zip(*batch, strict=True):
            np.save(file, np.stack(arrays))
    hidden.rename(folder / f"batch_{name}")


class Feed:
    """Takes batches as they are made; where none is ready, one of the earlier ones again."""

    def __init__(self, folder):
        self._folder = Path(folder)
        self._kept = []
        self.fresh = self.reused = 0

    def next(self):
        while True:
            if waiting := list(self._folder.glob("batch_*")):
                return self._taken(random.choice(waiting))
            if len(self._kept) > 200:
                self.reused += 1
                return random.choice(self._kept)
            time.sleep(0.05)

    def _taken(self, path):
        with path.open("rb") as file:
            batch = np.load(file), np.load(file), np.load(file)
        path.unlink()
        self.fresh += 1
        if len(self._kept) < MOST_KEPT:
            self._kept.append(batch)
        else:
            self._kept[random.randrange(MOST_KEPT)] = batch
        return batch
