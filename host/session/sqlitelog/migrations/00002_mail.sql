-- +goose Up
-- Commands that other processes leave for the owner. An id is never given twice,
-- so that a batch cannot take another mail than the one that was read.
CREATE TABLE mail (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    time    INTEGER NOT NULL, -- nanoseconds since 1970
    command TEXT    NOT NULL,
    text    TEXT    NOT NULL,
    sender  TEXT    NOT NULL
) STRICT;

PRAGMA user_version = 2;
