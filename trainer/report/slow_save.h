// Warnings about slow saves.
#ifndef TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_
#define TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_

#include <cstdint>
#include <string>

namespace trainyard::trainer {

struct MeasuredSave {
  double seconds = 0;  // From start to publication.
  int64_t bytes = 0;
};

// A one-sentence warning with the remedy if a save like `save` takes longer than `grace_seconds`,
// the time between SIGTERM and SIGKILL; else "".
std::string SlowSaveText(const MeasuredSave& save, double grace_seconds);

// Alert for a due save while the previous save is still in flight. awaited: ranks whose files rank
// 0 does not see, formatted by RankSetText; empty if the storage is slow.
std::string LateSaveText(const std::string& directory, const std::string& awaited);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_
