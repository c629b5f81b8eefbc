"""lab: a plugin that does what tests ask of it, bad things too."""
import asyncio
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time

from tureen_plugin import Call, Error, Failure, Input, Mark, Opening, Plugin, Proposal, Record, Result, Section, Session, drop, replace, trim

print("a banner at import")
os.write(1, b"past Python's back\n")
plugin = Plugin("lab", "1.0.0", ["session.read", "session.steer", "model.generate", "records.write"], {
    "type": "object", "additionalProperties": False, "properties": {"start": {"type": "string"}}})
heard = []


@plugin.started
def started():
    if plugin.config.get("start") == "refuse":
        raise Error("the licence is out of date; renew it", "LICENCE")


@plugin.opened
def opened(session: Session):
    heard.append(f"opened {session.id} in {session.workspace}")


@plugin.closed
async def closed(session: Session):
    heard.append(f"closed {session.id}")


@plugin.tool("says what it is told", parallel=True, guidance="Say it once.")
async def echo(call: Call, text: str, times: int = 1) -> str:
    return text * times


@plugin.tool("tells what it is")
def about(call: Call) -> str:
    return json.dumps({"pid": os.getpid(), "env": dict(os.environ), "heard": heard, "secrets": plugin.secrets, "room": call.room,
                       "files": call.files, "offline": call.offline, "granted": plugin.granted})


@plugin.tool("prints a lot")
def noise(call: Call) -> str:
    print("x" * (1 << 20))
    os.write(1, b"raw \xff\xfe\n1|1|unix|/tmp/else|grpc\n")
    subprocess.run(["/bin/sh", "-c", "echo from a child; echo on stderr >&2"], check=True)
    for n in range(20_000):
        print("flood", n, file=sys.stdout if n % 2 else sys.stderr)
    return "quiet again"


@plugin.tool("goes on step by step", parallel=True)
def steps(call: Call, wait: bool = False) -> str:
    for n in range(5):
        call.progress(f"step {n}")
    return "all five"


@plugin.tool("never answers", parallel=True)
async def hang(call: Call, trace: str) -> str:
    open(trace + ".begun", "w").close()
    try:
        await asyncio.sleep(3600)
    finally:
        open(trace + ".ended", "w").close()


@plugin.tool("never answers, in a thread", parallel=True)
def hang_thread(call: Call, trace: str) -> str:
    open(trace + ".begun", "w").close()
    while not call.cancelled:
        time.sleep(0.01)
    open(trace + ".ended", "w").close()


@plugin.tool("holds everything up")
async def block(call: Call, trace: str) -> str:
    open(trace + ".begun", "w").close()
    time.sleep(3600)


@plugin.tool("starts a child that outlives the call")
def child(call: Call) -> str:
    return str(subprocess.Popen(["sleep", "3600"]).pid)


@plugin.tool("ends the process")
def die(call: Call) -> str:
    os.kill(os.getpid(), signal.SIGKILL)


@plugin.tool("goes wrong")
async def fail(call: Call, how: str):
    match how:
        case "failure":
            raise Failure("there is no such page; name another", "NO_PAGE")
        case "error":
            raise Error("the disk is full; make room", "DISK", detail="for the log")
        case "exception":
            raise ValueError("half a pair: \ud800")
        case "too big":
            return Result("x", contexts=["y" * (4 << 20)])
        case "effects":
            return Result("done", effects=["conclude_turn"], contexts=["a fact"], code="OK")


@plugin.tool("asks the host", parallel=True)
async def ask(call: Call, what: str) -> str:
    s = call.session
    match what:
        case "events":
            found = [f"{e.seq} {e.kind} {len(e.text)}" async for e in s.events(kinds=["message.user", "message.assistant", "tool.result"])]
        case "reverse":
            found = [e.seq async for e in s.events(reverse=True, limit=3)]
        case "outline":
            revision, nodes = await s.outline()
            found = [revision, len(nodes), nodes[-1].seq]
        case "meter":
            found = dataclasses.asdict(await s.meter())
        case "generate":
            _, nodes = await s.outline()
            found = dataclasses.asdict(await s.generate("Sum it up.", edits=[replace(nodes[1], nodes[-1], "Not much.")], purpose="notes"))
        case "records":
            await s.put_record("colour", "red", "wall")
            await s.put_record("colour", {"is": ["blue"]}, "door")
            await s.put_record("colour", None, "wall")
            found = [dataclasses.asdict(r) for r in await s.records("colour")]
        case "steer":
            await s.steer("mind the gap", key="gap")
            found = "steered"
        case "elsewhere":
            found = await plugin.session("another").outline()
    return json.dumps(found)


@plugin.open
async def open_window(session: Session) -> Opening:
    return Opening([Section("lab", "The lab is open: {{room}}.", 5)], [Record("opened", {"by": "lab"})], [Mark("near", 900, "Soon.")])


@plugin.propose
async def propose(i: Input) -> Proposal | None:
    i.progress("thinking")
    if i.instructions == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if i.instructions == "fail":
        raise Error("no idea; ask again", "LOST")
    if i.instructions == "tell":
        fields = {f.name: getattr(i, f.name) for f in dataclasses.fields(i) if f.name not in ("session", "nodes", "progress", "budget")}
        return Proposal([drop(i.nodes[1], i.nodes[-2])], boot=json.dumps({**fields, "nodes": len(i.nodes), "last": i.nodes[-1].seq}))
    return Proposal([trim(i.nodes[3], 10, 5)], sections=[Section("lab", "Shut.")], records=[Record("n", 1)], steer=["Go on."])


plugin.serve()
