"""What a turn showed about a model, for whoever keeps such things."""

from __future__ import annotations

from typing import Literal

import msgspec

Observed = Literal["native_call", "text_call", "emulated_call", "tools_refused", "tools_ignored"]


class Observation(msgspec.Struct, frozen=True):
    """One thing that was seen of a model. Without arguments or texts: it may be kept and logged."""

    kind: Observed
    """`tools_ignored`: it had to call a tool, and didn't."""
    detail: str = ""
    """The format of a call that came as text; what a server said that refused tools."""
