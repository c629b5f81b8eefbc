#!/usr/bin/python3
"""wordcount: a Tureen tools plugin in one file, without an SDK.

It needs Debian's python3-grpcio and python3-protobuf (or grpcio and protobuf
from pip) and the descriptor set of the protocol, found beside the repository or
through TUREEN_PROTO. The wire contract is proto/README.md; "the wire" below is
all of it that a plugin needs, "the tool" is what this one does.
"""
import json
import os
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

# ------------------------------------------------------------------ the tool

CONFIG_SCHEMA = {
    "type": "object", "additionalProperties": False,
    "properties": {"min_length": {"type": "integer", "minimum": 1, "description": "shorter words do not count"}},
}
ARGUMENTS = {
    "type": "object", "additionalProperties": False, "required": ["path"],
    "properties": {"path": {"type": "string", "description": "the file, relative to the working directory"}},
}
config = {}
workspaces = {}  # session id -> working directory


def get_info(request, context):
    return message("GetInfoResponse")(
        name="wordcount", version="1.0.0", sdk="none, Python " + sys.version.split()[0],
        roles=["ROLE_TOOLS"], config_schema=json.dumps(CONFIG_SCHEMA).encode())


def initialize(request, context):
    config.update(json.loads(request.config or b"{}"))
    attach(request.host_address, request.token)
    return message("InitializeResponse")()


def open_session(request, context):
    workspaces[request.session.id] = request.session.workspace
    return message("OpenSessionResponse")()


def close_session(request, context):
    workspaces.pop(request.session, None)
    return message("CloseSessionResponse")()


def list_tools(request, context):
    return message("ListToolsResponse")(tools=[message("ToolSpec")(
        name="word_count", description="Counts the lines, words and characters of a text file.",
        schema=json.dumps(ARGUMENTS).encode(), concurrency="CONCURRENCY_PARALLEL", timeout_ms=30_000)])


def call_tool(request, context):
    """Yields one terminal message; what the model can put right is a result."""
    try:
        text = count(workspaces[request.context.session], json.loads(request.arguments)["path"])
        result = message("ToolResult")(text=text)
    except (OSError, ValueError) as error:
        result = message("ToolResult")(text=f"Error: {error}", is_error=True, code="UNREADABLE")
    yield message("CallToolResponse")(result=result)


def count(workspace, path):
    root = os.path.realpath(workspace)
    full = os.path.realpath(os.path.join(root, path))
    if os.path.commonpath([root, full]) != root:
        raise ValueError(f"{path} is outside of the working directory")
    with open(full, encoding="utf-8") as f:
        text = f.read()
    words = [w for w in text.split() if len(w) >= config.get("min_length", 1)]
    return f"{path}: {len(text.splitlines())} lines, {len(words)} words, {len(text)} characters"


if __name__ == "__main__":
    serve({
        "Base": {"GetInfo": get_info, "Initialize": initialize, "OpenSession": open_session,
                 "CloseSession": close_session, "Drain": lambda r, c: message("DrainResponse")()},
        "Tools": {"ListTools": list_tools, "CallTool": call_tool},
    })
