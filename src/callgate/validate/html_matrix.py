"""All cases and all models at a glance: a table whose cells are coloured by the rate that passed."""

from __future__ import annotations

from callgate.validate.html_markup import Markup, named, tag, together
from callgate.validate.html_style import heat
from callgate.validate.html_tracks import small_whisker
from callgate.validate.html_words import MOST_COLUMNS, MOST_ROWS, chip, in_words, percent
from callgate.validate.standings import Cell, Standings

MOST_BESIDE = 8
"""Models and modes that fit beside one another with all their figures."""


def matrix(found: Standings) -> Markup:
    """Few columns have room for intervals. Many are turned into rows, so that all is seen at once."""
    if len(found.columns) <= MOST_BESIDE:
        said = (
            "The share that passed, and how many trials that was; below it the 95 % confidence interval. "
            "Hatched: not supported by this model or its server. A dot alone: not tried in this mode."
        )
        table = _roomy(found)
    else:
        said = (
            "Per cent that passed; how many trials that was and how sure it is shows under the pointer, and below for "
            "each model. Hatched: not supported by this model or its server. A dot alone: not tried in this mode."
        )
        table = _dense(found)
    scrolling = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Pass rates by case")
    return together(tag("p", said, class_="soft"), scrolling)


def _roomy(found: Standings) -> Markup:
    """A row for each case."""
    columns = found.columns
    models = dict.fromkeys(column.model for column in columns)
    groups = [
        tag("th", named(model, 60), scope="colgroup", colspan=len(found.of_model(model)), title=model)
        for model in models
    ]
    modes = [tag("th", chip(column.mode), scope="col") for column in columns]
    rows = [
        tag("tr", tag("th", named(row), scope="row"), *(_cell(found.cells.get((row, column))) for column in columns))
        for row in found.rows[:MOST_ROWS]
    ]
    sums = tag("tr", tag("th", "all", scope="row"), *(_cell(found.totals[column]) for column in columns), class_="sum")
    head = tag("thead", tag("tr", tag("td"), *groups), tag("tr", tag("th", "case", scope="col"), *modes))
    return tag("table", head, tag("tbody", sums, *rows), class_="matrix")


def _dense(found: Standings) -> Markup:
    """A row for each model and mode."""
    cases = found.rows[:MOST_ROWS]
    headings = [tag("th", tag("span", named(case, 60)), scope="col") for case in ("all", *cases)]
    rows = []
    last = ""
    for column in found.columns[:MOST_COLUMNS]:
        cells = (_cell(found.cells.get((case, column)), dense=True) for case in cases)
        first = column.model != last
        last = column.model
        total = _cell(found.totals[column], dense=True)
        name = tag("div", tag("bdi", column.model, title=column.model), chip(column.mode))
        rows.append(tag("tr", tag("th", name, scope="row"), total, *cells, class_="first" if first else None))
    head = tag("thead", tag("tr", tag("th", "model and mode", scope="col"), *headings))
    return tag("table", head, tag("tbody", *rows), class_="matrix dense")


def _cell(cell: Cell | None, *, dense: bool = False) -> Markup:
    if cell is None:
        return tag("td", "·", class_="none")
    rate = cell.rate
    if rate.value is None:
        return tag("td", "n/s", class_="unsupported", title=cell.why_unsupported[:300] or "not supported")
    about = in_words(rate) + (f"; {cell.unsupported} not supported" if cell.unsupported else "")
    if dense:
        return tag("td", percent(rate).removesuffix(" %"), class_=heat(rate.value), title=about)
    figures = (tag("small", f"{rate.passed}/{rate.of}"), percent(rate), small_whisker(rate))
    return tag("td", *figures, class_=heat(rate.value), title=about)
