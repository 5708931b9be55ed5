"""The GGUF format as data: value types, tensor types, file types, and how much of a header we are willing to read.

The limits are far above any real model and low enough that no file can hold us up: a length in the file is a claim,
and is checked against them (and against the file's size, where that is known) before anything follows from it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

ByteOrder = Literal["little", "big"]

MAGIC = b"GGUF"
VERSIONS = (1, 2, 3)

BOOL = 7
STRING = 8
ARRAY = 9
SCALARS = MappingProxyType(
    {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", BOOL: "B", 10: "Q", 11: "q", 12: "d"}
)
"""The struct code of each fixed-size value type."""
TYPE_NAMES = (
    *("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32"),
    *("bool", "string", "array", "uint64", "int64", "float64"),
)

TEMPLATE_KEY = "tokenizer.chat_template"
TOKENS_KEY = "tokenizer.ggml.tokens"

MAX_HEADER = 256 << 20  # a vocabulary of 256k tokens makes 11 MB
MAX_KEYS = 1 << 16
MAX_KEY = (1 << 16) - 1  # the format's own limit
MAX_TENSORS = 1 << 20
MAX_TENSOR_NAME = 4096
MAX_DIMS = 8  # llama.cpp has 4, image models have been seen with 5
MAX_ELEMENTS = (1 << 63) - 1  # what llama.cpp can count
MAX_DEPTH = 4  # of arrays in arrays; no real file has any
MAX_INNER_ARRAYS = 4096
MAX_STRINGS = 1 << 23  # in all arrays together; 256k tokens and 512k merges are the most so far
MAX_KEPT = 16 << 20  # bytes of keys and values that stay in memory
MAX_KEPT_TOKENS = 8 << 20  # bytes of the vocabulary, held back until the special tokens' ids are known
MAX_TEXT = 64 << 10  # longer texts are skipped, templates excepted: some files carry a whole tokenizer.json
MAX_ITEMS = 64  # longer arrays are skipped


def _numbered(names: str) -> MappingProxyType[int, str]:
    return MappingProxyType({number: name for number, name in enumerate(names.split()) if name != "-"})


TENSOR_TYPES = _numbered("""
    F32 F16 Q4_0 Q4_1 Q4_2 Q4_3 Q5_0 Q5_1 Q8_0 Q8_1 Q2_K Q3_K Q4_K Q5_K Q6_K Q8_K
    IQ2_XXS IQ2_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ2_S IQ4_XS I8 I16 I32 I64 F64 IQ1_M BF16
    Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 - - - MXFP4 NVFP4 Q1_0
""")
FILE_TYPES = _numbered("""
    F32 F16 Q4_0 Q4_1 Q4_1_F16 Q4_2 Q4_3 Q8_0 Q5_0 Q5_1 Q2_K Q3_K_S Q3_K_M Q3_K_L Q4_K_S Q4_K_M Q5_K_S Q5_K_M Q6_K
    IQ2_XXS IQ2_XS Q2_K_S IQ3_XS IQ3_XXS IQ1_S IQ4_NL IQ3_S IQ3_M IQ2_S IQ2_M IQ4_XS IQ1_M BF16
    Q4_0_4_4 Q4_0_4_8 Q4_0_8_8 TQ1_0 TQ2_0 MXFP4_MOE NVFP4 Q1_0
""")
"""What llama.cpp calls the mixtures that its quantiser makes: the values of `general.file_type`."""
FILE_TYPE_GUESSED = 1024  # a flag that is added to the file type

OTHER_FORMATS = (
    (b"<", "a web page", "what was downloaded is most likely an error or log-in page; fetch the file itself"),
    (b"{", "JSON", "what was downloaded is most likely a server's error message; fetch the file itself"),
    (b"vers", "a Git LFS pointer", "the model itself was never fetched: run `git lfs pull`"),
    *(
        (
            magic,
            "a model in a GGML format from before GGUF",
            "convert it to GGUF, or look for a newer file of this model",
        )
        for magic in (b"lmgg", b"fmgg", b"tjgg", b"algg", b"GGML", b"ggml", b"ggmf", b"ggjt", b"ggla")
    ),
    (b"PK\x03\x04", "a zip archive or PyTorch checkpoint", "convert it to GGUF, or look for a GGUF of this model"),
)
"""How files start that are taken for GGUF: first bytes, what that is, what to do."""
