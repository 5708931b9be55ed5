"""llama.cpp with one model, through xllamacpp's own HTTP server."""

from __future__ import annotations

import json
import os
import time
import urllib.request


class Engine:
    def __init__(self, path, threads=1):
        os.environ.setdefault("GOMP_SPINCOUNT", "0")  # threads that spin starve the others on a busy machine
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = path
        params.n_ctx = 4096
        params.use_jinja = True
        params.endpoint_props = True
        params.n_parallel = 1
        params.verbosity = -1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        started = time.monotonic()
        self._server = xllamacpp.Server(params)
        self.load_seconds = time.monotonic() - started
        self._base = self._server.listening_address
        self._sums = dict.fromkeys(("prompt_n", "prompt_ms", "predicted_n", "predicted_ms"), 0)

    def get(self, path):
        with urllib.request.urlopen(self._base + path) as answer:
            return json.load(answer)

    def post(self, path, body):
        request = urllib.request.Request(
            self._base + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def chat(self, messages, tools=None, **more):
        """The model's message."""
        body = {"messages": messages, "temperature": 0, "max_tokens": 400, **more}
        answer = self.post("/v1/chat/completions", {**body, "tools": tools} if tools else body)
        timings = answer.get("timings", {})
        for name in self._sums:
            self._sums[name] += timings.get(name, 0)
        return answer["choices"][0]["message"]

    def speed(self):
        prompt, predicted = (
            1000 * self._sums[f"{what}_n"] / max(1, self._sums[f"{what}_ms"]) for what in ("prompt", "predicted")
        )
        return f"{prompt:.0f} prompt tokens/s, {predicted:.0f} generated tokens/s"

    def leave(self):
        """Ends the process, for the server's own end can hang."""
        os._exit(0)
