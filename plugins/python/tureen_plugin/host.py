"""The host's side: what a plugin may ask of the sessions that are open in it."""
from __future__ import annotations

import asyncio
import contextvars
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

from . import wire  # sets the environment of gRPC
import grpc
from .shapes import Answer, Budget, Error, Event, Meter, Node, budget_from, error_from, event_from, node_from, record_to, Record

# The request of the host under way in this task: calls to the host are charged to it and end with it.
invocation: contextvars.ContextVar[str] = contextvars.ContextVar("invocation", default="")

_CODES = {"ABORTED": "CONFLICT", "FAILED_PRECONDITION": "CONFLICT", "RESOURCE_EXHAUSTED": "TOO_BIG"}
_EMPTY_PART = "ReadPart: the host sent an empty part before the end"


class Host:
    """The connection to the host, with this process's token in every call."""

    def __init__(self, address: str, token: str):
        self._token = token
        self._channel = grpc.aio.insecure_channel("unix:" + address, options=[
            ("grpc.default_authority", "localhost"), ("grpc.max_receive_message_length", wire.MAX_MESSAGE)])

    async def attach(self) -> asyncio.Task:
        """Opens the life line and waits for the hello; the task ends when the host is gone."""
        line = self._call("Control/Attach", wire.make("AttachRequest"))
        if await line.read() is grpc.aio.EOF:
            raise Error("the host ended the life line at once")

        async def follow():
            try:
                while await line.read() is not grpc.aio.EOF:
                    pass
            except grpc.RpcError:
                pass
        return asyncio.create_task(follow())

    async def close(self):
        await self._channel.close(0)

    def _call(self, path: str, request):
        rpc = wire.method(path)
        if request.ByteSize() > wire.SEND_LIMIT:
            raise Error(f"the message of {rpc.name} has {request.ByteSize()} bytes; one holds at most {wire.SEND_LIMIT}: send less", "TOO_BIG")
        metadata = [("authorization", "Bearer " + self._token)]
        if invocation.get():
            metadata.append(("tureen-invocation", invocation.get()))
        kind = self._channel.unary_stream if rpc.server_streaming else self._channel.unary_unary
        return kind(f"/{wire.PACKAGE}{path}", wire.message(rpc.input_type.name).SerializeToString,
                    wire.message(rpc.output_type.name).FromString)(request, metadata=metadata)

    async def ask(self, path: str, **fields):
        """One call; what goes wrong is an Error."""
        try:
            return await self._call(path, wire.make(wire.method(path).input_type.name, **fields))
        except grpc.RpcError as e:
            raise _error(path, e) from None

    async def stream(self, path: str, **fields) -> AsyncIterator[Any]:
        call = self._call(path, wire.make(wire.method(path).input_type.name, **fields))
        try:
            async for answer in call:
                yield answer
        except grpc.RpcError as e:
            raise _error(path, e) from None
        finally:
            call.cancel()


def _error(path: str, e: grpc.RpcError) -> Error:
    code = e.code().name
    return Error(f"{path}: {e.details()}", _CODES.get(code, code))


