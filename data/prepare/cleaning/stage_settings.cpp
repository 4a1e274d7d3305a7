#include "data/prepare/cleaning/stage_settings.h"

#include "data/documents/pod_text.h"

namespace trainyard::data {

RunSettings StageSettings(const Job& job, const StageOutput& output) {
  RunSettings settings;
  settings.out = output.directory;
  settings.replace = output.replaces;
  settings.threads = job.threads;
  settings.memory_bytes = output.memory_mib << 20;
  settings.decode = job.decode_settings({});
  settings.bad_lines = job.bad_line_policy();
  return settings;
}

RunObserver StageObserver(const std::string& work, Progress* progress) {
  return {[work, progress](size_t blocks, size_t recorded, int64_t bytes) {
            if (recorded > 0) {
              progress->PrintLine("continuing: " + ReadableCount(static_cast<int64_t>(recorded)) +
                                  " of " + ReadableCount(static_cast<int64_t>(blocks)) +
                                  " blocks are finished");
            }
            progress->Start(work, bytes);
          },
          [progress](int64_t bytes) { progress->Advance(bytes); }};
}

}  // namespace trainyard::data
