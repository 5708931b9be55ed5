"""Trains the model from scratch on freshly made conversations (pip install torch tokenizers numpy).

    python models/tiny/train.py --minutes 23 --out FOLDER                  one CUDA GPU; all cores make data
    python models/tiny/train.py --steps 12 --smoke --rows 4 --workers 1 --device cpu --out FOLDER   does it run at all?

The learning rate follows the share of the time, or of the steps, that is used. FOLDER gets weights_0.npz, weights_1.npz
and config.json, of which export.py makes a GGUF file.
"""

from __future__ import annotations

import argparse
import math
import multiprocessing
import os
import shutil
import tempfile
import time
from pathlib import Path

import torch
import torch.nn.functional as F
from feed import Feed, make_batches
from model import CONFIG, SMOKE, Model

SMOKE_LENGTH = 1024
WARM_UP = 150  # steps
FALLS_OVER = 0.85  # of the run
KEEP_SECONDS = 150
LAST_SECONDS = 12  # for saving


def parsed():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--steps", type=int, default=0)
    parser.add_argument("--rows", type=int, default=32, help="rows of 4096 tokens a step")
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--decay", type=float, default=0.05, help="weight decay of the matrices")
    parser.add_argument("--context-weight", type=float, default=0.1, help="loss weight of what the assistant reads")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--init", type=Path, help="a folder with weights to start from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--eager", action="store_true", help="compile nothing: a shorter start for short runs")
    parser.add_argument("--smoke", action="store_true", help="a much smaller model")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    if not options.minutes and not options.steps:
        parser.error("say --minutes or --steps")
    return options


class Muon:
    """Momentum, made orthogonal, for stacks of matrices."""

    def __init__(self, matrices, decay, compiled):
        self._matrices, self._decay = matrices, decay
        self._momenta = [torch.zeros_like(matrix) for matrix in matrices]
        self._orthogonal = torch.compile(orthogonal) if compiled else orthogonal

    @torch.no_grad()
    def step(self, lr):
        for matrix, momentum in zip(self._matrices, self._momenta, strict=True):
            momentum.mul_(0.95).add_(matrix.grad, alpha=0.05)
            update = self._orthogonal(matrix.grad * 0.05 + momentum * 0.95)
            scale = 0.2 * math.sqrt(max(matrix.size(-2), matrix.size(-1)))
            matrix.mul_(1 - lr * self._decay).add_(update.to(matrix.dtype), alpha=-lr * scale)
            matrix.grad = None


def orthogonal(gradient):
    """The nearest orthogonal matrix, about, by Newton and Schulz."""
    x = gradient.bfloat16() if gradient.is_cuda else gradient
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = x.size(-2) > x.size(-1)
    x = x.mT if tall else x
    for _ in range(5):
        a = x @ x.mT
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * a @ a) @ x
    return x.mT if tall else x


class Objective:
    """The loss of a batch: documents in a row don't see each other."""

    def __init__(self, model, context_weight, device, compiled):
        self._model, self._device = model, device
        self._weights = torch.tensor([0.0, context_weight, 1.0], device=device)
        self._flexible = device == "cuda"
        self._loss = torch.compile(self._plain_loss) if compiled else self._plain_loss
        if self._flexible:
            from torch.nn.attention.flex_attention import create_block_mask, flex_attention

            self._attend = flex_attention
            self._block_mask = torch.compile(create_block_mask) if compiled else create_block_mask

    def __call__(self, tokens, targets, kinds, documents):
        """The loss, each token's own, and the guesses."""
        return self._loss(tokens, targets, self._weights[kinds].view(-1), self._mask(documents))

    def _plain_loss(self, tokens, targets, weights, mask):
        def attention(q, k, v):
            if self._flexible:
                return self._attend(q, k, v, block_mask=mask, enable_gqa=True)
            return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True)

        logits = self._model(tokens, attention)
        losses = F.cross_entropy(logits.float().view(-1, logits.size(-1)), targets.view(-1), reduction="none")
        return (losses * weights).sum() / weights.sum(), losses, logits.argmax(-1)

    def _mask(self, documents):
        rows, length = documents.shape
        if self._flexible:

            def sees(row, _, query, key):
                return (query >= key) & (documents[row, query] == documents[row, key])

            return self._block_mask(sees, rows, None, length, length, device=self._device)
        at = torch.arange(length)
        same = documents[:, :, None] == documents[:, None, :]
        return (same & (at[None, :, None] >= at[None, None, :]))[:, None]