class Session:
    """A session that is open in the plugin: what the host told of it, and what it lends.
    Each call names the capability that it takes; without the grant it raises an Error
    with the code PERMISSION_DENIED."""

    def __init__(self, host: Host, id: str):
        self._host, self.id = host, id
        self.workspace = self.directory = self.agent = self.provider = self.model = self.parent = ""
        self.depth, self.resumed, self.fixed_tokens, self.budget = 0, False, 0, Budget()

    def told(self, info) -> None:
        """Takes what the host says of the session."""
        for name in ("workspace", "directory", "agent", "provider", "model", "parent", "depth", "resumed", "fixed_tokens"):
            setattr(self, name, getattr(info, name))
        self.budget = budget_from(info.budget)

    async def events(self, after: int = 0, before: int = 0, kinds: Iterable[str] = (), limit: int = 0,
                     reverse: bool = False, text: str = "") -> AsyncIterator[Event]:
        """Yields the events between two seqs, read page by page; big ones come in parts. With a text, those of
        which it is known that they do not hold it may be left out; look at what comes. session.read"""
        left = limit
        while True:
            page = await self._host.ask("Session/ReadEvents", session=self.id, after_seq=after, before_seq=before,
                                        kinds=list(kinds), limit=left, reverse=reverse, text=text)
            for e in page.events:
                yield event_from(e, await self._payload(e.seq) if e.seq in page.oversize else None)
                after, before = (after, e.seq) if reverse else (e.seq, before)
            left -= len(page.events)
            if not page.more or not page.events or limit and left <= 0:
                return

    async def _payload(self, seq: int) -> bytes:
        data = bytearray()
        while True:
            part = await self._host.ask("Session/ReadPart", session=self.id, seq=seq, offset=len(data), max_bytes=2 << 20)
            data += part.data
            if len(data) >= part.total:
                return bytes(data)
            if not part.data:
                raise Error(_EMPTY_PART, "PROTOCOL")

    async def read(self, nodes: Iterable[Node]) -> dict[int, Event]:
        """The events behind the nodes, by seq. session.read"""
        wanted = {n.seq: n.kind for n in nodes}
        if not wanted:
            return {}
        kinds = set() if "" in wanted.values() else set(wanted.values())
        return {e.seq: e async for e in self.events(min(wanted) - 1, max(wanted) + 1, kinds) if e.seq in wanted}

    async def outline(self, revision: int = 0, page: str = "") -> tuple[int, list[Node]]:
        """The revision and the nodes of the surface, node 0 first; from a page on, where one is
        named. An Error CONFLICT says that the log has moved on. session.read"""
        nodes: list[Node] = []
        while True:
            part = await self._host.ask("Session/ReadOutline", session=self.id, revision=revision, page=page)
            nodes += [node_from(n) for n in part.nodes]
            revision, page = part.revision, part.next_page
            if not page:
                return revision, nodes

    async def meter(self) -> Meter:
        """How full the window is now. session.read"""
        m = await self._host.ask("Session/GetMeter", session=self.id)
        return Meter(m.window, m.measured, m.source, m.reset_at, m.reserve, m.fixed, m.ordinal, m.compactions)

    async def generate(self, *texts: str, until: int = 0, edits: Iterable[Any] = (), model: str = "", effort: str = "",
                       max_output_tokens: int = 0, purpose: str = "compaction") -> Answer:
        """Asks the session's model about its surface up to the node until (0 = all of it), as the
        edits leave it, with the texts as user messages behind it. A request that failed is an
        Error with the model's code. model.generate"""
        said = [wire.make("Message", role="user", text=wire.clean(t)) for t in texts]
        async for part in self._host.stream("Model/Generate", session=self.id, surface_until=until, append=said, model=model,
                                            effort=effort, max_output_tokens=max_output_tokens, purpose=purpose, edits=list(edits)):
            if part.HasField("error"):
                raise error_from(part.error)
            if part.HasField("answer"):
                a = part.answer
                return Answer(a.text, a.stop, a.usage.input + a.usage.cache_read + a.usage.cache_write, a.usage.output)
        raise Error("Generate ended without an answer", "PROTOCOL")

    async def records(self, kind: str = "") -> list[Record]:
        """The plugin's records that hold, oldest first. records.write; one that fits no message takes session.read too"""
        found: list[Record] = []
        after = 0
        while True:
            page = await self._host.ask("Records/ListRecords", session=self.id, kind=kind, after_seq=after)
            for e in page.records:
                r = json.loads(e.json or await self._payload(e.seq))
                found.append(Record(r["kind"], r.get("data"), r.get("key", "")))
                after = e.seq
            if not page.more or not page.records:
                return found

    async def put_record(self, kind: str, data: Any, key: str = "") -> None:
        """Writes a record; data None takes its key away. records.write"""
        await self._host.ask("Records/PutRecord", session=self.id, record=record_to(Record(kind, data, key)))

    async def steer(self, text: str, key: str = "", wake: bool = False, next_turn: bool = False) -> None:
        """Queues a message for the next step, or for the next turn. session.steer"""
        await self._host.ask("Session/Steer", session=self.id, text=wire.clean(text), key=key, wake=wake, next_turn=next_turn)
