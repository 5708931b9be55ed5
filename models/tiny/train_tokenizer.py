"""Trains tokenizer.json (pip install tokenizers). The model has to be trained anew after it.

    python models/tiny/train_tokenizer.py [CONVERSATIONS]

A byte-level BPE whose merges never join a word to the space or quote before it, so that a word has the same tokens in
the request, in a schema and inside JSON: to copy it is to repeat its tokens. At run time the split is qwen2's, which
llama.cpp knows.
"""

from __future__ import annotations

import json
import sys

from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

from datagen import HERE, WORDS, render, training_generator

SPECIAL = [
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>"),
    *("<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"),
]
QWEN2 = (
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
FINE = r"\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\p{Lu}|\p{L}|\p{N}| ?[{}\[\]\",:]{1,6}|\n\n|[\s\S]"
FUNCTION_WORDS = """
the of to a in for is and with from by on at or not if it its an as that this be are you your me my I all can
could would want need please what how which where when do does will was were has have than then no use named
called one more these
""".split()  # noqa: SIM905
"""The only words that are joined to the space before them."""
SIZE = 4096
SPACE = "\u0120"


def main(conversations=24_000):
    generator = training_generator(12345)
    texts = [training_text(generator) for _ in range(conversations)]
    # Values are open sets: each common word is shown a few times, so that it gets tokens of its own.
    texts.append("\n".join(word for word in WORDS for _ in range(20)))
    fine = Tokenizer(models.BPE(byte_fallback=False))
    fine.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(FINE), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=SIZE - len(FUNCTION_WORDS),
        special_tokens=SPECIAL,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
        min_frequency=20,
    )
    fine.train_from_iterator(texts, trainer)
    final = Tokenizer.from_str(json.dumps(with_function_words(json.loads(fine.to_str()))))
    final.save(str(HERE / "tokenizer.json"), pretty=False)
    compare(fine, final, texts[:500])


def training_text(generator):
    messages, tools, _, _ = generator.conversation()
    text = render(messages, tools)
    for special in SPECIAL:
        text = text.replace(special, "\n")
    return text


def with_function_words(tokenizer):
    """The same with function words joined to their space, the vocabulary filled up, and qwen2's split."""
    vocabulary, merges = tokenizer["model"]["vocab"], tokenizer["model"]["merges"]
    for word in FUNCTION_WORDS:
        if word in vocabulary and SPACE + word not in vocabulary:
            vocabulary[SPACE + word] = len(vocabulary)
            merges.append([SPACE, word])
        else:
            print("no merge for", word)
    while len(vocabulary) % 32:
        vocabulary[f"<|unused{len(vocabulary) % 32}|>"] = len(vocabulary)
    print("vocabulary", len(vocabulary), "merges", len(merges))
    tokenizer["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {"Regex": QWEN2}
    tokenizer["decoder"] = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    return tokenizer


def compare(fine, final, texts):
    encoded = [final.encode(text).ids for text in texts]
    different = sum(ids != fine.encode(text).ids for ids, text in zip(encoded, texts, strict=True))
    print("characters a token", sum(map(len, texts)) / sum(map(len, encoded)))
    print("texts that differ from the fine split (function words make them)", different)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
