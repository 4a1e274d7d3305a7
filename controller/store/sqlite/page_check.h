// A layer between SQLite and the operating system, used by every database of the store. It detects
// damage that SQLite does not see, and distinguishes a full disk from a failing one.
//
// Damage: the last 8 bytes of each page are a checksum of the rest and the page's offset. The
// checksum is written with the page to the database file and checked when the page is read from
// there. Pages in the write-ahead log have SQLite's own checksums. A failed check is
// SQLITE_IOERR_DATA for the query that needs the page; other pages stay readable. A page of zeros
// passes: SQLite leaves free pages unwritten, and rejects zeros where it expects a page in use.
//
// Full disk: exceeded quotas, file size limits and file systems found full during a sync are also
// reported as SQLITE_FULL. SQLite alone reports them as I/O errors.
#ifndef TRAINYARD_CONTROLLER_STORE_SQLITE_PAGE_CHECK_H_
#define TRAINYARD_CONTROLLER_STORE_SQLITE_PAGE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

struct sqlite3;

namespace trainyard::controller {

// Name of the VFS to pass when opening a database. Thread-safe.
const char* PageCheckVfs();

// Reserves bytes for the checksums in an empty database. A database with pages but without
// checksums is left unchanged. Call right after opening, on a writable connection.
void EnablePageChecks(sqlite3* database);

// Size of the header at the start of a database file.
inline constexpr std::size_t kDatabaseHeaderBytes = 100;

// Page size according to the header; 0 if `header` is not that of a database.
int PageBytesOf(std::string_view header);
bool HasPageChecksums(std::string_view header);

// True if the checksum of the page at `offset` is correct, or the page is all zeros.
bool IsSoundPage(std::string_view page, int64_t offset);

// File offset of the page that last failed its check on this thread.
int64_t LastDamagedByte();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_SQLITE_PAGE_CHECK_H_
