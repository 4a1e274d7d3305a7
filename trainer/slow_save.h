// Tells whether the save at a stop would end before the ranks are killed.
#ifndef TRAINYARD_TRAINER_SLOW_SAVE_H_
#define TRAINYARD_TRAINER_SLOW_SAVE_H_

#include <cstdint>
#include <string>

namespace trainyard::trainer {

struct MeasuredSave {
  double seconds = 0;  // From its begin until it was published.
  int64_t bytes = 0;
};

// One sentence for a person with the remedy when a save like this one takes longer than
// `grace_seconds`, the time between SIGTERM and SIGKILL; else "".
std::string SlowSaveText(const MeasuredSave& save, double grace_seconds);

// The alert of a due save that finds the save before it still in flight. `awaited`: ranks whose
// files rank 0 does not see, as RankSetText names them; empty: the storage is slow.
std::string LateSaveText(const std::string& directory, const std::string& awaited);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_SLOW_SAVE_H_
