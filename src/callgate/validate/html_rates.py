"""The part of the page that says how often a model passed: in all, and case by case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from callgate.validate.html_markup import Markup, named, tag, together
from callgate.validate.html_matrix import matrix
from callgate.validate.html_tracks import RATES, axis, legend, lines, track, whisker
from callgate.validate.html_words import MOST_COLUMNS, MOST_ROWS, PERCENTS, chip, head_of, in_words, look_of, percent
from callgate.validate.records import MODES, Mode
from callgate.validate.standings import Cell, Column, Standings

_MEANINGS: Mapping[Mode, str] = {
    "native": "tools go to the model as they are; a call counts only as it came",
    "recovered": "the same, but calls that come as text are found, and small faults mended",
    "emulated": "tools are described in the prompt, and the answer is held to their schema",
    "off": "no tools: plain text, and questions that must not lead to a call",
}


def modes_legend(columns: Sequence[Column]) -> Markup:
    modes = dict.fromkeys(column.mode for column in columns)
    return legend((look_of(mode), named(mode, 40)) for mode in modes)


def overall(found: Standings) -> Markup:
    """A row for each model and mode, the best first; what went without tools is another matter, and comes last."""
    ranked = sorted(found.columns, key=lambda column: (column.mode == "off", -(found.totals[column].rate.value or 0)))
    rows = []
    for column in ranked[:MOST_COLUMNS]:
        cell = found.totals[column]
        rate = cell.rate
        text = f"{rate.passed} of {rate.of}" + (f", {cell.unsupported} not supported" if cell.unsupported else "")
        figures = tag("td", tag("b", percent(rate)), " ", tag("small", text), class_="figures")
        drawn = track(RATES, whisker(rate, look_of(column.mode), about=f"{column}: {in_words(rate)}"))
        rows.append(tag("tr", head_of(column), tag("td", drawn, class_="wide"), figures))
    return tag(
        "section",
        tag("h2", "In all"),
        tag(
            "p",
            "Trials passed, of those that could be judged. The line through each dot is the 95 % confidence interval: "
            "where two of them overlap widely, the difference may be chance.",
            class_="soft",
        ),
        tag("table", _plot_head("model and mode"), tag("tbody", *rows), class_="plot"),
        _modes_explained(found.columns),
        id="all",
    )


def _modes_explained(columns: Sequence[Column]) -> Markup:
    modes = [mode for mode in MODES if any(column.mode == mode for column in columns)]
    return tag("dl", *(together(tag("dt", chip(mode)), tag("dd", _MEANINGS[mode])) for mode in modes), class_="modes")


def _plot_head(first: str) -> Markup:
    cells = (
        tag("th", first, scope="col"),
        tag("td", axis(RATES, PERCENTS), class_="wide"),
        tag("th", "passed", scope="col", class_="figures"),
    )
    return tag("thead", tag("tr", *cells))


def by_case(found: Standings) -> Markup:
    """A matrix of all, and for each model its cases with their intervals."""
    alone = len(found.models) == 1
    parts = [tag("h2", "Case by case")]
    if len(found.columns) > 1:
        parts.append(matrix(found))
    for model in found.models[:MOST_COLUMNS]:
        columns = found.of_model(model)
        drawn = together(modes_legend(columns), _lanes(found, columns))
        if alone:
            parts.extend([tag("h3", "With confidence intervals"), drawn])
        else:
            parts.append(tag("details", tag("summary", named(model), ", with confidence intervals"), drawn))
    if len(found.rows) > MOST_ROWS:
        parts.append(tag("p", f"{len(found.rows) - MOST_ROWS} more cases are not shown.", class_="soft"))
    return tag("section", *parts, id="cases")


def _lanes(found: Standings, columns: Sequence[Column]) -> Markup:
    """A row for each case, and in it a lane for each mode in which it was tried."""
    rows = []
    for row in found.rows[:MOST_ROWS]:
        tried = [(column, found.cells[row, column]) for column in columns if (row, column) in found.cells]
        if not tried:
            continue
        drawn = [
            whisker(cell.rate, look_of(column.mode), lane, f"{row}, {column.mode}: {in_words(cell.rate)}")
            for lane, (column, cell) in enumerate(tried)
        ]
        figures = lines(_lane_figures(column, cell) for column, cell in tried)
        rows.append(
            tag(
                "tr",
                tag("th", named(row), scope="row"),
                tag("td", track(RATES, *drawn, lanes=len(tried)), class_="wide"),
                tag("td", figures, class_="figures"),
            )
        )
    return tag("table", _plot_head("case"), tag("tbody", *rows), class_="plot lanes")


def _lane_figures(column: Column, cell: Cell) -> Markup:
    rate = cell.rate
    if rate.value is None:
        return together(chip(column.mode), " ", tag("small", "not supported", title=cell.why_unsupported[:300]))
    return together(chip(column.mode), " ", percent(rate), " ", tag("small", f"{rate.passed}/{rate.of}"))
