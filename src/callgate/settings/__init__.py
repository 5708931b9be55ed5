"""All settings in one immutable record, each with its origin. Nobody else reads the environment.

A setting is one line in one of the sections: its name, type and default, and what it is for. Its value comes from the
first of these that has one: an explicit override, the environment (`CALLGATE_DETECT_CACHE_TTL` for `detect.cache_ttl`;
a foreign variable such as `OLLAMA_HOST`, where one is named), the settings file, its default.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.settings.files import place_of_settings_file
    from callgate.settings.kinds import Secret
    from callgate.settings.loading import load_settings
    from callgate.settings.record import TABLE, Setting, Settings
    from callgate.settings.sections import LlamaCpp, Timeouts

__all__ = [
    "TABLE",
    "LlamaCpp",
    "Secret",
    "Setting",
    "Settings",
    "Timeouts",
    "load_settings",
    "place_of_settings_file",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "TABLE": "record",
        "LlamaCpp": "sections",
        "Secret": "kinds",
        "Setting": "record",
        "Settings": "record",
        "Timeouts": "sections",
        "load_settings": "loading",
        "place_of_settings_file": "files",
    },
)
