-- +goose Up
CREATE TABLE events (
    seq      INTEGER PRIMARY KEY, -- from 1, without gaps
    v        INTEGER NOT NULL,    -- schema version of data
    time     INTEGER NOT NULL,    -- nanoseconds since 1970
    kind     TEXT    NOT NULL,
    turn     INTEGER NOT NULL,
    step     INTEGER NOT NULL,
    op       TEXT,                -- NULL: nothing happens to the surface
    op_from  INTEGER NOT NULL,
    op_to    INTEGER NOT NULL,
    op_after INTEGER NOT NULL,
    data     BLOB
) STRICT;

-- What is looked up by kind: turns, what users say, compactions, records and the
-- like. The kinds of an ordinary step stay out, so that a step does not write this
-- index.
CREATE INDEX events_rare ON events (seq, kind) WHERE kind NOT IN
    ('step.started', 'step.ended', 'message.assistant', 'tool.started', 'tool.result');

CREATE TABLE snapshot (
    id   INTEGER PRIMARY KEY CHECK (id = 1),
    head INTEGER NOT NULL,
    data BLOB    NOT NULL
) STRICT;

PRAGMA application_id = 1416973415; -- "TuLg"
PRAGMA user_version = 1;
