// Warnings about slow saves.
#ifndef TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_
#define TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_

#include <cstdint>
#include <string>

namespace trainyard::trainer {

struct MeasuredSave {
  double seconds = 0;  // From the start of the save to its publication.
  int64_t bytes = 0;
};

// Returns a one-sentence warning, with the remedy, if a save like `save` takes longer than
// `grace_seconds`, the time between SIGTERM and SIGKILL; otherwise "".
std::string SlowSaveText(const MeasuredSave& save, double grace_seconds);

// Returns the alert for a save that is due while the previous save is in flight. `awaited` names
// the ranks whose files rank 0 does not see (RankSetText). If `awaited` is empty, the cause is slow
// storage.
std::string LateSaveText(const std::string& directory, const std::string& awaited);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_
