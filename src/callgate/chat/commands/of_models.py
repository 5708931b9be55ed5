"""`/model`, `/models`, `/caps` and `/why`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from callgate.chat.cleaning import on_one_line
from callgate.chat.swapping import swap_to
from callgate.chat.tables import in_columns
from callgate.chat.views import Ask
from callgate.chat.words import name_of
from callgate.runtime import ModelReport

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat


async def take_model(chat: Chat, name: str) -> None:
    if not name:
        with chat.doing("looking at the models"):
            models = await chat.shelf.soon()
        picked = await chat.view.ask(
            Ask(
                words=f"which model? ({name_of(chat.ref)} now)",
                choices={model.name: model.summary for model in models},
                pick=True,
                gives_way=True,
            )
        )
        if picked is None:
            chat.view.tell(f"still {name_of(chat.ref)}", "reply")
            return
        name = picked
    await swap_to(chat, name.strip())


async def list_models(chat: Chat, _: str) -> None:
    models = await chat.shelf.look()
    rows = [("", "TOOLS", "CONTEXT", "MODEL", "WHERE")]  # names may be long: what is behind them is left out first
    rows += [
        ("●" if model.found.ref == chat.ref else "", model.tools, model.context, on_one_line(model.name), model.place)
        for model in models
    ]
    data = {
        "models": [
            {
                "model": model.name,
                "tools": model.tools,
                "context": model.known.context_length if model.known else None,
                "place": model.place,
            }
            for model in models
        ]
    }
    chat.view.show_text("\n".join(in_columns(rows, shutil.get_terminal_size().columns, 0)), "models", data)


async def capabilities(chat: Chat, _: str) -> None:
    _show(chat, await _report(chat), why=False)


async def evidence(chat: Chat, _: str) -> None:
    judgement = chat.judgement
    chat.view.tell(f"tools are {judgement.mode}: {judgement.reason}", "reply")
    _show(chat, await _report(chat), why=True)


async def _report(chat: Chat) -> ModelReport:
    finding = await chat.agent.session.find(chat.ref)
    name = name_of(chat.ref)
    return ModelReport(
        target=name,
        model=name,
        capabilities=finding.capabilities,
        served=finding.facts.server is not None,
        error=finding.failure or finding.flaw,
    )


def _show(chat: Chat, report: ModelReport, *, why: bool) -> None:
    chat.view.show_text(chat.describe(report, why=why), "why" if why else "caps", report.as_json())
