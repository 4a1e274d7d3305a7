// The layer between SQLite and the system under every database of the store. It finds damage that
// SQLite itself does not see, and distinguishes a full disk from a broken one.
//
// Damage: the last 8 bytes of each page hold a checksum over the rest and the page's place. It is
// put in when a page is written to the database file and checked when a page is read from there;
// pages in the write-ahead log have SQLite's own. A page that fails is SQLITE_IOERR_DATA for the
// one query that needs it, and other pages stay readable. A page of zeros passes: SQLite leaves
// free pages unwritten, and refuses zeros where it expects a page in use.
//
// Full disk: quotas, limits on file sizes and full file systems under a sync are SQLITE_FULL too;
// SQLite alone reports them as I/O errors.
#ifndef TRAINYARD_CONTROLLER_STORE_PAGE_CHECK_H_
#define TRAINYARD_CONTROLLER_STORE_PAGE_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

struct sqlite3;

namespace trainyard::controller {

// Name of the VFS to open databases with. Thread-safe.
const char* PageCheckVfs();

// Reserves bytes for the checksums in a database that has no page yet; a database that has pages
// without checksums stays as it is. Called right after opening, on a connection that may write.
void EnablePageChecks(sqlite3* database);

// Bytes at the beginning of a database file that describe it.
inline constexpr std::size_t kDatabaseHeaderBytes = 100;

// Size of the pages by the first bytes of the file; 0 when these are of no database.
int PageBytesOf(std::string_view header);
bool HasPageChecksums(std::string_view header);

// True when the checksum of the page at `offset` fits, and for a page of zeros.
bool IsSoundPage(std::string_view page, int64_t offset);

// Offset in its file of the page that last failed its check on this thread.
int64_t LastDamagedByte();

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_PAGE_CHECK_H_
