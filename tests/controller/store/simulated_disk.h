// A disk under SQLite that loses unsynced writes, tears sectors, and fails on request.
//
// It is the default VFS of the process while it lives. Bytes go to real files as always, so locks
// and shared memory are SQLite's own; beside them the disk keeps for each file what is durable and,
// in order, what has been written since. A power cut is an image: durable bytes, and of the rest
// any subset, by sectors of 512 bytes of which the last may be torn. As SQLite assumes of real
// disks (SQLITE_IOCAP_POWERSAFE_OVERWRITE) a torn write never changes bytes beside it.
#ifndef TRAINYARD_TESTS_CONTROLLER_STORE_SIMULATED_DISK_H_
#define TRAINYARD_TESTS_CONTROLLER_STORE_SIMULATED_DISK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

struct sqlite3_vfs;

namespace trainyard::controller {

enum class DiskFault { kNone, kIoError, kFull };

// Calls of SQLite to a disk. Each one is counted.
enum class DiskCall { kOpen, kDelete, kRead, kWrite, kTruncate, kSync, kSize, kMapShared };

// For use by one thread.
class SimulatedDisk {
 public:
  // All files are in `directory`.
  explicit SimulatedDisk(std::string directory);
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;
  // Every database must be closed.
  ~SimulatedDisk();

  // The call with this number, from 1 and counted from now, and `calls` - 1 further ones fail. A
  // full disk refuses only calls that need free space.
  void FailAt(int64_t call, DiskFault fault, int64_t calls = 1);
  // True once the call of FailAt has been made.
  bool reached() const { return calls_ >= fail_from_; }
  // No call fails from now on.
  void Mend() { fault_ = DiskFault::kNone; }

  // The power goes during the call with this number, from 1 and counted from now: the image is made
  // and `on_cut` is called. Then everything goes on, on a disk whose contents are not used again.
  void CutAt(int64_t call, unsigned seed, std::function<void()> on_cut);
  bool cut() const { return cut_; }

  // Replaces the files of the directory by the image. Every database must be closed.
  void WriteImage();

  // Calls since the disk was made.
  int64_t calls() const { return calls_; }

  // ---- For the VFS
  struct Change {
    enum class Kind { kWrite, kTruncate, kDelete };
    Kind kind = Kind::kWrite;
    int64_t offset = 0;  // The new size of a truncation.
    std::string bytes;
  };
  struct File {
    std::string durable;
    // True when the name is durable in its directory. Otherwise a power cut may remove it.
    bool linked = false;
    bool directory_sync_due = false;
    std::vector<Change> unsynced;
  };

  // The fault of this call.
  DiskFault Count(DiskCall call);
  File& Track(const std::string& path, bool is_new);
  void Write(File& file, int64_t offset, std::string bytes);
  void Truncate(File& file, int64_t size);
  void Sync(File& file);
  void Delete(const std::string& path, bool sync_directory);
  sqlite3_vfs* inner() const { return inner_; }

 private:
  void MakeImage();
  void SyncDirectory();

  const std::string directory_;
  std::unique_ptr<sqlite3_vfs> vfs_;
  sqlite3_vfs* const inner_;
  int64_t calls_ = 0;
  int64_t fail_from_ = 0;
  int64_t fail_calls_ = 0;
  DiskFault fault_ = DiskFault::kNone;
  int64_t cut_at_ = 0;
  bool cut_ = false;
  std::mt19937 random_;
  std::function<void()> on_cut_;
  // By path.
  std::map<std::string, File> files_;
  std::map<std::string, std::string> image_;
};

}  // namespace trainyard::controller

#endif  // TRAINYARD_TESTS_CONTROLLER_STORE_SIMULATED_DISK_H_
