#!/usr/bin/python3
"""headlines: a Tureen compaction strategy in one file, without an SDK.

When the context runs low it puts one message in the place of everything but the
system prompt and the recent messages: what the owner asked, word for word, and
the first lines of what each tool returned. Lines that begin with a prefix of
`keep` always stay. It calls no model.

It needs what wordcount.py needs; "the wire" is the same in both.
"""
import json
import os
import re
import sys
import threading
from concurrent import futures

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"  # before the import
import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

# ------------------------------------------------------------------ the wire

PACKAGE = "tureen.plugin.v1."
DESCRIPTORS = os.environ.get("TUREEN_PROTO") or os.path.join(
    os.path.dirname(os.path.realpath(__file__)), "../../../proto/tureen/plugin/v1/plugin.binpb")
POOL = descriptor_pool.DescriptorPool()
END = threading.Event()  # set when nobody needs this process any more


def message(name):
    """The class of a protocol message."""
    descriptor = POOL.FindMessageTypeByName(PACKAGE + name)
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(POOL).GetPrototype(descriptor)


def service(name, methods):
    """A gRPC service out of functions; a method that is missing is UNIMPLEMENTED."""
    handlers = {}
    for rpc in POOL.FindServiceByName(PACKAGE + name).methods:
        kind = grpc.unary_stream_rpc_method_handler if rpc.server_streaming else grpc.unary_unary_rpc_method_handler
        if rpc.name in methods:
            handlers[rpc.name] = kind(methods[rpc.name], message(rpc.input_type.name).FromString,
                                      message(rpc.output_type.name).SerializeToString)
    return grpc.method_handlers_generic_handler(PACKAGE + name, handlers)


def shutdown(request, context):
    context.add_callback(END.set)  # answer first, then end
    return b""


def attach(address, token):
    """Opens the life line to the host; the process ends when it does."""
    channel = grpc.insecure_channel("unix:" + address, options=[("grpc.default_authority", "localhost")])
    line = channel.unary_stream("/" + PACKAGE + "Control/Attach", message("AttachRequest").SerializeToString,
                                message("Notice").FromString)
    notices = line(message("AttachRequest")(), metadata=[("authorization", "Bearer " + token)])
    next(notices)  # the host's hello

    def follow():
        try:
            for _ in notices:
                pass
        except grpc.RpcError:
            pass
        END.set()
    threading.Thread(target=follow, daemon=True).start()
    return channel


def serve(services):
    """Serves until the host lets go; the handshake line is all that stdout ever gets."""
    if os.environ.get("TUREEN_PLUGIN") != "tureen-plugin-1":
        sys.exit(f"{sys.argv[0]} is a Tureen plugin: name it in a profile, or try it with tureen plugin inspect")
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=40))
    plain = grpc.unary_unary_rpc_method_handler
    server.add_generic_rpc_handlers([service(name, methods) for name, methods in services.items()] + [
        grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": plain(lambda r, c: b"\x08\x01")}),
        grpc.method_handlers_generic_handler("plugin.GRPCController", {"Shutdown": plain(shutdown)})])
    path = os.path.join(os.environ["PLUGIN_UNIX_SOCKET_DIR"], "plugin.sock")
    server.add_insecure_port("unix:" + path)
    server.start()
    print(f"1|1|unix|{path}|grpc", flush=True)
    threading.Thread(target=lambda: (sys.stdin.buffer.read(), END.set()), daemon=True).start()
    END.wait()
    server.stop(0.2).wait(1)
    os._exit(0)  # whatever a thread may still be doing


with open(DESCRIPTORS, "rb") as f:
    for file in descriptor_pb2.FileDescriptorSet.FromString(f.read()).file:
        POOL.Add(file)

# -------------------------------------------------------------- the strategy

CONFIG_SCHEMA = {"type": "object", "additionalProperties": False, "properties": {
    "keep": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "lines of results that begin so always stay"},
    "head_chars": {"type": "integer", "minimum": 0, "description": "of each result that stay besides"},
    "tail_tokens": {"type": "integer", "minimum": 0, "description": "of recent messages left alone; default a quarter of the line"}}}
INTRO = "The earlier messages were taken out to make room. This is what was asked and how the results of the tools began."
FIRST = "--- first lines ---"
NUMBERED = re.compile(r"^\s*\d+[:|\t]\s?")  # as tools that read files print their lines
config = {"keep": ["Finding:"], "head_chars": 1200}
host = {}


def get_info(request, context):
    return message("GetInfoResponse")(
        name="headlines", version="1.0.0", sdk="none, Python " + sys.version.split()[0], roles=["ROLE_STRATEGY"],
        capabilities=["session.read"], config_schema=json.dumps(CONFIG_SCHEMA).encode())


def initialize(request, context):
    config.update(json.loads(request.config or b"{}"))
    host.update(channel=attach(request.host_address, request.token), token=request.token)
    return message("InitializeResponse")()


def ask(method, request, answer, invocation):
    """One call to the host on behalf of the request under way."""
    rpc = host["channel"].unary_unary("/" + PACKAGE + method, type(request).SerializeToString, message(answer).FromString)
    return rpc(request, metadata=[("authorization", "Bearer " + host["token"]), ("tureen-invocation", invocation)])


