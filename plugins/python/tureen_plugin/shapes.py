"""What authors read and write. Each shape is a message of the protocol in Python's words."""
from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .wire import clean, make

if TYPE_CHECKING:
    from .host import Session


class Error(Exception):
    """A failure as it crosses the wire, in both directions: what an author raises
    reaches the user as code and message; what a call to the host raises has as its
    code that of the host, such as PERMISSION_DENIED, NOT_FOUND, CONFLICT (the log has
    moved on: read again), CANCELLED, TOO_BIG or that of the model's request."""

    def __init__(self, message: str, code: str = "FAILED", detail: str = "", retryable: bool = False, field: str = ""):
        super().__init__(message)
        self.message, self.code, self.detail, self.retryable, self.field = message, code, detail, retryable, field


class Failure(Exception):
    """Raised in a tool: a failure that the model may put right. It becomes a result
    that begins with "Error: "; the code is for the log."""

    def __init__(self, message: str, code: str = ""):
        super().__init__(message)
        self.message, self.code = message, code


@dataclass(frozen=True)
class Budget:
    """The host's line in tokens; window 0 = unknown, and then the others are 0."""
    window: int = 0
    max_output_tokens: int = 0
    reset_at: int = 0  # in use, from which a compaction is due: the line
    reserve: int = 0  # window - reset_at
    warning: int = 0  # left of the window when a close-out is due
    reminder: int = 0  # and when a first reminder is
    source: str = ""  # profile | probed | unknown


@dataclass(frozen=True)
class Node:
    """One message of the surface, without its text. seq is its name."""
    seq: int
    kind: str = ""
    role: str = "user"  # system | user | assistant | tool
    source: str = ""  # of a user message: owner, steer, host, plugin, runtime-context, checkpoint
    tokens: int = 0
    call_ids: tuple[str, ...] = ()  # an assistant's calls
    call_id: str = ""  # the call that a result answers
    chars: int = 0  # code points of the text
    author: str = ""  # of a user message: the plugin behind it


@dataclass(frozen=True)
class Event:
    """One entry of the log. data is its payload; pass over kinds and keys that you do not know."""
    seq: int
    kind: str
    turn: int = 0
    step: int = 0
    time: float = 0.0  # seconds since 1970
    data: Any = None
    op: Any = None  # what it does to the surface, None = nothing

    @property
    def blocks(self) -> list[dict]:
        message = self.data.get("message") if isinstance(self.data, dict) else None
        return (message or {}).get("blocks") or []

    @property
    def text(self) -> str:
        """The text of its message, "" where there is none."""
        return "".join(b.get("text", "") for b in self.blocks if b.get("kind") == "text")

    @property
    def calls(self) -> list[dict]:
        """The tool calls of its message: id, name, and arguments as the model wrote them."""
        return [b["call"] for b in self.blocks if b.get("kind") == "tool_call"]


@dataclass(frozen=True)
class Meter:
    """How full the window is; ordinal counts the windows, compactions those applied."""
    window: int
    measured: int
    source: str  # usage | estimate
    reset_at: int
    reserve: int
    fixed: int
    ordinal: int
    compactions: int


@dataclass(frozen=True)
class Answer:
    """What the model said to a call of generate."""
    text: str
    stop: str  # stop | tool_calls | max_tokens
    input: int
    output: int


@dataclass
class Section:
    """A part of the system prompt, as it stands; frozen until the next compaction."""
    id: str
    text: str
    order: int = 0


@dataclass
class Mark:
    """A text that is steered once a window, when at most remaining tokens of it are left."""
    id: str
    remaining: int
    text: str


@dataclass
class Record:
    """An entry of the plugin's own in the log; the newest of a kind and key holds, and data None takes it away."""
    kind: str
    data: Any
    key: str = ""


@dataclass
class Opening:
    """What a strategy shows from the start of a window."""
    sections: list[Section] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


@dataclass(frozen=True)
class Input:
    """One question to a strategy. nodes is the whole surface, node 0 (the system prompt)
    first; measured is the tokens in use. Take chance from seed and time from time, and a
    run can be repeated. progress(text) says what is going on; each says that it goes on."""
    session: Session
    revision: int
    trigger: str  # pressure | stopping | requested | overflow | manual
    attempt: int  # from 1 within a step
    budget: Budget
    measured: int
    source: str  # usage | estimate
    turn_open: bool  # the agent goes on after the compaction
    may_postpone: bool  # a Proposal that postpones is taken
    instructions: str  # a person's, with manual
    note: str  # the agent's, with requested
    seed: int
    time: float  # seconds since 1970
    nodes: list[Node]
    progress: Callable[[str], None]


