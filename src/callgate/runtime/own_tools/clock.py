"""What time it is: no model knows."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from callgate.runtime.tool_source import Outcome

_LONGEST_NAME = 80


def current_time(timezone: str | None = None) -> Outcome:
    """Tell the current date and time.

    Args:
        timezone: An IANA name such as Europe/Berlin or UTC; the user's own, if left out.
    """
    try:
        now = datetime.now(_zone(timezone)) if timezone else datetime.now().astimezone()
    except (LookupError, ValueError, OSError):  # a folder of the data is no zone, either
        return Outcome(
            f"error: there is no time zone {(timezone or '')[:_LONGEST_NAME]!r}: use a name such as Europe/Berlin",
            is_error=True,
        )
    return Outcome(f"{now:%A %Y-%m-%d %H:%M} {timezone or now.tzname()}")  # plain: small models quote it whole


def _zone(name: str) -> tzinfo:
    """Raises: LookupError, ValueError or OSError, if there is none of that name."""
    from zoneinfo import ZoneInfo

    return UTC if name.upper() == "UTC" else ZoneInfo(name[:_LONGEST_NAME])  # Windows has no data, but this needs none