def propose(request, context):
    session, call = request.context.session, request.context.invocation_id
    nodes, page = list(request.outline), request.outline_next
    while page:
        more = ask("Session/ReadOutline", message("ReadOutlineRequest")(session=session, revision=request.revision, page=page),
                   "ReadOutlineResponse", call)
        nodes, page = nodes + list(more.nodes), more.next_page
    proposal = message("Proposal")(revision=request.revision, kind="PROPOSAL_KIND_SUMMARY")
    dropped = nodes[1:tail_begins(nodes, config.get("tail_tokens", request.budget.reset_at // 4 or 8000))]
    if any(n.source != "checkpoint" for n in dropped):
        text = render(collect(dropped, events(session, dropped, call)), request.budget.reset_at * 3 // 4 or 24_000)
        if estimate(text) < sum(n.tokens for n in dropped):  # else the host would refuse it
            replace = proposal.edits.add().replace
            replace.span.CopyFrom(message("Span")(**{"from": dropped[0].seq, "to": dropped[-1].seq}))
            replace.messages.add(role="user", text=text)
    yield message("ProposeResponse")(proposal=proposal)


def estimate(text):
    """Tokens, as the host counts: three characters of ASCII are one, any other is one."""
    plain = sum(c.isascii() for c in text)
    return (plain + 2) // 3 + len(text) - plain + 8


def tail_begins(nodes, tokens):
    """The index from which nodes stay: at most that many tokens, no result without its call."""
    cut = len(nodes)
    while cut > 1 and nodes[cut - 1].tokens <= tokens:
        cut -= 1
        tokens -= nodes[cut].tokens
    while cut < len(nodes) and nodes[cut].role == "tool":
        cut += 1
    return cut


def events(session, nodes, call):
    """The payloads of the nodes by seq, read page by page; an event over a page comes in parts."""
    wanted, found = {n.seq for n in nodes}, {}
    page_of = message("ReadEventsRequest")(session=session, after_seq=min(wanted) - 1, before_seq=max(wanted) + 1)
    while True:
        page = ask("Session/ReadEvents", page_of, "ReadEventsResponse", call)
        for event in (e for e in page.events if e.seq in wanted):
            data = event.json
            while len(data) < page.oversize.get(event.seq, 0):
                data += ask("Session/ReadPart", message("ReadPartRequest")(session=session, seq=event.seq, offset=len(data)),
                            "ReadPartResponse", call).data
            found[event.seq] = json.loads(data)["message"]
        if not page.more:
            return found
        page_of.after_seq = page.events[-1].seq


def collect(nodes, messages):
    """(title, lines kept) -> first lines, in order: what was asked, and how each result began."""
    sections, titles = {}, {}
    for node in nodes:
        blocks = messages[node.seq].get("blocks", [])
        text = "".join(b.get("text", "") for b in blocks if b["kind"] == "text")
        for call in (b["call"] for b in blocks if b["kind"] == "tool_call"):
            titles[call["id"]] = f"{call['name']} {call['arguments'][:200]}".replace("\n", " ")
        if node.source == "checkpoint":  # an earlier message of ours
            for title, body in re.findall(r"^=== (.+) ===\n((?:(?!===).*\n?)*)", text, re.MULTILINE):
                kept, _, first = body.partition(FIRST)
                sections[title, tuple(kept.strip("\n").split("\n"))] = first.strip("\n").split("\n")
        elif node.source in ("owner", "steer"):
            sections["asked", tuple(text.strip("\n").split("\n"))] = []
        elif node.role == "tool":
            lines = [NUMBERED.sub("", line) for line in text.split("\n")]
            kept = tuple(line for line in lines if line.startswith(tuple(config["keep"]))) or ("",)
            sections[titles.get(node.call_id, "tool"), kept] = text[:config["head_chars"]].split("\n")
    return sections


def render(sections, limit):
    """The message; while it is too long the oldest first lines go, then the oldest results."""
    sections = [[title, kept, first] for (title, kept), first in sections.items()]
    while True:
        text = INTRO
        for title, kept, first in sections:
            lines = [*kept, *([FIRST, *first] if any(first) else [])]
            text += f"\n=== {title} ===\n" + "\n".join(" " + x if x.startswith("===") else x for x in lines)
        longest = next((s for s in sections if any(s[2])), None)
        oldest = next((s for s in sections if s[0] != "asked"), None)
        if len(text) <= limit or not (longest or oldest):
            return text[:limit]
        if longest:
            longest[2] = []
        else:
            sections.remove(oldest)


if __name__ == "__main__":
    serve({
        "Base": {"GetInfo": get_info, "Initialize": initialize,
                 "OpenSession": lambda r, c: message("OpenSessionResponse")(),
                 "CloseSession": lambda r, c: message("CloseSessionResponse")(),
                 "Drain": lambda r, c: message("DrainResponse")()},
        "Strategy": {"Open": lambda r, c: message("OpenResponse")(), "Propose": propose},
    })
