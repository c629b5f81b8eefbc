-- +goose Up
-- A CRC-32C of the other columns. NULL: the row was written before there were sums.
ALTER TABLE events ADD COLUMN crc INTEGER;
ALTER TABLE snapshot ADD COLUMN crc INTEGER; -- of head and data

-- By kind first: the newest event of a kind is found at once in a log of any length.
-- The kinds of an ordinary step stay out, as before.
DROP INDEX events_rare;
CREATE INDEX events_kind ON events (kind, seq) WHERE kind NOT IN
    ('step.started', 'step.ended', 'message.assistant', 'tool.started', 'tool.result');

PRAGMA user_version = 3;
