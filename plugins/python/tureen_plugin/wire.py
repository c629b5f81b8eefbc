"""The messages and services of the protocol, made at run time out of plugin.binpb."""
from __future__ import annotations

import os
from pathlib import Path

os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"  # before the import of gRPC
import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

PACKAGE = "tureen.plugin.v1."
MAX_MESSAGE = 4 << 20  # bytes that either side takes in one message
SEND_LIMIT = 3584 << 10  # and that we send, so that the error is a readable one
PIECE = 1 << 20  # of a long text in one message

_pool = descriptor_pool.DescriptorPool()
for _file in descriptor_pb2.FileDescriptorSet.FromString(Path(__file__).with_name("plugin.binpb").read_bytes()).file:
    _pool.Add(_file)
_classes: dict[str, type] = {}


def message(name: str) -> type:
    """The class of a protocol message."""
    if name not in _classes:
        descriptor = _pool.FindMessageTypeByName(PACKAGE + name)
        if hasattr(message_factory, "GetMessageClass"):
            _classes[name] = message_factory.GetMessageClass(descriptor)
        else:  # protobuf before 4.22
            _classes[name] = message_factory.MessageFactory(_pool).GetPrototype(descriptor)
    return _classes[name]


def make(name: str, /, **fields):
    """A protocol message with these fields; those that are None stay unset."""
    return message(name)(**{key: value for key, value in fields.items() if value is not None})


def method(path: str):
    """The descriptor of a call, such as "Session/ReadEvents"."""
    service, name = path.split("/")
    return _pool.FindServiceByName(PACKAGE + service).methods_by_name[name]


def trigger(number: int) -> str:
    """The trigger in small letters, "unspecified" for one that we do not know."""
    known = _pool.FindEnumTypeByName(PACKAGE + "Trigger").values_by_number
    return known[number if number in known else 0].name.removeprefix("TRIGGER_").lower()


def handler(service: str, calls: dict):
    """A gRPC service out of coroutine functions; the calls that are missing are UNIMPLEMENTED."""
    handlers = {}
    for name, call in calls.items():
        rpc = method(f"{service}/{name}")
        kind = grpc.unary_stream_rpc_method_handler if rpc.server_streaming else grpc.unary_unary_rpc_method_handler
        handlers[name] = kind(call, message(rpc.input_type.name).FromString, message(rpc.output_type.name).SerializeToString)
    return grpc.method_handlers_generic_handler(PACKAGE + service, handlers)


def clean(text: str) -> str:
    """The text as the wire can carry it: half of a surrogate pair becomes "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def pieces(text: str):
    """Yields a text in pieces of whole characters, each at most PIECE bytes."""
    data = text.encode("utf-8")
    start = 0
    while start < len(data):
        end = min(start + PIECE, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:
            end -= 1
        yield data[start:end].decode("utf-8")
        start = end
