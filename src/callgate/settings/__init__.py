"""All settings in one immutable record, each with its origin. Nobody else reads the environment.

A setting is one line in one of the sections: its name, type and default, and what it is for. Its value comes from the
first of these that has one: an explicit override, the environment (`CALLGATE_DETECT_CACHE_TTL` for `detect.cache_ttl`;
a foreign variable such as `OLLAMA_HOST`, where one is named), the settings file, its default.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.settings.editing import with_setting, without_setting
    from callgate.settings.files import LARGEST_FILE, editable_text, place_of_settings_file
    from callgate.settings.kinds import Secret, without_password
    from callgate.settings.loading import (
        load_settings,
        nearest_variable,
        overruling_variable,
        read_value,
        setting_named,
        unknown_variables,
    )
    from callgate.settings.record import TABLE, Setting, Settings
    from callgate.settings.sections import LlamaCpp, Timeouts

__all__ = [
    "LARGEST_FILE",
    "TABLE",
    "LlamaCpp",
    "Secret",
    "Setting",
    "Settings",
    "Timeouts",
    "editable_text",
    "load_settings",
    "nearest_variable",
    "overruling_variable",
    "place_of_settings_file",
    "read_value",
    "setting_named",
    "unknown_variables",
    "with_setting",
    "without_password",
    "without_setting",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "LARGEST_FILE": "files",
        "TABLE": "record",
        "LlamaCpp": "sections",
        "Secret": "kinds",
        "Setting": "record",
        "Settings": "record",
        "Timeouts": "sections",
        "editable_text": "files",
        "load_settings": "loading",
        "nearest_variable": "loading",
        "overruling_variable": "loading",
        "place_of_settings_file": "files",
        "read_value": "loading",
        "setting_named": "loading",
        "unknown_variables": "loading",
        "with_setting": "editing",
        "without_password": "kinds",
        "without_setting": "editing",
    },
)
