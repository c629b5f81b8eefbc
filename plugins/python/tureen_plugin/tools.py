"""The tools of a plugin: functions, with what the model is told of them."""
from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

from .host import Session
from .shapes import Result
from .wire import clean, make

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", dict: "object", list: "array"}


class Call:
    """One call of a tool. room is the tokens that the result may take before a compaction
    is due, -1 = unknown. files is what the call may change: full, workspace-write or
    read-only, with the writable directories besides; offline says whether other
    machines are out of reach. A tool keeps to it."""

    def __init__(self, id: str, session: Session, room: int, confinement, progress: Callable[[str], None]):
        self.id, self.session, self.room, self.progress = id, session, room, progress
        self.files, self.writable, self.offline = confinement.files or "full", list(confinement.writable), confinement.offline
        self.cancelled = False  # nobody waits for the answer: for functions that run in a thread


@dataclass(frozen=True)
class Tool:
    """A function and what is declared of it."""
    name: str
    description: str
    function: Callable
    schema: dict
    parallel: bool
    timeout: float
    no_spill: bool
    guidance: str
    guidance_order: int

    def spec(self):
        return make("ToolSpec", name=self.name, description=clean(self.description), schema=json.dumps(self.schema).encode(),
                    concurrency="CONCURRENCY_PARALLEL" if self.parallel else "CONCURRENCY_EXCLUSIVE",
                    timeout_ms=int(self.timeout * 1000), no_spill=self.no_spill, guidance=clean(self.guidance), guidance_order=self.guidance_order)


def schema_of(function: Callable) -> dict:
    """The JSON Schema of a tool's arguments, out of the parameters behind the first, which
    is the Call: str, int, float, bool, dict, list or list[T], required unless they have a
    default, described by Annotated[T, "what it is"]."""
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters:
        raise TypeError(f"{function.__name__} takes no Call: its first parameter is one")
    properties, required = {}, []
    for p in parameters[1:]:
        properties[p.name] = _schema(hints.get(p.name, str), f"{function.__name__}: {p.name}")
        if p.default is p.empty:
            required.append(p.name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _schema(hint: Any, where: str) -> dict:
    if typing.get_origin(hint) is Annotated:
        inner, *notes = typing.get_args(hint)
        return {**_schema(inner, where), "description": " ".join(n for n in notes if isinstance(n, str))}
    origin = typing.get_origin(hint) or hint
    if origin not in _TYPES:
        raise TypeError(f"{where}: no schema is known for {hint}: use {', '.join(t.__name__ for t in _TYPES)}, or hand a schema over")
    if origin is list and typing.get_args(hint):
        return {"type": "array", "items": _schema(typing.get_args(hint)[0], where)}
    return {"type": _TYPES[origin]}


def result_to(r: Result | str | None, text: str | None = None):
    """The wire's result, with another text where one is named."""
    r = r if isinstance(r, Result) else Result(str(r) if r is not None else "")
    return make("ToolResult", text=clean(r.text) if text is None else text, is_error=r.is_error, code=r.code, effects=["EFFECT_" + e.upper() for e in r.effects],
                note=clean(r.note), contexts=[clean(c) for c in r.contexts], left_out=r.left_out)
