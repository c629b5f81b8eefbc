"""window: a sliding window with notes. The task and the newest messages stay; what lies
between gives way to one message of notes, which live on as a record. It calls no model."""
from tureen_plugin import Input, Node, Plugin, Proposal, Record, newest, replace

plugin = Plugin("window", "1.0.0", capabilities=["session.read", "records.write"], config_schema={
    "type": "object", "additionalProperties": False, "properties": {
        "keep": {"type": "number", "minimum": 0, "maximum": 0.9, "description": "share of the line for the newest messages; default 0.5"},
        "notes": {"type": "integer", "minimum": 500, "description": "characters of notes at most; default a quarter of the line"},
        "lines": {"type": "array", "items": {"type": "string", "minLength": 1}, "description": "lines of results that begin so are noted too"}}})
INTRO = "Earlier messages were taken out to make room. These notes are what is left of them, oldest first.\n"
SAID = {"owner": "Asked: ", "steer": "Asked: ", "plugin": "Told: ", "host": "Told: "}


@plugin.propose
async def propose(ask: Input) -> Proposal | None:
    line = ask.budget.reset_at or ask.measured or 8000
    task = next((i for i, n in enumerate(ask.nodes) if n.source == "owner"), 0)
    going = ask.nodes[task + 1:max(task + 1, newest(ask.nodes, int(line * plugin.config.get("keep", 0.5))))]
    if all(n.source == "checkpoint" for n in going):
        return None  # nothing but notes would leave
    found = {r.key: r.data for r in await ask.session.records("notes")}.get("", [])
    notes = shorten(found + await write(ask, going), plugin.config.get("notes", line * 3 // 4))
    text = INTRO + "\n".join(notes)
    if len(text) // 3 >= sum(n.tokens for n in going):
        return None  # the notes would be longer than what they stand for
    return Proposal([replace(going[0], going[-1], text)], records=[Record("notes", notes)])


async def write(ask: Input, nodes: list[Node]) -> list[str]:
    """A note for each message that leaves: what was said, or what a tool was called for and began with."""
    events, notes, titles = await ask.session.read(nodes), [], {}
    for node in nodes:
        text = events[node.seq].text.strip()
        titles.update({c["id"]: f"{c['name']} {c['arguments'][:200]}" for c in events[node.seq].calls})
        if node.role == "tool":
            lines = [x for x in text.splitlines() if x.split(": ", 1)[-1].startswith(tuple(plugin.config.get("lines", ["Finding:"])))]
            notes.append(f"=== {titles.get(node.call_id, 'tool')} ===\n" + "\n".join(lines or [text[:200]]))
        elif node.source in SAID:
            notes.append(SAID[node.source] + text)
    return notes


def shorten(notes: list[str], limit: int) -> list[str]:
    """The newest notes that fit, and everything that was asked."""
    kept = [i for i in range(len(notes)) if notes[i].startswith("Asked: ") or sum(map(len, notes[i:])) <= limit]
    return [notes[i] for i in kept]


plugin.serve()
