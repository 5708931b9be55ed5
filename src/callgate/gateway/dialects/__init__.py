"""The dialects that the server speaks, one file each. The first speaks where nobody knows what the client speaks."""

from callgate.gateway.dialect import Dialect
from callgate.gateway.dialects.anthropic import ANTHROPIC
from callgate.gateway.dialects.ollama import OLLAMA
from callgate.gateway.dialects.openai import OPENAI
from callgate.gateway.dialects.responses import RESPONSES

DIALECTS: tuple[Dialect, ...] = (OPENAI, OLLAMA, ANTHROPIC, RESPONSES)
