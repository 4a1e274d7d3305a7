#include "controller/store/sqlite/page_check.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>

#include "controller/store/support/checksum.h"

namespace trainyard::controller {
namespace {

constexpr char kVfsName[] = "trainyard-page-check";
constexpr std::size_t kPageChecksumBytes = sizeof(uint64_t);
// Parts of the header on page 1: the magic string, and the offset of the byte with the number of
// reserved bytes per page.
constexpr std::string_view kMagic("SQLite format 3\0", 16);
constexpr std::size_t kReservedByte = 20;
constexpr int kHeaderBytes = 100;
constexpr int kPageBytesMin = 512;

thread_local int64_t last_damaged_byte = 0;

// An open file. SQLite allocates this struct and, directly after it, the file object of the
// underlying VFS.
struct CheckedFile {
  sqlite3_file base;
  // False for write-ahead logs and journals.
  bool is_database;
  // True if the header states that the pages have checksums.
  bool has_checksums;

  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  const sqlite3_io_methods& methods() { return *inner()->pMethods; }
};

CheckedFile& AsChecked(sqlite3_file* file) { return *reinterpret_cast<CheckedFile*>(file); }

bool MeansFull(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

// Returns SQLITE_FULL if the call that returned `code` failed because the disk is full; otherwise
// returns `code`. The caller must set errno to 0 before the call.
int NoteFreeSpace(CheckedFile& file, int code) {
  const int primary = code & 0xff;
  if (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN) return code;
  if (MeansFull(errno)) return SQLITE_FULL;
  int error = 0;
  if (file.inner()->pMethods == nullptr) return code;
  file.methods().xFileControl(file.inner(), SQLITE_FCNTL_LAST_ERRNO, &error);
  return MeansFull(error) ? SQLITE_FULL : code;
}

bool IsPage(const CheckedFile& file, int amount) {
  return file.is_database && file.has_checksums && amount >= kPageBytesMin &&
         (amount & (amount - 1)) == 0;
}

uint64_t PageChecksum(const char* page, int amount, sqlite3_int64 offset) {
  return Checksum({page, static_cast<std::size_t>(amount) - kPageChecksumBytes},
                  static_cast<uint64_t>(offset));
}

bool IsSound(const char* page, int amount, sqlite3_int64 offset) {
  uint64_t stored = 0;
  std::memcpy(&stored, page + amount - kPageChecksumBytes, kPageChecksumBytes);
  if (stored == PageChecksum(page, amount, offset)) return true;
  return std::all_of(page, page + amount, [](char byte) { return byte == 0; });
}

// Sets has_checksums if `bytes` contains the header.
void NoteHeader(CheckedFile& file, const char* bytes, int amount, sqlite3_int64 offset) {
  if (!file.is_database || offset != 0 || amount < kHeaderBytes) return;
  if (std::string_view(bytes, kMagic.size()) != kMagic) return;
  file.has_checksums = static_cast<uint8_t>(bytes[kReservedByte]) == kPageChecksumBytes;
}

int CheckedClose(sqlite3_file* file) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xClose(checked.inner());
}

int CheckedRead(sqlite3_file* file, void* buffer, int amount, sqlite3_int64 offset) {
  CheckedFile& checked = AsChecked(file);
  const int code = checked.methods().xRead(checked.inner(), buffer, amount, offset);
  if (code != SQLITE_OK) return code;
  const char* bytes = static_cast<const char*>(buffer);
  NoteHeader(checked, bytes, amount, offset);
  if (!IsPage(checked, amount) || IsSound(bytes, amount, offset)) return SQLITE_OK;
  last_damaged_byte = offset;
  return SQLITE_IOERR_DATA;
}

int CheckedWrite(sqlite3_file* file, const void* buffer, int amount, sqlite3_int64 offset) {
  CheckedFile& checked = AsChecked(file);
  const char* bytes = static_cast<const char*>(buffer);
  NoteHeader(checked, bytes, amount, offset);
  errno = 0;
  if (!IsPage(checked, amount)) {
    return NoteFreeSpace(checked,
                         checked.methods().xWrite(checked.inner(), buffer, amount, offset));
  }
  // A copy of the page, one per thread. The checksum cannot be written into SQLite's own buffer,
  // because SQLite reads the buffer again.
  thread_local std::string page;
  page.assign(bytes, static_cast<std::size_t>(amount));
  const uint64_t sum = PageChecksum(page.data(), amount, offset);
  std::memcpy(page.data() + amount - kPageChecksumBytes, &sum, kPageChecksumBytes);
  return NoteFreeSpace(checked,
                       checked.methods().xWrite(checked.inner(), page.data(), amount, offset));
}

int CheckedTruncate(sqlite3_file* file, sqlite3_int64 size) {
  CheckedFile& checked = AsChecked(file);
  errno = 0;
  return NoteFreeSpace(checked, checked.methods().xTruncate(checked.inner(), size));
}

int CheckedSync(sqlite3_file* file, int flags) {
  CheckedFile& checked = AsChecked(file);
  errno = 0;
  return NoteFreeSpace(checked, checked.methods().xSync(checked.inner(), flags));
}

int CheckedFileSize(sqlite3_file* file, sqlite3_int64* size) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xFileSize(checked.inner(), size);
}

int CheckedLock(sqlite3_file* file, int lock) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xLock(checked.inner(), lock);
}

int CheckedUnlock(sqlite3_file* file, int lock) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xUnlock(checked.inner(), lock);
}

