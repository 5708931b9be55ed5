"""The terminal: talk to a model, with tools, and swap it in mid-conversation. Screen, commands, conversation store."""

from callgate.doors import opened_on_use

TYPE_CHECKING = False

if TYPE_CHECKING:
    from callgate.chat.options import ChatOptions, Describe
    from callgate.chat.running import run_in_lines
    from callgate.chat.tables import cut, width_of
    from callgate.chat.terminal.starting import run_in_terminal

__all__ = ["ChatOptions", "Describe", "cut", "run_in_lines", "run_in_terminal", "width_of"]

__getattr__ = opened_on_use(
    __name__,
    {
        "ChatOptions": "options",
        "Describe": "options",
        "cut": "tables",
        "run_in_lines": "running",
        "run_in_terminal": "terminal.starting",
        "width_of": "tables",
    },
)
