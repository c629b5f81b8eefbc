// Package sqlitelog keeps sessions in SQLite files, one file a session:
//
//	DIR/sessions/ID.db         the log and the mail (ID.db-wal and ID.db-shm while it is open)
//	DIR/sessions/ID.db.lock    there while a process owns the session; holds its name
//	DIR/sessions/ID.db.index   what its events say, where they were searched; rebuildable
//	DIR/catalogue-2.db         a row a session, for List; rebuildable
//	DIR/mail.bell              a byte for each mail that was ever left; may be removed
//
// So sessions never wait for each other, and damage, a copy or a removal concerns
// one of them. Files are 0600, directories 0700.
//
// Durability. An Append is one transaction with one sync of the write-ahead log
// (synchronous FULL): when it returns, its events survive a crash and a power
// cut; when it fails, none of them is there. A file system without shared memory
// makes SQLite keep a rollback journal instead, which holds the same promise; the
// owner then takes the mark of the write-ahead log from the file.
//
// Sums. Each event carries a CRC-32C of all that it says, and so does the snapshot.
// Read answers a *session.Damage in place of an event that is not what was stored; a
// snapshot that is not counts as none. Rows from before there were sums are not
// checked. Mail and the index by kind have none: a changed byte of the index may hide
// an event from a Read that asks for kinds, never from one that asks for all.
//
// Damage. Beyond what SQLite finds, a write-ahead log that a killed owner left is
// looked at before SQLite gets it: where a transaction in it is spoilt that is not the
// last one, the session does not open, for SQLite would throw away what follows. The
// last one cannot be told from an append that the crash cut short. Salvage reads the
// bytes of both files, by the pages' own pointers where those hold and byte by byte
// where they do not, and believes an event by its sum. It takes the page size, 4096,
// for granted.
//
// Import. The file is made under another name in one transaction without a sync,
// synced, and renamed. What a killed Import leaves is cleared away by List after an
// hour, and overwritten by the next one of that id.
//
// Ownership. The owner holds an advisory lock on the lock file. Close removes the
// file; when the owner dies, the kernel drops the lock and the next owner takes
// the file over. Readers take no lock and are never in a writer's way. Where a
// lock does not hold (some network file systems), the head that is compared inside
// each transaction still keeps two writers apart.
//
// Mail. It is a table of the session's file, so that an append takes it in its own
// transaction. Any process adds to it, as durably as an append, in the moments when
// the owner does not write, and rings the bell behind it. An owner looks when that was
// rung, and every three seconds anyway, so that a thousand sessions that have no mail
// cost next to nothing.
//
// Removal. Remove takes the lock, then the database's name, durably, and what lies
// beside it last. What a Remove that was killed leaves belongs to no session: List
// clears it away after an hour, and a Create of the same id at once.
//
// Catalogue. A row is written when a session is created or imported, when a turn
// starts or ends, when it is archived and when the log is closed, together with the
// sizes and times of the session's files. List trusts a row only while those are
// unchanged and reads the session itself otherwise, so a catalogue that is missing,
// damaged or behind costs time and never a wrong answer.
//
// Index. A Read for a text that finds the index far behind the log lets it catch up, in
// the background, and waits a moment; an append never touches it. The file has whole
// segments, each of a megabyte or two of text, oldest first; what comes behind them is
// indexed in memory, and the newest few hundred events are read as they are. So a short
// session has no such file. A segment names the log by the sums of its first event and
// of the last one that it covers, and its rows carry sums: what does not fit is not
// used, and written anew. A lock file keeps two writers apart; where the file cannot be
// written, all that it would cover is read. SQLite's own index of trigrams was four
// times as large as this one and took ten times as long to make and to ask.
//
// Schema. Files carry their version in PRAGMA user_version, which is all that
// opening one costs. The steps in migrations/ are run by goose when a session is
// created or an older file is taken for writing. Post brings a file no further than
// to the first schema with mail; an older owner at work does not notice that, but
// an older version will not open the file again.
package sqlitelog