int CheckedReservedLock(sqlite3_file* file, int* result) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xCheckReservedLock(checked.inner(), result);
}

int CheckedFileControl(sqlite3_file* file, int operation, void* argument) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xFileControl(checked.inner(), operation, argument);
}

int CheckedSectorSize(sqlite3_file* file) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xSectorSize(checked.inner());
}

int CheckedDeviceCharacteristics(sqlite3_file* file) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xDeviceCharacteristics(checked.inner());
}

int CheckedShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  CheckedFile& checked = AsChecked(file);
  errno = 0;
  return NoteFreeSpace(checked,
                       checked.methods().xShmMap(checked.inner(), region, size, extend, memory));
}

int CheckedShmLock(sqlite3_file* file, int offset, int count, int flags) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xShmLock(checked.inner(), offset, count, flags);
}

void CheckedShmBarrier(sqlite3_file* file) {
  CheckedFile& checked = AsChecked(file);
  checked.methods().xShmBarrier(checked.inner());
}

int CheckedShmUnmap(sqlite3_file* file, int remove) {
  CheckedFile& checked = AsChecked(file);
  return checked.methods().xShmUnmap(checked.inner(), remove);
}

// Version 2 has no memory-mapped reads, which would bypass the check.
constexpr sqlite3_io_methods kCheckedMethods = {
    .iVersion = 2,
    .xClose = CheckedClose,
    .xRead = CheckedRead,
    .xWrite = CheckedWrite,
    .xTruncate = CheckedTruncate,
    .xSync = CheckedSync,
    .xFileSize = CheckedFileSize,
    .xLock = CheckedLock,
    .xUnlock = CheckedUnlock,
    .xCheckReservedLock = CheckedReservedLock,
    .xFileControl = CheckedFileControl,
    .xSectorSize = CheckedSectorSize,
    .xDeviceCharacteristics = CheckedDeviceCharacteristics,
    .xShmMap = CheckedShmMap,
    .xShmLock = CheckedShmLock,
    .xShmBarrier = CheckedShmBarrier,
    .xShmUnmap = CheckedShmUnmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

// Returns the current default VFS. The VFS is looked up each time, so that a test can replace the
// disk of an open store.
sqlite3_vfs& Below() { return *sqlite3_vfs_find(nullptr); }

int CheckedOpen(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  CheckedFile& checked = AsChecked(file);
  std::memset(static_cast<void*>(&checked), 0, sizeof(checked));
  checked.is_database = (flags & SQLITE_OPEN_MAIN_DB) != 0;
  errno = 0;
  const int code = Below().xOpen(&Below(), path, checked.inner(), flags, out_flags);
  // Set the methods even after an error, so that SQLite closes the file: SQLite closes every file
  // that has methods.
  if (checked.inner()->pMethods != nullptr) file->pMethods = &kCheckedMethods;
  return NoteFreeSpace(checked, code);
}

int CheckedDelete(sqlite3_vfs*, const char* path, int sync_directory) {
  return Below().xDelete(&Below(), path, sync_directory);
}

int CheckedAccess(sqlite3_vfs*, const char* path, int flags, int* result) {
  return Below().xAccess(&Below(), path, flags, result);
}

int CheckedFullPathname(sqlite3_vfs*, const char* path, int size, char* out) {
  return Below().xFullPathname(&Below(), path, size, out);
}

// Space for the file object of the underlying VFS. SQLite's own VFSs need less than 200 bytes.
constexpr int kInnerFileBytesMax = 1024;

sqlite3_vfs* RegisterOnce() {
  // Copied from the default VFS; the members that are not set below stay unchanged. The copy exists
  // until the process ends.
  static sqlite3_vfs vfs = Below();
  vfs.szOsFile = static_cast<int>(sizeof(CheckedFile)) + kInnerFileBytesMax;
  vfs.zName = kVfsName;
  vfs.pNext = nullptr;
  vfs.xOpen = CheckedOpen;
  vfs.xDelete = CheckedDelete;
  vfs.xAccess = CheckedAccess;
  vfs.xFullPathname = CheckedFullPathname;
  sqlite3_vfs_register(&vfs, 0);
  return &vfs;
}

}  // namespace

const char* PageCheckVfs() {
  static const sqlite3_vfs* const vfs = RegisterOnce();
  return vfs->zName;
}

void EnablePageChecks(sqlite3* database) {
  int bytes = static_cast<int>(kPageChecksumBytes);
  sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &bytes);
}

int PageBytesOf(std::string_view header) {
  // The offset of the page size in the header. The size is big-endian; 1 means 65536.
  constexpr std::size_t kSizeByte = 16;
  if (header.size() < kHeaderBytes || header.substr(0, kMagic.size()) != kMagic) return 0;
  const int high = static_cast<uint8_t>(header[kSizeByte]);
  const int bytes = high * 256 + static_cast<uint8_t>(header[kSizeByte + 1]);
  return bytes == 1 ? 65536 : bytes;
}

bool HasPageChecksums(std::string_view header) {
  return header.size() >= kHeaderBytes &&
         static_cast<uint8_t>(header[kReservedByte]) == kPageChecksumBytes;
}

bool IsSoundPage(std::string_view page, int64_t offset) {
  return IsSound(page.data(), static_cast<int>(page.size()), offset);
}

int64_t LastDamagedByte() { return last_damaged_byte; }

}  // namespace trainyard::controller
