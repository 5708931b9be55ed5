"""The model: a small Llama in torch, its weights stacked by layer, and the files that they are kept in."""

from __future__ import annotations

import json
import math

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

SHAPE = {"vocab": 4096, "d": 288, "layers": 12, "heads": 6, "kv": 3, "hd": 64, "ffn": 544}
CONFIG = {**SHAPE, "theta": 100000.0, "eps": 1e-5, "ctx": 4096}
SMOKE = {**CONFIG, "d": 64, "layers": 2, "heads": 2, "kv": 1, "hd": 32, "ffn": 96}
"""For a run that only shows that everything works."""
NAMES = ("emb", "wq", "wk", "wv", "wo", "wg", "wu", "wd", "n1", "n2", "nf")
SECOND_PART = ("wg", "wu", "wd")


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        layers, d, ffn = config["layers"], config["d"], config["ffn"]
        queries, keys = config["heads"] * config["hd"], config["kv"] * config["hd"]

        def weights(*shape, std):
            return nn.Parameter(torch.randn(*shape) * std)

        std, shrunk = d**-0.5, math.sqrt(2 * layers)
        self.emb = weights(config["vocab"], d, std=0.02)
        self.wq = weights(layers, queries, d, std=std)
        self.wk = weights(layers, keys, d, std=std)
        self.wv = weights(layers, keys, d, std=std)
        self.wo = weights(layers, d, queries, std=std / shrunk)
        self.wg = weights(layers, ffn, d, std=std)
        self.wu = weights(layers, ffn, d, std=std)
        self.wd = weights(layers, d, ffn, std=ffn**-0.5 / shrunk)
        self.n1, self.n2 = nn.Parameter(torch.ones(layers, d)), nn.Parameter(torch.ones(layers, d))
        self.nf = nn.Parameter(torch.ones(d))
        frequencies = config["theta"] ** (-torch.arange(0, config["hd"], 2).float() / config["hd"])
        angles = torch.arange(config["ctx"]).float()[:, None] * frequencies[None]
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    @property
    def matrices(self):
        return [self.wq, self.wk, self.wv, self.wo, self.wg, self.wu, self.wd]

    def forward(self, tokens, attention):
        """`attention(q, k, v)` knows which tokens see which."""
        config, (rows, length) = self.config, tokens.shape
        x = F.embedding(tokens, self.emb)
        if x.is_cuda:
            x = x.bfloat16()
        kind = x.dtype

        def heads(values, weights, count):
            return F.linear(values, weights.to(kind)).view(rows, length, count, config["hd"]).transpose(1, 2)

        for i in range(config["layers"]):
            h = self._norm(x, self.n1[i])
            q, k = heads(h, self.wq[i], config["heads"]), heads(h, self.wk[i], config["kv"])
            seen = attention(self._rotated(q, length), self._rotated(k, length), heads(h, self.wv[i], config["kv"]))
            x = x + F.linear(seen.transpose(1, 2).reshape(rows, length, -1), self.wo[i].to(kind))
            h = self._norm(x, self.n2[i])
            gate, up = F.linear(h, self.wg[i].to(kind)), F.linear(h, self.wu[i].to(kind))
            x = x + F.linear(F.silu(gate) * up, self.wd[i].to(kind))
        return F.linear(self._norm(x, self.nf), self.emb.to(kind))

    def _norm(self, x, weights):
        return F.rms_norm(x, (x.shape[-1],), weights.to(x.dtype), self.config["eps"])

    def _rotated(self, x, length):
        # By halves; export.py turns q and k to llama.cpp's pairs.
        cos, sin = self.cos[:length].to(x.dtype), self.sin[:length].to(x.dtype)
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, b * cos + a * sin], -1)

    def save(self, folder, **info):
        """In two files, and in half precision where that is enough."""
        folder.mkdir(parents=True, exist_ok=True)
        arrays = {name: getattr(self, name).detach().float().cpu().numpy() for name in NAMES}
        arrays = {
            name: array if name in ("n1", "n2", "nf") else array.astype(np.float16) for name, array in arrays.items()
        }
        np.savez(folder / "weights_0.npz", **{name: arrays[name] for name in NAMES if name not in SECOND_PART})
        np.savez(folder / "weights_1.npz", **{name: arrays[name] for name in SECOND_PART})
        (folder / "config.json").write_text(json.dumps({**self.config, **info}), "utf-8")

    def load(self, folder):
        for part in (0, 1):
            arrays = np.load(folder / f"weights_{part}.npz")
            for name in arrays.files:
                with torch.no_grad():
                    getattr(self, name).copy_(torch.from_numpy(arrays[name].astype(np.float32)))
