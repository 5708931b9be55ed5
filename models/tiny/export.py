"""Makes a GGUF file of trained weights, tokenizer.json and chat_template.jinja (pip install gguf numpy).

python models/tiny/export.py WEIGHTS_FOLDER OUT.gguf [--f16]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import gguf
import numpy as np

HERE = Path(__file__).resolve().parent
CONTROL = {"<|endoftext|>", "<|im_start|>", "<|im_end|>"}
USER_DEFINED = {"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--f16", action="store_true", help="16 bits a weight instead of 8")
    options = parser.parse_args()
    config = json.loads((options.weights / "config.json").read_text("utf-8"))
    writer = gguf.GGUFWriter(str(options.out), "llama")
    add_description(writer, config, options.f16)
    add_tokenizer(writer)
    add_tensors(writer, config, load_weights(options.weights), options.f16)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    print(options.out, options.out.stat().st_size, "bytes")


def load_weights(folder):
    weights = {}
    for part in (0, 1):
        arrays = np.load(folder / f"weights_{part}.npz")
        weights.update({name: arrays[name].astype(np.float32) for name in arrays.files})
    return weights


def add_description(writer, config, f16):
    writer.add_name("Tiny Tools 11M")
    writer.add_description("A tiny tool-calling model trained from scratch on procedurally generated conversations")
    writer.add_basename("tiny-tools")
    writer.add_size_label("11M")
    writer.add_license("apache-2.0")
    writer.add_languages(["en"])
    writer.add_tags(["tool-calling", "function-calling", "test-fixture"])
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if f16 else gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
    writer.add_context_length(config["ctx"])
    writer.add_embedding_length(config["d"])
    writer.add_block_count(config["layers"])
    writer.add_feed_forward_length(config["ffn"])
    writer.add_head_count(config["heads"])
    writer.add_head_count_kv(config["kv"])
    writer.add_key_length(config["hd"])
    writer.add_value_length(config["hd"])
    writer.add_rope_dimension_count(config["hd"])
    writer.add_rope_freq_base(config["theta"])
    writer.add_layer_norm_rms_eps(config["eps"])


def add_tokenizer(writer):
    model = json.loads((HERE / "tokenizer.json").read_text("utf-8"))["model"]
    vocabulary = model["vocab"]
    tokens = sorted(vocabulary, key=vocabulary.__getitem__)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([token_type(token) for token in tokens])
    writer.add_token_merges([" ".join(pair) if isinstance(pair, list) else pair for pair in model["merges"]])
    writer.add_bos_token_id(vocabulary["<|endoftext|>"])
    writer.add_eos_token_id(vocabulary["<|im_end|>"])
    writer.add_eot_token_id(vocabulary["<|im_end|>"])
    writer.add_pad_token_id(vocabulary["<|endoftext|>"])
    writer.add_add_bos_token(False)
    writer.add_chat_template((HERE / "chat_template.jinja").read_text("utf-8"))


def token_type(token):
    if token in CONTROL:
        return gguf.TokenType.CONTROL
    if token in USER_DEFINED:
        return gguf.TokenType.USER_DEFINED
    return gguf.TokenType.UNUSED if token.startswith("<|unused") else gguf.TokenType.NORMAL


def add_tensors(writer, config, weights, f16):
    def matrix(name, values):
        if f16:
            writer.add_tensor(name, values.astype(np.float16))
        else:
            kind = gguf.GGMLQuantizationType.Q8_0
            packed = gguf.quants.quantize(np.ascontiguousarray(values, np.float32), kind)
            writer.add_tensor(name, packed, raw_dtype=kind)

    matrix("token_embd.weight", weights["emb"])
    writer.add_tensor("output_norm.weight", weights["nf"])
    for layer in range(config["layers"]):
        block = f"blk.{layer}"
        writer.add_tensor(f"{block}.attn_norm.weight", weights["n1"][layer])
        writer.add_tensor(f"{block}.ffn_norm.weight", weights["n2"][layer])
        matrix(f"{block}.attn_q.weight", interleaved(weights["wq"][layer], config["heads"]))
        matrix(f"{block}.attn_k.weight", interleaved(weights["wk"][layer], config["kv"]))
        matrix(f"{block}.attn_v.weight", weights["wv"][layer])
        matrix(f"{block}.attn_output.weight", weights["wo"][layer])
        matrix(f"{block}.ffn_gate.weight", weights["wg"][layer])
        matrix(f"{block}.ffn_up.weight", weights["wu"][layer])
        matrix(f"{block}.ffn_down.weight", weights["wd"][layer])


def interleaved(weights, heads):
    """From halves, as training rotates them, to llama.cpp's pairs."""
    halves = weights.reshape(heads, 2, weights.shape[0] // heads // 2, *weights.shape[1:])
    return halves.swapaxes(1, 2).reshape(weights.shape)


if __name__ == "__main__":
    main()
