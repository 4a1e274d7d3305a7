#include "trainer/report/slow_save.h"

#include <cmath>
#include <cstdio>

#include "proto/text/number_text.h"

namespace trainyard::trainer {

std::string SlowSaveText(const MeasuredSave& save, double grace_seconds) {
  if (save.seconds <= grace_seconds) return "";
  char measured[64];
  std::snprintf(measured, sizeof(measured), "%.1f GB took %.1f s",
                static_cast<double>(save.bytes) / 1e9, save.seconds);
  // Recommends twice the measured time, because storage may become slower and a stop first waits
  // for the running step.
  return std::string("A checkpoint of ") + measured + ", but stop_grace allows only " +
         NumberText(grace_seconds) +
         " s, so stopping the job would interrupt the checkpoint and lose the steps since "
         "the previous one. Set stop_grace to " +
         NumberText(std::ceil(2 * save.seconds)) + "s, or use faster storage for checkpoints.";
}

std::string LateSaveText(const std::string& directory, const std::string& awaited) {
  const std::string text = "The previous checkpoint is still being written to " + directory +
                           "; the next checkpoint starts after that. ";
  if (awaited.empty()) return text + "Save less often or use faster storage.";
  return text + "Files of ranks " + awaited +
         " are missing in this directory. Mount the same storage at this path on "
         "every node.";
}

}  // namespace trainyard::trainer