def batch_of(feed, device):
    """Tokens, what follows each, how that counts, and whose they are."""
    tokens, kinds, documents = (torch.from_numpy(array.astype("int32")).to(device).long() for array in feed.next())
    targets = torch.cat([tokens[:, 1:], tokens[:, :1]], 1)
    kinds = torch.cat([kinds[:, 1:], torch.zeros_like(kinds[:, :1])], 1)
    return tokens, targets, kinds, documents.int()


class Schedule:
    """How much of the run is over. The clock starts with the first step, which is slow: it compiles everything."""

    def __init__(self, options, started):
        self._steps, self._rate = options.steps, options.lr
        self._end = started + options.minutes * 60 - LAST_SECONDS
        self._begun = None

    def share(self, step):
        if self._steps:
            return step / self._steps
        now = time.time()
        self._begun = self._begun or now
        return (now - self._begun) / max(1.0, self._end - self._begun)

    def rate(self, step, share):
        return self._rate * min(1.0, (step + 1) / WARM_UP) * max(0.01, min(1.0, (1 - share) / FALLS_OVER))


def train(options, started, folder):
    torch.manual_seed(options.seed)
    torch.set_float32_matmul_precision("high")
    model = Model(SMOKE if options.smoke else CONFIG).to(options.device)
    if options.init:
        model.load(options.init)
    info = {"parameters": sum(parameter.numel() for parameter in model.parameters())}
    print(info, flush=True)
    compiled = options.device == "cuda" and not options.eager
    muon = Muon(model.matrices, options.decay, compiled)
    rest = [model.emb, model.n1, model.n2, model.nf]
    adam = torch.optim.AdamW(rest, lr=options.lr, betas=(0.9, 0.95), eps=1e-10, weight_decay=0.0)
    objective = Objective(model, options.context_weight, options.device, compiled)
    feed, schedule = Feed(folder), Schedule(options, started)
    step, tokens_seen, saved = 0, 0, time.time()
    while (share := schedule.share(step)) < 1:
        rate = schedule.rate(step, share)
        batch = batch_of(feed, options.device)
        loss, losses, guesses = objective(*batch)
        loss.backward()
        muon.step(rate)
        for group in adam.param_groups:
            group["lr"] = rate
        adam.step()
        adam.zero_grad(set_to_none=True)
        step += 1
        tokens_seen += batch[0].numel()
        info.update(steps=step, tokens=tokens_seen)
        if step % 500 == 0 or step <= 5 or 0 < options.steps <= 50:
            tell(step, share, loss, losses, guesses, batch, tokens_seen / (time.time() - started), feed)
        if time.time() - saved > KEEP_SECONDS:
            saved = time.time()
            model.save(options.out, **info)
    model.save(options.out, **info)
    print(f"done: {info} in {time.time() - started:.0f} s, batches fresh {feed.fresh}, reused {feed.reused}")


def tell(step, share, loss, losses, guesses, batch, speed, feed):
    _, targets, kinds, _ = batch
    written, read = (kinds == 2).view(-1), (kinds == 1).view(-1)
    right = (guesses.view(-1) == targets.view(-1))[written].float().mean().item()
    print(
        f"step {step} ({share:.3f}) loss {loss.item():.4f} written {losses[written].mean().item():.5f}"
        f" read {losses[read].mean().item():.3f} right {right:.5f} tokens/s {speed:.0f}"
        f" fresh {feed.fresh} reused {feed.reused}",
        flush=True,
    )


def main():
    options, started = parsed(), time.time()
    shared = "/dev/shm" if Path("/dev/shm").is_dir() else None
    folder = tempfile.mkdtemp(prefix="feed", dir=shared)
    length = SMOKE_LENGTH if options.smoke else CONFIG["ctx"]
    stop_at = started + (options.minutes * 60 or 3600)
    spawn = multiprocessing.get_context("spawn")
    workers = [
        spawn.Process(
            target=make_batches, args=(number, options.seed, length, options.rows, folder, stop_at), daemon=True
        )
        for number in range(options.workers)
    ]
    for worker in workers:
        worker.start()
    try:
        train(options, started, folder)
    finally:
        for worker in workers:
            worker.terminate()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
