// The layer between SQLite and the system under every database of the store. It finds damage that
// SQLite itself does not see, and tells a full disk from a broken one.
//
// Damage: the last 8 bytes of each page hold a checksum over the rest and the page's place. It is
// put in when a page goes into the database file and is checked when one comes from there; pages in
// the write-ahead log have SQLite's own. A page that fails is SQLITE_IOERR_DATA for the one query
// that needs it, and the other pages stay readable. A page of zeros passes: SQLite leaves free
// pages unwritten, and refuses zeros where it expects a page in use.
//
// Room: quotas, limits on file sizes and full file systems under a sync are SQLITE_FULL too, which
// SQLite alone reports as I/O errors.
#ifndef TRAINYARD_CONTROLLER_STORE_PAGE_CHECK_H_
#define TRAINYARD_CONTROLLER_STORE_PAGE_CHECK_H_

#include <cstdint>

struct sqlite3;

namespace trainyard::controller {

// Name of the VFS to open databases with. Thread-safe.
const char* PageCheckVfs();

// Makes room for the checksums in a database that has no page yet; one that has pages without them
// stays as it is. Right after opening it, on a connection that may write.
void EnablePageChecks(sqlite3* database);

// Byte of the file at which the page begins that failed its check last on this thread.
int64_t LastDamagedByte();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_PAGE_CHECK_H_
