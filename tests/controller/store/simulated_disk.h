// A disk below SQLite that loses unsynced writes, tears sectors, and fails on request.
//
// While the object exists, it is the default VFS of the process. Bytes still go to real files, so
// locks and shared memory are SQLite's own. In addition the disk records for each file its durable
// content and, in order, all later writes. A power cut produces an image: the durable bytes and any
// subset of the later writes, in sectors of 512 bytes, the last of which may be torn. As SQLite
// assumes of real disks (SQLITE_IOCAP_POWERSAFE_OVERWRITE), a torn write never changes adjacent
// bytes.
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

// SQLite's calls to a disk. Each one is counted.
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

  // Makes the call with this number, counted from now and starting at 1, and the `calls` - 1 calls
  // after it fail. A full disk rejects only calls that need free space.
  void FailAt(int64_t call, DiskFault fault, int64_t calls = 1);
  // True once the call of FailAt has been made.
  bool reached() const { return calls_ >= fail_from_; }
  // No call fails from now on.
  void Mend() { fault_ = DiskFault::kNone; }

  // Cuts the power during the call with this number, counted from now and starting at 1: creates
  // the image and calls `on_cut`. Afterwards execution continues on a disk whose contents are not
  // used again.
  void CutAt(int64_t call, unsigned seed, std::function<void()> on_cut);
  bool cut() const { return cut_; }

  // Replaces the files of the directory by the image. Every database must be closed.
  void WriteImage();

  // Number of calls since the disk was created.
  int64_t calls() const { return calls_; }

  // ---- For the VFS
  struct Change {
    enum class Kind { kWrite, kTruncate, kDelete };
    Kind kind = Kind::kWrite;
    int64_t offset = 0;  // For a truncation: the new size.
    std::string bytes;
  };
  struct File {
    std::string durable;
    // True if the name is durable in its directory. Otherwise a power cut may remove the file.
    bool linked = false;
    bool directory_sync_due = false;
    std::vector<Change> unsynced;
  };

  // Counts the call and returns its fault.
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
