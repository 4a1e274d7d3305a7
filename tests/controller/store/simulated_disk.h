// A simulated disk below SQLite that loses unsynced writes, tears sectors, and fails on request.
//
// While the object exists, it is SQLite's default VFS in this process. Bytes still go to real
// files, so locks and shared memory are SQLite's own. In addition, for each file, the disk records
// the durable content and all later writes, in order. A power cut produces an image, which consists
// of the durable bytes and any subset of the later writes. Writes are divided into sectors of 512
// bytes, and the last sector of a write may be torn. A torn write never changes adjacent bytes;
// SQLite assumes the same of real disks (SQLITE_IOCAP_POWERSAFE_OVERWRITE).
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

// The calls that SQLite makes to a disk. All calls are counted.
enum class DiskCall { kOpen, kDelete, kRead, kWrite, kTruncate, kSync, kSize, kMapShared };

// Not thread-safe.
class SimulatedDisk {
 public:
  // All files must be in `directory`.
  explicit SimulatedDisk(std::string directory);
  SimulatedDisk(const SimulatedDisk&) = delete;
  SimulatedDisk& operator=(const SimulatedDisk&) = delete;
  // Every database must be closed before the disk is destroyed.
  ~SimulatedDisk();

  // Makes `calls` consecutive calls fail, beginning with call number `call`, counted from now and
  // starting at 1. If the fault is a full disk, only calls that need free space fail.
  void FailAt(int64_t call, DiskFault fault, int64_t calls = 1);
  // True once the first call chosen by FailAt has been made.
  bool reached() const { return calls_ >= fail_from_; }
  // Ends all faults: from now on, no call fails.
  void Mend() { fault_ = DiskFault::kNone; }

  // Cuts the power during call number `call`, counted from now and starting at 1. The cut creates
  // the image and then calls `on_cut`. SQLite can continue to use the disk after the cut, but
  // WriteImage discards all later writes by restoring the image.
  void CutAt(int64_t call, unsigned seed, std::function<void()> on_cut);
  bool cut() const { return cut_; }

  // Replaces the files in the directory with the image. Every database must be closed already.
  void WriteImage();

  // Number of calls since the disk was created.
  int64_t calls() const { return calls_; }

  // ---- Used by the VFS
  struct Change {
    enum class Kind { kWrite, kTruncate, kDelete };
    Kind kind = Kind::kWrite;
    int64_t offset = 0;  // For a truncation: the new size.
    std::string bytes;
  };
  struct File {
    std::string durable;
    // True if the file's directory entry is durable. Otherwise a power cut may remove the file.
    bool linked = false;
    bool directory_sync_due = false;
    std::vector<Change> unsynced;
  };

  // Counts the call and returns the fault that it must report.
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
