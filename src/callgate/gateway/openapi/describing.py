"""The document: what is asked, from the records that decode requests; what is answered, from the writers themselves."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec

from callgate import __version__
from callgate.gateway.dialect import (
    CountTokens,
    Dialect,
    DropAnswer,
    Embed,
    Failure,
    PassOn,
    Route,
    Say,
    ShowAnswer,
    ShowModel,
    Talk,
)
from callgate.gateway.guards import OPEN_PATHS
from callgate.gateway.metrics import CONTENT_TYPE
from callgate.gateway.openapi.samples import other_answers, streamed_answers, whole_answers
from callgate.gateway.openapi.shapes import shape_of

Json = dict[str, Any]

_JSON = "application/json"
_LINES = "application/x-ndjson"
_EVENTS = "text/event-stream"
_REFS = "#/components/schemas/{name}"
_FAILURES = [
    Failure(status=400, kind="UsageError", message="what is wrong", hint="what to do", param=param)
    for param in (None, "messages[0].role")
]
_FOR_ALL = {403: "Not by this name, or not from this web page.", 500: "A mistake of callgate.", 508: "A loop."}
_KEY = {401: "The key is missing or wrong."}
_BODIES = {400: "The request is no good, or can't be met.", 408: "It came too slowly.", 413: "It is too long."}
_MODELS = {
    400: _BODIES[400],
    404: "There is no such model; the nearest names are told.",
    502: "A server behind failed.",
    503: "Too much to do, or not ready.",
}
_BEHIND = {
    409: "The model stays loaded.",
    422: "A server behind can't meet it.",
    429: "A server behind has too much to do.",
    504: "It took too long.",
}
_NO_OLLAMA = {404: "There is no Ollama behind.", 502: "It failed.", 503: "Too much to do, or not ready."}
_OWN = {
    "/health": ("Whether the server lives.", _JSON),
    "/ready": ("Whether it takes requests.", _JSON),
    "/metrics": ("What was counted, for Prometheus.", CONTENT_TYPE),
    "/openapi.json": ("This document.", _JSON),
}
_NAME = re.compile(rb"^event: (.+)")
_NAME_OF_MODEL = {"type": "string", "minLength": 1}
_MODE = {"enum": ["native", "emulated", "off"]}


@lru_cache(maxsize=4)
def document(dialects: tuple[Dialect, ...], *, keyed: bool, has_default: bool) -> bytes:
    """`keyed`: a key has to be sent; `has_default`: there is a model for requests that name none."""
    bodies = [body for dialect in dialects for route in dialect.routes if (body := _body_of(route)) is not None]
    asked, components = msgspec.json.schema_components(bodies, ref_template=_REFS)
    refs = dict(zip(bodies, asked, strict=True))
    if not has_default:
        names = {ref["$ref"].rpartition("/")[2] for ref in asked}
        components = {name: _naming_a_model(each) if name in names else each for name, each in components.items()}
    paths: dict[str, Json] = {}
    for dialect in dialects:
        components[_error_name(dialect)] = shape_of([_plain(dialect.error(failure)) for failure in _FAILURES])
        for route in dialect.routes:
            operation = _operation(dialect, route, refs, keyed=keyed)
            paths.setdefault(_templated(route.path), {})[route.method.lower()] = operation
    for path, (about, media_type) in _OWN.items():
        paths[path] = {"get": _own(path, about, media_type, dialects[0], keyed=keyed)}
    for path, operations in paths.items():
        if keyed and path in OPEN_PATHS:
            for operation in operations.values():
                operation["security"] = []
    whole: Json = {
        "openapi": "3.1.0",
        "info": {
            "title": "callgate",
            "version": __version__,
            "description": "One endpoint in front of every model, with tools made to fit each of them.",
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": dialect.name} for dialect in dialects],
        "paths": paths,
        "components": {"schemas": components},
    }
    if keyed:
        bearer, header = {"type": "http", "scheme": "bearer"}, {"type": "apiKey", "in": "header", "name": "X-Api-Key"}
        whole["components"]["securitySchemes"] = {"bearer": bearer, "header": header}
        whole["security"] = [{"bearer": []}, {"header": []}]
    return msgspec.json.encode(whole)


def _naming_a_model(body: Json) -> Json:
    """Some bodies have two fields for it, of which one is enough."""
    fields = [name for name in ("model", "name") if name in body["properties"]]
    needs: list[Json] = [{"properties": {name: _NAME_OF_MODEL}, "required": [name]} for name in fields]
    if len(needs) > 1:
        return {**body, "anyOf": needs}
    properties = {**body["properties"], **needs[0]["properties"]}
    return {**body, "properties": properties, "required": [*body["required"], *fields]}


def _operation(dialect: Dialect, route: Route, refs: dict[type, Json], *, keyed: bool) -> Json:
    words = re.findall(r"\w+", f"{dialect.name} {route.method.lower()} {_templated(route.path)}")
    operation: Json = {
        "operationId": "_".join(words),
        "tags": [dialect.name],
        "summary": " ".join((type(route.action).__doc__ or "").split()),
    }
    if route.path.endswith("/*"):
        schema = {"type": "string", "minLength": 1, **({"pattern": f"^{route.rest}$"} if route.rest else {})}
        operation["parameters"] = [{"name": "name", "in": "path", "required": True, "schema": schema}]
    if (body := _body_of(route)) is not None:
        operation["requestBody"] = {"required": True, "content": {_JSON: {"schema": refs[body]}}}
    elif isinstance(route.action, PassOn) and route.method != "HEAD":
        kind = "application/octet-stream" if route.rest else _JSON
        operation["requestBody"] = {"content": {kind: {}}}
    has_body = route.method != "HEAD"
    operation["responses"] = {
        **_answers(route, _error_ref(dialect), has_body=has_body),
        **_errors(dialect, _statuses(route, keyed=keyed), has_body=has_body),
    }
    return operation


def _answers(route: Route, error: Json, *, has_body: bool) -> Json:
    action = route.action
    match action:
        case Talk():
            mode = {"description": "How tools reached the model: native, emulated or off.", "schema": _MODE}
            whole = list(whole_answers(action))
            content = {_JSON: {"schema": shape_of(whole), "example": whole[0]}, **_streamed(action, error)}
            return {"200": {"description": "The answer.", "headers": {"X-Callgate-Mode": mode}, "content": content}}
        case PassOn():
            # The Ollama behind answers as it likes: with 200, 201, 400 or 404 mostly.
            content = {_JSON: {}, _LINES: {}, "text/plain": {}} if has_body else {}
            return {"default": {"description": "What the Ollama behind says.", "content": content}}
        case Say(said, media_type):
            shown = shape_of([_plain(said)]) if media_type == _JSON else {"type": "string"}
            page = {"text/html": {"schema": {"type": "string"}}} if route.path == "/" else {}
            return _ok({media_type: {"schema": shown}, **page} if has_body else {})
        case ShowAnswer():
            return _ok({_JSON: {"schema": {"type": "object"}}})
        case _:
            samples = list(other_answers(action))
            return _ok({_JSON: {"schema": shape_of(samples), "example": samples[0]}})


def _streamed(action: Talk, error: Json) -> Json:
    """The schema is that of each event or line."""
    answers = list(streamed_answers(action))
    shown = {"example": b"".join(answers[0]).decode()}
    pieces = [piece for answer in answers for piece in answer]
    if action.stream_type != _EVENTS:
        lines = [msgspec.json.decode(line) for piece in pieces for line in piece.splitlines()]
        return {action.stream_type: {"schema": {"anyOf": [shape_of(lines), error]}, **shown}}
    said = [part for piece in pieces for part in piece.split(b"\n\n") if part]
    names = sorted({name.decode() for part in said for name in _NAME.findall(part)})
    data = [part[part.index(b"data: ") + 6 :] for part in said]
    chunk = shape_of([msgspec.json.decode(each) for each in data if each.startswith(b"{")])
    held = {"type": "string", "contentMediaType": _JSON, "contentSchema": {"anyOf": [chunk, error]}}
    fields: Json = {"data": {"description": "JSON: a piece, or an error where the answer breaks off.", **held}}
    if b"[DONE]" in data:
        fields["data"] = {"description": "… and [DONE] at the end.", "anyOf": [{"const": "[DONE]"}, held]}
    if names:
        fields["event"] = {"type": "string", "examples": names}
    return {_EVENTS: {"schema": {"type": "object", "properties": fields, "required": [*fields]}, **shown}}


def _own(path: str, about: str, media_type: str, dialect: Dialect, *, keyed: bool) -> Json:
    schema = {"type": "object"} if media_type == _JSON else {"type": "string"}
    statuses = {**_FOR_ALL, **(_KEY if keyed and path not in OPEN_PATHS else {})}
    if path in ("/ready", "/metrics"):
        statuses[503] = "It doesn't take any yet, or its workers don't answer."
    return {
        "operationId": re.sub(r"\W+", "_", path.strip("/")),
        "summary": about,
        "responses": {**_ok({media_type: {"schema": schema}}), **_errors(dialect, statuses)},
    }


def _statuses(route: Route, *, keyed: bool) -> dict[int, str]:
    statuses = {**_FOR_ALL, **(_KEY if keyed and route.path not in OPEN_PATHS else {})}
    match route.action:
        case Talk() | Embed() | CountTokens():
            statuses |= {**_BODIES, **_MODELS, **_BEHIND}
        case ShowAnswer() | DropAnswer():
            statuses |= {404: "There is no such answer, or no longer.", 503: _MODELS[503]}
        case ShowModel(body=body):
            statuses |= {**_MODELS, **(_BODIES if body else {})}
        case PassOn():
            statuses |= _NO_OLLAMA
        case Say():
            pass
        case _:
            statuses |= {502: _MODELS[502], 503: _MODELS[503]}
    return statuses


def _errors(dialect: Dialect, statuses: dict[int, str], *, has_body: bool = True) -> Json:
    content = {_JSON: {"schema": _error_ref(dialect)}} if has_body else {}
    return {str(status): {"description": statuses[status], "content": content} for status in sorted(statuses)}


def _ok(content: Json) -> Json:
    return {"200": {"description": "So it is.", "content": content}}


def _body_of(route: Route) -> type | None:
    return route.action.body if isinstance(route.action, Talk | CountTokens | Embed | ShowModel) else None


def _templated(path: str) -> str:
    return path.replace("*", "{name}")


def _error_name(dialect: Dialect) -> str:
    return f"{dialect.name}.Error"


def _error_ref(dialect: Dialect) -> Json:
    return {"$ref": _REFS.format(name=_error_name(dialect))}


def _plain(answer: object) -> object:
    return msgspec.json.decode(answer if isinstance(answer, bytes) else msgspec.json.encode(answer))
