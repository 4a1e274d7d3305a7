// A layer between SQLite and the operating system, used by every database of the store. It detects
// damage that SQLite does not detect, and it distinguishes a full disk from a failing disk.
//
// Damage: the last 8 bytes of each page are a checksum of the other bytes and of the page's offset.
// The checksum is written when the page is written to the database file, and is checked when the
// page is read from that file. Pages in the write-ahead log have SQLite's own checksums. If a check
// fails, the query that needs the page gets SQLITE_IOERR_DATA; other pages stay readable. A page of
// zeros passes the check, because SQLite does not write free pages. If SQLite finds zeros where it
// expects a page in use, SQLite itself reports an error.
//
// Full disk: SQLite reports three conditions as I/O errors: an exceeded quota, an exceeded file
// size limit, and a file system found full during a sync. This layer reports them as SQLITE_FULL.
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_PAGE_CHECK_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_PAGE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

struct sqlite3;

namespace trainyard::controller {

// Returns the name of the VFS, to be passed when a database is opened. Thread-safe.
const char* PageCheckVfs();

// Reserves bytes for the checksums in an empty database. Does not change a database that has pages
// without checksums. Call directly after opening, on a writable connection.
void EnablePageChecks(sqlite3* database);

// Size of the header at the start of a database file.
inline constexpr std::size_t kDatabaseHeaderBytes = 100;

// Returns the page size according to the header; 0 if `header` is not the header of a database.
int PageBytesOf(std::string_view header);
bool HasPageChecksums(std::string_view header);

// True if the checksum of the page at `offset` is correct, or the page is all zeros.
bool IsSoundPage(std::string_view page, int64_t offset);

// Returns the file offset of the page whose check last failed on this thread.
int64_t LastDamagedByte();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_PAGE_CHECK_H_
