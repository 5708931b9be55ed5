"""`/tools` and `/mcp`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Literal, cast

from callgate.chat.cleaning import cleaned, on_one_line
from callgate.chat.servers import servers_are_up
from callgate.chat.swapping import judge_anew
from callgate.chat.tables import in_columns, in_lines
from callgate.chat.words import plural, shortened, some_of
from callgate.gate import Strategy
from callgate.runtime import McpServer, ToolEntry, budget_of
from callgate.vocabulary import CallgateError, NotFound, UsageError

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat

_STRATEGIES = {"emulate": "emulate", "native": "native", "auto": "auto", "off": "off", "on": "auto"}
LONGEST_LOG = 4000


async def tools(chat: Chat, words: str) -> None:
    verb, _, pattern = words.partition(" ")
    verb, pattern = verb.lower(), pattern.strip()
    if not verb:
        await _list(chat)
    elif verb in _STRATEGIES and not pattern:
        await _take_strategy(chat, cast("Strategy", _STRATEGIES[verb]))
    elif verb in ("on", "off") and pattern:
        await _switch(chat, pattern, on=verb == "on")
    elif verb == "ask" and pattern:
        _take_back(chat, pattern)
    else:
        raise UsageError(
            f"{words[:60]!r} is nothing that /tools knows",
            hint="/tools on GLOB, /tools off GLOB, /tools ask GLOB; or emulate, native, auto, off",
        )


async def _take_strategy(chat: Chat, strategy: Strategy) -> None:
    """For this model, as long as this session lasts."""
    chat.agent.session.strategies[chat.ref] = strategy
    before = chat.judgement.line
    await judge_anew(chat)
    if chat.judgement.line == before:
        chat.view.tell(f"as before: {before}", "reply")


async def _switch(chat: Chat, pattern: str, *, on: bool) -> None:
    await servers_are_up(chat)
    await chat.agent.refreshed()
    names = chat.agent.toolbox.switch(pattern, on=on)
    if not names:
        raise NotFound(f"no tool is called {pattern[:60]!r}", hint="/tools lists them")
    chat.view.tell(f"{'on' if on else 'off'}: {some_of(names, 'tools')}", "reply")
    await judge_anew(chat)


def _take_back(chat: Chat, pattern: str) -> None:
    gone = chat.agent.permissions.take_back(pattern)
    if not gone:
        raise NotFound(f"nothing like {pattern[:60]!r} is allowed for good", hint="/tools lists what is")
    chat.view.tell(f"asked again from now on: {some_of([allowed.path for allowed in gone], 'tools')}", "reply")


async def _list(chat: Chat) -> None:
    if chat.view.goes_line_by_line:
        await servers_are_up(chat)
    for notice in await chat.agent.refreshed():
        chat.view.tell(notice.message)
    toolbox = chat.agent.toolbox
    width = shutil.get_terminal_size().columns
    costs = {cost.name: cost.tokens for cost in budget_of(entry.tool for entry in toolbox.entries).costs}
    always = {allowed.path for allowed in chat.agent.permissions.always}
    rows = [("", "TOOL", "RUNS", "OF", "TOKENS", "WHAT IT DOES")]  # on a narrow screen the last ones are left out
    rows += [
        (
            "●" if entry.is_on else "○",
            on_one_line(entry.name),
            _runs(entry, always),
            on_one_line(entry.source),
            f"{costs.get(entry.name, 0):,}",
            shortened(on_one_line(entry.tool.description), 200),
        )
        for entry in toolbox.entries
    ]
    budget = budget_of(toolbox.tools, chat.context)
    judgement = chat.judgement
    share = f", {budget.share:.0%} of its context" if budget.share is not None else ""
    lines = in_columns(rows, width, 0) if toolbox.entries else ["there are no tools at hand"]
    words = [f"about {plural(budget.tokens, 'token')} for {plural(len(budget.costs), 'tool')} that are on{share}"]
    words.append(f"tools are {judgement.mode} here: {on_one_line(judgement.reason)}")
    words += [f"always allowed: {path} (/tools ask {path} takes it back)" for path in map(on_one_line, sorted(always))]
    words += _starting(chat)
    lines += [line for sentence in words for line in in_lines(sentence, width)]
    data = {
        "mode": judgement.mode,
        "reason": judgement.reason,
        "tokens": budget.tokens,
        "tools": [
            {"name": e.name, "source": e.source, "on": e.is_on, "runs": _runs(e, always)} for e in toolbox.entries
        ],
        "always": sorted(always),
    }
    chat.view.show_text("\n".join(lines), "tools", data)


def _runs(entry: ToolEntry, always: set[str]) -> Literal["freely", "always", "asks", "elsewhere"]:
    if not entry.runs_here:
        return "elsewhere"
    return "freely" if entry.is_harmless else "always" if entry.path in always else "asks"


def _starting(chat: Chat) -> list[str]:
    if not chat.starting_servers:
        return []
    return [f"still starting: {some_of([on_one_line(name) for name in chat.starting_servers], 'MCP servers')}"]


async def servers(chat: Chat, words: str) -> None:
    if chat.view.goes_line_by_line:
        await servers_are_up(chat)
    verb, _, name = words.partition(" ")
    found = {source.name: source for source in chat.agent.toolbox.sources if isinstance(source, McpServer)}
    if not verb:
        _list_servers(chat, list(found.values()))
        return
    server = found.get(name.strip())
    if verb not in ("log", "restart") or server is None:
        raise UsageError(
            f"there is no MCP server {name.strip()[:60]!r}"
            if verb in ("log", "restart")
            else f"/mcp {verb[:30]}: what?",
            hint="/mcp lists them; /mcp log NAME, /mcp restart NAME",
        )
    if verb == "log":
        log = cleaned(server.log_text())[-LONGEST_LOG:].strip()
        chat.view.show_text(log or "it has said nothing", "mcp_log", {"server": server.name, "log": log})
        return
    try:
        await server.close()
        await server.open()
    except CallgateError as error:
        chat.view.failed(error)
        return
    await chat.agent.refreshed()
    chat.view.tell(f"{server.name} runs again", "reply")


def _list_servers(chat: Chat, found: list[McpServer]) -> None:
    counts = {source.name: 0 for source in found}
    for entry in chat.agent.toolbox.entries:
        if entry.source in counts:
            counts[entry.source] += 1
    rows = [("SERVER", "STATE", "TOOLS", "WHERE")]
    rows += [(on_one_line(s.name), s.state, str(counts[s.name]), on_one_line(s.where)) for s in found]
    width = shutil.get_terminal_size().columns
    lines = in_columns(rows, width, 0) if found else []
    words = [f"{s.name}: {notice}" for s in found for notice in s.notices] + list(chat.failed_servers.values())
    words += _starting(chat)
    if not found and not words:
        words = ["no MCP server runs: `callgate chat --mcp FILE` starts those of a file with `mcpServers` in it"]
    text = "\n".join([*lines, *(line for sentence in words for line in in_lines(on_one_line(sentence), width))])
    data = {
        "servers": [{"name": s.name, "state": s.state, "tools": counts[s.name], "where": s.where} for s in found],
        "failed": chat.failed_servers,
        "starting": list(chat.starting_servers),
    }
    chat.view.show_text(text, "mcp", data)
