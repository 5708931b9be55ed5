"""Takes the weights out of a GGUF file that export.py made, to train on from them (pip install gguf numpy).

python models/tiny/unpack.py FILE.gguf WEIGHTS_FOLDER
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import gguf
import numpy as np

LAYER = {
    "wq": "attn_q",
    "wk": "attn_k",
    "wv": "attn_v",
    "wo": "attn_output",
    "wg": "ffn_gate",
    "wu": "ffn_up",
    "wd": "ffn_down",
    "n1": "attn_norm",
    "n2": "ffn_norm",
}
SECOND_PART = ("wg", "wu", "wd")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("weights", type=Path)
    options = parser.parse_args()
    reader = gguf.GGUFReader(options.file)
    tensors = {
        tensor.name: gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        for tensor in reader.tensors
    }

    def number(name):
        return int(reader.get_field(f"llama.{name}").contents())

    layers, heads, kv = number("block_count"), number("attention.head_count"), number("attention.head_count_kv")
    weights = {
        name: np.stack([tensors[f"blk.{layer}.{part}.weight"] for layer in range(layers)])
        for name, part in LAYER.items()
    }
    weights["wq"] = np.stack([halved(layer, heads) for layer in weights["wq"]])
    weights["wk"] = np.stack([halved(layer, kv) for layer in weights["wk"]])
    weights |= {"emb": tensors["token_embd.weight"], "nf": tensors["output_norm.weight"]}
    options.weights.mkdir(parents=True, exist_ok=True)
    small = {name: array if name in ("n1", "n2", "nf") else array.astype(np.float16) for name, array in weights.items()}
    first = {name: array for name, array in small.items() if name not in SECOND_PART}
    np.savez(options.weights / "weights_0.npz", **first)
    np.savez(options.weights / "weights_1.npz", **{name: small[name] for name in SECOND_PART})
    config = {"layers": layers, "heads": heads, "kv": kv, "d": number("embedding_length")}
    config |= {
        "vocab": len(weights["emb"]),
        "ctx": number("context_length"),
        "hd": number("attention.key_length"),
        "ffn": number("feed_forward_length"),
    }
    config["theta"] = float(reader.get_field("llama.rope.freq_base").contents())
    config["eps"] = float(reader.get_field("llama.attention.layer_norm_rms_epsilon").contents())
    (options.weights / "config.json").write_text(json.dumps(config), "utf-8")
    print(options.weights, {name: array.shape for name, array in weights.items()})


def halved(weights, heads):
    """From llama.cpp's pairs back to halves; see export.py."""
    pairs = weights.reshape(heads, weights.shape[0] // heads // 2, 2, *weights.shape[1:])
    return pairs.swapaxes(1, 2).reshape(weights.shape)


if __name__ == "__main__":
    main()
