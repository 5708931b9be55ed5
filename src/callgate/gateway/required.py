"""`--require-tools`: what isn't known to call tools stays out, too."""

from __future__ import annotations

from callgate.detect import Finding
from callgate.vocabulary import Answer, ModelRejected


def require_known_tools(finding: Finding, name: str) -> None:
    """For a model that isn't known to have none: that is refused by then. Whoever doesn't answer may yet tell.

    Raises: ModelRejected.
    """
    if finding.capabilities.tools is Answer.UNKNOWN and finding.failure is None:
        raise ModelRejected(
            f"Model {name[:200]!r} rejected: nothing tells whether it supports tool calling",
            hint="if it does, say so where this server runs: `callgate models set MODEL --tools yes`; or let it run "
            "without --require-tools",
        )
