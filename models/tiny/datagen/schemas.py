"""A tool's schema, in the many styles in which programs write them."""

from __future__ import annotations

from datagen.kinds import Kinds
from datagen.lists import TAILS
from datagen.specs import JSON_TYPES, snake_words


class Schemas(Kinds):
    """Names, descriptions and JSON Schemas of tools."""

    def style_name(self, ws, style):
        if style == "camel":
            return ws[0] + "".join(x.capitalize() for x in ws[1:])
        if style == "pascal":
            return "".join(x.capitalize() for x in ws)
        if style == "kebab":
            return "-".join(ws)
        if style == "dot" and len(ws) > 1:
            return ws[-1] + "." + "_".join(ws[:-1])
        return "_".join(ws)

    def style_tool(self):
        k = self.rng.random()
        return "snake" if k < 0.62 else "camel" if k < 0.8 else "kebab" if k < 0.87 else "dot" if k < 0.95 else "pascal"

    def tool_style(self):
        """Style shared by all tools of one conversation."""
        k = self.rng.random()
        return {
            "name": self.style_tool(),
            "pname": "camel" if self.chance(0.15) else "snake",
            "pdesc": 1.0 if k < 0.45 else 0.0 if k < 0.65 else 0.6,
            "desc": 1.0 if self.chance(0.93) else 0.7,
            "title": self.chance(0.1),
            "addl": self.chance(0.12),
            "strict": self.chance(0.04),
            "doc": self.chance(0.07),
            "tails": self.chance(0.15),
            "korder": self.pick([0, 0, 1, 1, 5, 5, 6, 6, 7, 8, 9]) if self.chance(0.94) else self.between(2, 4),
            "default": self.chance(0.15),
            "anyof": self.chance(0.08),
            "wrap": self.chance(0.97),
            "prefix": self.pick(
                [
                    "mcp__" + self.word() + "__",
                    self.word() + "_",
                    self.word() + ".",
                    self.word() + "/",
                    self.word() + "__",
                ]
            )
            if self.chance(0.05)
            else "",
        }

    def param_schema(self, p, st, jt, desc, enum):
        s = {}
        if jt == "array":
            s["type"] = "array"
            s["items"] = {"type": ("integer" if p.arg == "integer" else "number") if p.kind == "nums" else "string"}
        elif jt == "object":
            s["type"] = "object"
            s["properties"] = {n: {"type": self.json_type(k, None)} for n, k in p.arg}
            if self.chance(0.6):
                s["required"] = [n for n, _ in p.arg]
        else:
            s["type"] = jt
        if enum:
            s["enum"] = enum
        if not p.required and st["anyof"] and jt in ("string", "integer", "number") and not enum:
            t = s.pop("type")
            s["anyOf"] = [{"type": t}, {"type": "null"}]
            s["default"] = None
        if desc:
            if st["korder"] == 0:
                s = {"description": desc, **s}
            else:
                s["description"] = desc
        if st["title"]:
            t = " ".join(x.capitalize() for x in snake_words(p.key))
            s = {"title": t, **s} if st["korder"] % 2 else {**s, "title": t}
        if not p.required and st["default"] and "default" not in s:
            if enum:
                s["default"] = enum[0]
            elif jt == "integer":
                s["default"] = self.pick([0, 1, 10])
            elif jt == "boolean":
                s["default"] = False
        return s

    def json_type(self, kind, arg):
        if kind == "num" and arg == "integer":
            return "integer"
        return JSON_TYPES.get(kind, "string")

    def build(self, name, desc, params, st):
        """params: list of Param with final .key as public name. Sets tool.schema."""
        props, req = {}, []
        for p in params:
            jt = self.json_type(p.kind, p.arg)
            enum = [v for v, _ in p.arg] if p.kind == "enum" else None
            d = self.pick(p.descs) if p.descs and self.chance(st["pdesc"]) else None
            if d and enum and self.chance(0.15):
                d += ": " + ", ".join(enum)
            props[p.key] = self.param_schema(p, st, jt, d, enum)
            if p.required:
                req.append(p.key)
        par = {"type": "object", "properties": props}
        if req or self.chance(0.5):
            if st["korder"] == 1:
                par = {"type": "object", "required": req, "properties": props}
            else:
                par["required"] = req
        if st["addl"]:
            par["additionalProperties"] = False
        if st["title"]:
            par["title"] = name + "Arguments"
        if not params and self.chance(0.15):
            par = {"type": "object", "properties": {}}
        f = {"name": name}
        if desc or self.chance(0.7):
            f["description"] = desc or ""
        f["parameters"] = par
        if st["korder"] == 2:
            f = {k: f[k] for k in ("description", "name", "parameters") if k in f}
        elif st["korder"] == 3:
            f = {k: f[k] for k in ("name", "parameters", "description") if k in f}
        if st["strict"]:
            f["strict"] = True
        return {"type": "function", "function": f} if st["korder"] != 4 else {"function": f, "type": "function"}

    def finish_desc(self, d, params, st):
        if st["tails"] and self.chance(0.7):
            d = d.rstrip(".") + "." + self.pick(TAILS)
            if self.chance(0.2):
                d += self.pick(TAILS)
        elif self.chance(0.35):
            d = d.rstrip(".") + "."
        if st["doc"] and params:
            d = (
                d.rstrip(".")
                + ".\n\nArgs:\n"
                + "\n".join(
                    "    {}: {}".format(p.key, self.pick(p.descs) if p.descs else "The " + " ".join(snake_words(p.key)))
                    for p in params
                )
            )
            if self.chance(0.5):
                d += "\n\nReturns:\n    The " + self.pick(["result", "value", "status", "response"]) + "."
        return d

    def fix_kind(self, p):
        """Pick integer/number variants."""
        if p.kind in ("num", "nums"):
            return "integer" if self.chance(0.4) else None
        return p.arg
