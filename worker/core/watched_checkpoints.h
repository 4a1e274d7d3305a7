// Decides which files of a program become checkpoints (checkpoint.watch). A half-written file must
// never become one.
#ifndef TRAINYARD_WORKER_CORE_WATCHED_CHECKPOINTS_H_
#define TRAINYARD_WORKER_CORE_WATCHED_CHECKPOINTS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/support/clock.h"
#include "re2/re2.h"
#include "trainyard/v1/telemetry.pb.h"
#include "trainyard/v1/watch_state.pb.h"
#include "trainyard/v1/worker_control.pb.h"

namespace trainyard::worker {

// A file or directory that matches the pattern, as one look has found it. Fields as in
// v1::WatchedFile.
struct WatchedEntry {
  std::string path;
  int64_t bytes = 0;
  int64_t modified_ns = 0;
  int64_t own_modified_ns = 0;
  // True if the look did not read the files below the directory.
  bool unmeasured = false;
  // True if a process of the job has a file of the entry open for writing, or if the entry contains
  // a file with a temporary name.
  bool in_progress = false;
};

enum class WatchLook {
  kRunning,  // The program runs.
  kSaved,    // The program has ended as requested, with its checkpoints saved.
  kFailed,   // The program has failed. A file may have been half-written.
};

// The changes that a look has found.
struct WatchOutcome {
  // Records for the controller, in this order.
  std::vector<v1::CheckpointRecord> records;
  // Paths to remove once the records are written and the state is stored.
  std::vector<std::string> removals;
  // True if State() differs from the stored state.
  bool changed = false;
  // True if a further look may find a checkpoint complete.
  bool pending = false;
  // A complete checkpoint whose step is unknown; empty if there is none.
  std::string without_step;
};

// All times are those of one clock that never goes back. Copyable, so that a look whose records
// cannot be written can be undone.
class WatchedCheckpoints {
 public:
  // Files tracked at the same time. Beyond this limit, the oldest file is no longer watched.
  static constexpr std::size_t kMostFiles = 1000;
  // A checkpoint that is missing for this long was removed by its program. The delay bridges
  // failures of a file server.
  static constexpr Timestamp kMissingMs = 10'000;

  // `command` must have checkpoint.watch.
  explicit WatchedCheckpoints(const v1::StartAttempt& command);

  // Call once, before the program starts. `before` are the entries that exist at this time.
  void Begin(const std::vector<WatchedEntry>& before);
  // Continues from a stored state, instead of Begin.
  void Restore(v1::WatchState state);

  // Adds the result of one look. `step` is the newest step of the ranks, 0 if unknown.
  WatchOutcome Note(const std::vector<WatchedEntry>& entries, WatchLook look, int64_t step,
                    Timestamp now);

  // True if the files below the directory need not be read, because the checkpoint is recorded.
  bool IsRecorded(const std::string& path) const;
  v1::WatchState State() const;

 private:
  struct Stability {
    Timestamp since = 0;
    // Looks while the program ran that found the entry complete and unchanged.
    int looks = 0;
  };

  void NoteEntry(const WatchedEntry& entry, WatchLook look, int64_t step, Timestamp now,
                 WatchOutcome& outcome);
  void Track(const WatchedEntry& entry, int64_t step, Timestamp now);
  bool IsComplete(const Stability& stability, WatchLook look, Timestamp now) const;
  bool HasRecordOf(int64_t step) const;
  void NoteMissing(const std::vector<WatchedEntry>& entries, Timestamp now, WatchOutcome& outcome);
  void Retain(WatchOutcome& outcome);
  bool IsKept(const v1::WatchedFile& file, int64_t newer) const;
  int64_t StepOf(const std::string& path, int64_t step) const;
  v1::CheckpointRecord RecordOf(const v1::WatchedFile& file) const;

  v1::CheckpointSpec spec_;
  std::string directory_;
  int64_t attempt_ = 0;
  std::string resume_from_;
  std::vector<v1::Checkpoint> earlier_;
  // The time for which an entry must be unchanged.
  Timestamp stable_ms_ = 0;
  // Null: the last number in the name.
  std::shared_ptr<const re2::RE2> step_pattern_;
  int64_t ignored_until_ns_ = 0;
  std::map<std::string, v1::WatchedFile> files_;
  std::map<std::string, Stability> stability_;
  // Times at which recorded files were first missing.
  std::map<std::string, Timestamp> missing_since_;
};

}  // namespace trainyard::worker

#endif  // TRAINYARD_WORKER_CORE_WATCHED_CHECKPOINTS_H_
