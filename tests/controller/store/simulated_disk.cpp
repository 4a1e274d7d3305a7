#include "tests/controller/store/simulated_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace trainyard::controller {
namespace {

constexpr std::size_t kSectorBytes = 512;

// The file object passed to SQLite, which allocates this structure followed by the file object of
// the inner VFS.
struct DiskFile {
  sqlite3_file base;
  SimulatedDisk* disk;
  // Null for temporary files, which a power cut does not affect.
  SimulatedDisk::File* tracked;

  sqlite3_file* inner() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

DiskFile& AsDiskFile(sqlite3_file* file) { return *reinterpret_cast<DiskFile*>(file); }

// Returns `code`, the result for SQLite, and sets errno as a failed system call would.
int Fail(DiskFault fault, int code) {
  errno = fault == DiskFault::kFull ? ENOSPC : EIO;
  return code;
}

int DiskClose(sqlite3_file* file) {
  sqlite3_file* inner = AsDiskFile(file).inner();
  return inner->pMethods->xClose(inner);
}

int DiskRead(sqlite3_file* file, void* buffer, int amount, sqlite3_int64 offset) {
  DiskFile& disk_file = AsDiskFile(file);
  const DiskFault fault = disk_file.disk->Count(DiskCall::kRead);
  if (fault != DiskFault::kNone) return Fail(fault, SQLITE_IOERR_READ);
  sqlite3_file* inner = disk_file.inner();
  return inner->pMethods->xRead(inner, buffer, amount, offset);
}

int DiskWrite(sqlite3_file* file, const void* buffer, int amount, sqlite3_int64 offset) {
  DiskFile& disk_file = AsDiskFile(file);
  const DiskFault fault = disk_file.disk->Count(DiskCall::kWrite);
  // A failed write still writes half of its data, as on a disk that becomes full.
  const int written = fault == DiskFault::kNone ? amount : amount / 2;
  sqlite3_file* inner = disk_file.inner();
  const int code = inner->pMethods->xWrite(inner, buffer, written, offset);
  if (code != SQLITE_OK) return code;
  if (disk_file.tracked != nullptr) {
    disk_file.disk->Write(*disk_file.tracked, offset,
                          std::string(static_cast<const char*>(buffer), written));
  }
  if (fault == DiskFault::kNone) return SQLITE_OK;
  return Fail(fault, fault == DiskFault::kFull ? SQLITE_FULL : SQLITE_IOERR_WRITE);
}

int DiskTruncate(sqlite3_file* file, sqlite3_int64 size) {
  DiskFile& disk_file = AsDiskFile(file);
  const DiskFault fault = disk_file.disk->Count(DiskCall::kTruncate);
  if (fault != DiskFault::kNone) return Fail(fault, SQLITE_IOERR_TRUNCATE);
  sqlite3_file* inner = disk_file.inner();
  const int code = inner->pMethods->xTruncate(inner, size);
  if (code == SQLITE_OK && disk_file.tracked != nullptr) {
    disk_file.disk->Truncate(*disk_file.tracked, size);
  }
  return code;
}

// Does not sync the real disk: the tests' files need not be durable.
int DiskSync(sqlite3_file* file, int /*flags*/) {
  DiskFile& disk_file = AsDiskFile(file);
  const DiskFault fault = disk_file.disk->Count(DiskCall::kSync);
  if (fault != DiskFault::kNone) return Fail(fault, SQLITE_IOERR_FSYNC);
  if (disk_file.tracked != nullptr) disk_file.disk->Sync(*disk_file.tracked);
  return SQLITE_OK;
}

int DiskFileSize(sqlite3_file* file, sqlite3_int64* size) {
  DiskFile& disk_file = AsDiskFile(file);
  const DiskFault fault = disk_file.disk->Count(DiskCall::kSize);
  if (fault != DiskFault::kNone) return Fail(fault, SQLITE_IOERR_FSTAT);
  return disk_file.inner()->pMethods->xFileSize(disk_file.inner(), size);
}

int DiskLock(sqlite3_file* file, int lock) {
  sqlite3_file* inner = AsDiskFile(file).inner();
  return inner->pMethods->xLock(inner, lock);
}

int DiskUnlock(sqlite3_file* file, int lock) {
  sqlite3_file* inner = AsDiskFile(file).inner();
  return inner->pMethods->xUnlock(inner, lock);
}

int DiskCheckReservedLock(sqlite3_file* file, int* result) {
  sqlite3_file* inner = AsDiskFile(file).inner();
  return inner->pMethods->xCheckReservedLock(inner, result);
}

int DiskFileControl(sqlite3_file* file, int operation, void* argument) {
  sqlite3_file* inner = AsDiskFile(file).inner();
  return inner->pMethods->xFileControl(inner, operation, argument);
}

int DiskSectorSize(sqlite3_file*) { return kSectorBytes; }

int DiskDeviceCharacteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

int DiskShmMap(sqlite3_file* file, int region, int size, int extend, void volatile** memory) {
  DiskFile& disk_file = AsDiskFile(file);
  const DiskFault fault = disk_file.disk->Count(DiskCall::kMapShared);
  if (fault != DiskFault::kNone) return Fail(fault, SQLITE_IOERR_SHMSIZE);
  return disk_file.inner()->pMethods->xShmMap(disk_file.inner(), region, size, extend, memory);
}

int DiskShmLock(sqlite3_file* file, int offset, int count, int flags) {
  sqlite3_file* inner = AsDiskFile(file).inner();
  return inner->pMethods->xShmLock(inner, offset, count, flags);
}

void DiskShmBarrier(sqlite3_file* file) {
  sqlite3_file* inner = AsDiskFile(file).inner();
  inner->pMethods->xShmBarrier(inner);
}

int DiskShmUnmap(sqlite3_file* file, int remove) {
  sqlite3_file* inner = AsDiskFile(file).inner();
  return inner->pMethods->xShmUnmap(inner, remove);
}

constexpr sqlite3_io_methods kDiskMethods = {
    .iVersion = 2,
    .xClose = DiskClose,
    .xRead = DiskRead,
    .xWrite = DiskWrite,
    .xTruncate = DiskTruncate,
    .xSync = DiskSync,
    .xFileSize = DiskFileSize,
    .xLock = DiskLock,
    .xUnlock = DiskUnlock,
    .xCheckReservedLock = DiskCheckReservedLock,
    .xFileControl = DiskFileControl,
    .xSectorSize = DiskSectorSize,
    .xDeviceCharacteristics = DiskDeviceCharacteristics,
    .xShmMap = DiskShmMap,
    .xShmLock = DiskShmLock,
    .xShmBarrier = DiskShmBarrier,
    .xShmUnmap = DiskShmUnmap,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

SimulatedDisk& DiskOf(sqlite3_vfs* vfs) { return *static_cast<SimulatedDisk*>(vfs->pAppData); }

int DiskOpen(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  SimulatedDisk& disk = DiskOf(vfs);
  DiskFile& disk_file = AsDiskFile(file);
  disk_file = {};
  disk_file.disk = &disk;
  const bool exists = path != nullptr && std::filesystem::exists(path);
  const DiskFault fault = disk.Count(DiskCall::kOpen);
  if (fault == DiskFault::kIoError || (fault == DiskFault::kFull && !exists)) {
    return Fail(fault, SQLITE_CANTOPEN);
  }
  const int code = disk.inner()->xOpen(disk.inner(), path, disk_file.inner(), flags, out_flags);
  if (code != SQLITE_OK) return code;
  if (path != nullptr) {
    const bool syncs_directory = (flags & (SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL)) != 0;
    disk_file.tracked = &disk.Track(path, !exists);
    if (!exists && syncs_directory) disk_file.tracked->directory_sync_due = true;
  }
  file->pMethods = &kDiskMethods;
  return SQLITE_OK;
}

int DiskDelete(sqlite3_vfs* vfs, const char* path, int sync_directory) {
  SimulatedDisk& disk = DiskOf(vfs);
  const DiskFault fault = disk.Count(DiskCall::kDelete);
  if (fault != DiskFault::kNone) return Fail(fault, SQLITE_IOERR_DELETE);
  const int code = disk.inner()->xDelete(disk.inner(), path, 0);
  if (code == SQLITE_OK) disk.Delete(path, sync_directory != 0);
  return code;
}

int DiskAccess(sqlite3_vfs* vfs, const char* path, int flags, int* result) {
  return DiskOf(vfs).inner()->xAccess(DiskOf(vfs).inner(), path, flags, result);
}

int DiskFullPathname(sqlite3_vfs* vfs, const char* path, int size, char* out) {
  return DiskOf(vfs).inner()->xFullPathname(DiskOf(vfs).inner(), path, size, out);
}

void Overlay(std::string& content, int64_t offset, const char* bytes, std::size_t size) {
  const std::size_t begin = static_cast<std::size_t>(offset);
  if (content.size() < begin + size) content.resize(begin + size, '\0');
  std::memcpy(content.data() + begin, bytes, size);
}

// Applies some sectors of the write to `content`. The last sector applied may be torn.
void OverlayPart(const SimulatedDisk::Change& write, std::mt19937& random, std::string& content) {
  std::size_t done = 0;
  while (done < write.bytes.size()) {
    const std::size_t in_sector = (static_cast<std::size_t>(write.offset) + done) % kSectorBytes;
    const std::size_t size = std::min(kSectorBytes - in_sector, write.bytes.size() - done);
    const bool last = done + size == write.bytes.size();
    if (random() % 2 == 0) {
      const std::size_t kept = last ? random() % (size + 1) : size;
      Overlay(content, write.offset + static_cast<int64_t>(done), write.bytes.data() + done, kept);
    }
    done += size;
  }
}

// Returns one of the possible contents of the file after a power cut; nullopt if the file's name is
// lost.
std::optional<std::string> AfterCut(const SimulatedDisk::File& file, std::mt19937& random) {
  using Kind = SimulatedDisk::Change::Kind;
  if (!file.linked && random() % 2 == 0) return std::nullopt;
  std::string content = file.durable;
  // Each cut keeps none, all or a part of the unsynced data.
  const unsigned mode = random() % 4;
  for (const SimulatedDisk::Change& change : file.unsynced) {
    const unsigned choice = mode == 0 ? 0 : mode == 1 ? 1 : random() % 3;
    if (change.kind == Kind::kDelete) {
      // Changes after the deletion apply to a new file with this name, which is not yet durable in
      // the directory.
      if (choice == 0) return content;
      return std::nullopt;
    }
    if (choice == 0) continue;
    if (change.kind == Kind::kTruncate) {
      content.resize(static_cast<std::size_t>(change.offset), '\0');
    } else if (choice == 1) {
      Overlay(content, change.offset, change.bytes.data(), change.bytes.size());
    } else {
      OverlayPart(change, random, content);
    }
  }
  return content;
}

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

SimulatedDisk::SimulatedDisk(std::string directory)
    : directory_(std::move(directory)),
      vfs_(std::make_unique<sqlite3_vfs>(*sqlite3_vfs_find(nullptr))),
      inner_(sqlite3_vfs_find(nullptr)) {
  vfs_->szOsFile = static_cast<int>(sizeof(DiskFile)) + inner_->szOsFile;
  vfs_->zName = "simulated-disk";
  vfs_->pAppData = this;
  vfs_->pNext = nullptr;
  vfs_->xOpen = DiskOpen;
  vfs_->xDelete = DiskDelete;
  vfs_->xAccess = DiskAccess;
  vfs_->xFullPathname = DiskFullPathname;
  sqlite3_vfs_register(vfs_.get(), 1);
}

SimulatedDisk::~SimulatedDisk() {
  sqlite3_vfs_unregister(vfs_.get());
  sqlite3_vfs_register(inner_, 1);
}

void SimulatedDisk::FailAt(int64_t call, DiskFault fault, int64_t calls) {
  fail_from_ = calls_ + call;
  fail_calls_ = calls;
  fault_ = fault;
}

void SimulatedDisk::CutAt(int64_t call, unsigned seed, std::function<void()> on_cut) {
  cut_at_ = calls_ + call;
  cut_ = false;
  random_.seed(seed);
  on_cut_ = std::move(on_cut);
}

DiskFault SimulatedDisk::Count(DiskCall call) {
  ++calls_;
  if (calls_ == cut_at_) {
    MakeImage();
    cut_ = true;
    on_cut_();
  }
  if (fault_ == DiskFault::kNone || calls_ < fail_from_ || calls_ >= fail_from_ + fail_calls_) {
    return DiskFault::kNone;
  }
  const bool needs_space = call == DiskCall::kOpen || call == DiskCall::kWrite ||
                           call == DiskCall::kTruncate || call == DiskCall::kSync ||
                           call == DiskCall::kMapShared;
  if (fault_ == DiskFault::kFull && !needs_space) return DiskFault::kNone;
  return fault_;
}

SimulatedDisk::File& SimulatedDisk::Track(const std::string& path, bool is_new) {
  const auto [found, added] = files_.try_emplace(path);
  File& file = found->second;
  if (added) {
    file.durable = ReadWhole(path);
    // An empty file counts as no file.
    file.linked = !is_new && !file.durable.empty();
  }
  return file;
}

void SimulatedDisk::Write(File& file, int64_t offset, std::string bytes) {
  file.unsynced.push_back({Change::Kind::kWrite, offset, std::move(bytes)});
}

void SimulatedDisk::Truncate(File& file, int64_t size) {
  file.unsynced.push_back({Change::Kind::kTruncate, size, ""});
}

void SimulatedDisk::Sync(File& file) {
  if (std::exchange(file.directory_sync_due, false)) SyncDirectory();
  // Syncing a file does not make its deletion durable, but syncing its directory does.
  std::vector<Change> kept;
  for (Change& change : file.unsynced) {
    if (!kept.empty() || change.kind == Change::Kind::kDelete) {
      kept.push_back(std::move(change));
    } else if (change.kind == Change::Kind::kTruncate) {
      file.durable.resize(static_cast<std::size_t>(change.offset), '\0');
    } else {
      Overlay(file.durable, change.offset, change.bytes.data(), change.bytes.size());
    }
  }
  file.unsynced = std::move(kept);
}

// All files of a test are in one directory.
void SimulatedDisk::SyncDirectory() {
  for (auto& [path, file] : files_) {
    file.linked = true;
    auto& changes = file.unsynced;
    const auto is_delete = [](const Change& change) {
      return change.kind == Change::Kind::kDelete;
    };
    const auto deleted = std::find_if(changes.rbegin(), changes.rend(), is_delete);
    if (deleted == changes.rend()) continue;
    file.durable.clear();
    file.linked = deleted != changes.rbegin();
    changes.erase(changes.begin(), deleted.base());
  }
}

void SimulatedDisk::Delete(const std::string& path, bool sync_directory) {
  const auto found = files_.find(path);
  if (found == files_.end()) return;
  found->second.unsynced.push_back({Change::Kind::kDelete, 0, ""});
  if (sync_directory) SyncDirectory();
}

void SimulatedDisk::MakeImage() {
  image_.clear();
  for (const auto& [path, file] : files_) {
    if (auto content = AfterCut(file, random_)) image_[path] = *std::move(content);
  }
  if (!std::filesystem::exists(directory_)) return;
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    // The store of code writes its files itself, so that this disk does not see them.
    if (!entry.is_regular_file()) continue;
    // These files have not been opened yet. The shared-memory file is removed, because its contents
    // do not outlive the processes using it.
    const std::string path = entry.path().string();
    const bool shared_memory = path.size() > 4 && path.substr(path.size() - 4) == "-shm";
    if (!files_.contains(path) && !shared_memory) image_[path] = ReadWhole(path);
  }
}

void SimulatedDisk::WriteImage() {
  std::filesystem::remove_all(directory_);
  std::filesystem::create_directory(directory_);
  for (const auto& [path, content] : image_) {
    std::ofstream(path, std::ios::binary) << content;
  }
  files_.clear();
  image_.clear();
  cut_ = false;
}

}  // namespace trainyard::controller