@dataclass
class Proposal:
    """What a strategy would do. The host applies all of it in one append, or nothing.
    kind is trim (only trims), summary, or reset (one replace of everything behind node 0);
    "" finds out between the first two. sections and marks, where not None, replace all
    of those before. postpone, without edits, puts the compaction off by one step, which
    is shown steer."""
    edits: list[Any] = field(default_factory=list)
    kind: str = ""
    sections: list[Section] | None = None
    marks: list[Mark] | None = None
    records: list[Record] = field(default_factory=list)
    steer: list[str] = field(default_factory=list)
    continue_turn: bool = False
    boot: str = ""
    postpone: bool = False


@dataclass
class Result:
    """What a tool answers. contexts are messages behind the results in the next request;
    effects are request_compaction, conclude_turn, change_directory or report, with their note."""
    text: str
    is_error: bool = False
    code: str = ""
    effects: list[str] = field(default_factory=list)
    note: str = ""
    contexts: list[str] = field(default_factory=list)
    left_out: int = 0


def replace(first: Node, last: Node, *texts: str):
    """An edit that puts user messages in place of the nodes from first to last."""
    said = [make("Message", role="user", text=clean(t).replace("\0", "\uFFFD")) for t in texts]
    return make("Edit", replace=make("Replace", span=_span(first, last), messages=said))


def drop(first: Node, last: Node):
    """An edit that takes the nodes from first to last off the surface."""
    return make("Edit", drop=_span(first, last))


def trim(node: Node, head: int, tail: int):
    """An edit that keeps that many code points at the start and end of a tool result."""
    return make("Edit", trim=make("Trim", node=node.seq, head=head, tail=tail))


def _span(first: Node, last: Node):
    return make("Span", **{"from": first.seq, "to": last.seq})


def boundaries(nodes: list[Node]) -> list[bool]:
    """For each place before nodes[i], and for the end: may the surface be cut there, with
    no call on one side whose result is on the other or missing?"""
    open_calls: set[str] = set()
    balanced = [True]
    for node in nodes:
        open_calls.update(node.call_ids)
        open_calls.discard(node.call_id)
        balanced.append(not open_calls)
    return balanced


def newest(nodes: list[Node], tokens: int) -> int:
    """The index from which nodes stay so that they hold at most that many tokens, cut
    where no call is parted from its result; len(nodes) where not even the last fits. Where
    a call at the end has no result yet the cut stands before it, whatever it holds."""
    balanced = boundaries(nodes)
    cut, held, fits = len(nodes), 0, len(nodes)
    while cut > 1 and held + nodes[cut - 1].tokens <= tokens:
        cut -= 1
        held += nodes[cut].tokens
        if balanced[cut]:
            fits = cut
    while fits > 1 and not balanced[fits]:
        fits -= 1
    return fits


# ------------------------------------------------------------ from and to the wire


def node_from(n) -> Node:
    return Node(n.seq, n.kind, n.role, n.source, n.tokens, tuple(n.call_ids), n.call_id, n.chars, getattr(n, "from"))


def event_from(e, payload: bytes | None = None) -> Event:
    raw = e.json if payload is None else payload
    return Event(e.seq, e.kind, e.turn, e.step, e.time_unix_nano / 1e9, json.loads(raw) if raw else None,
                 json.loads(e.op_json) if e.op_json else None)


def budget_from(b) -> Budget:
    return Budget(b.window, b.max_output_tokens, b.reset_at, b.reserve, b.warning, b.reminder, b.source)


def record_to(r: Record):
    return make("Record", kind=r.kind, key=r.key, json=json.dumps(r.data).encode())


def section_to(s: Section):
    return make("Section", id=s.id, order=s.order, text=clean(s.text), raw=True)


def mark_to(m: Mark):
    return make("Mark", id=m.id, remaining=m.remaining, text=clean(m.text))


def opening_to(o: Opening):
    return make("OpenResponse", sections=[section_to(s) for s in o.sections], records=[record_to(r) for r in o.records],
                marks=[mark_to(m) for m in o.marks])


def proposal_to(p: Proposal, revision: int):
    kind = p.kind or ("trim" if p.edits and all(e.HasField("trim") for e in p.edits) else "summary")
    return make("Proposal", revision=revision, kind="PROPOSAL_KIND_" + kind.upper(), edits=p.edits,
                refresh=p.sections is not None or p.marks is not None,
                sections=[section_to(s) for s in p.sections or []], marks=[mark_to(m) for m in p.marks or []],
                records=[record_to(r) for r in p.records], steer=[clean(t) for t in p.steer],
                continue_turn=p.continue_turn, boot=clean(p.boot), postpone=p.postpone)


def error_to(e: Error):
    return make("PluginError", code=e.code, message=clean(e.message)[:32_000], detail=clean(e.detail)[-32_000:],
                retryable=e.retryable, field=e.field)


def error_from(e) -> Error:
    return Error(e.message or "failed with code " + e.code, e.code or "FAILED", e.detail, e.retryable, e.field)
