// Texts that warn of slow saves.
#ifndef TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_
#define TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_

#include <cstdint>
#include <string>

namespace trainyard::trainer {

struct MeasuredSave {
  double seconds = 0;  // From the start of the save to its publication.
  int64_t bytes = 0;
};

// Returns a warning of one sentence, with the remedy, if a save like `save` takes longer than
// `grace_seconds`, which is the time between SIGTERM and SIGKILL. Returns "" otherwise.
std::string SlowSaveText(const MeasuredSave& save, double grace_seconds);

// Returns the alert for a save that is due while the previous one is still in flight. awaited: the
// ranks whose files rank 0 does not see, formatted by RankSetText. If it is empty, the storage is
// slow.
std::string LateSaveText(const std::string& directory, const std::string& awaited);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_REPORT_SLOW_SAVE_H_
