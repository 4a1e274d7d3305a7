// The work of a step that rank 0 does without the other ranks.
#ifndef TRAINYARD_DATA_PIPELINE_SOLO_WORK_H_
#define TRAINYARD_DATA_PIPELINE_SOLO_WORK_H_

#include <cstdint>
#include <string>

#include "data/pipeline/pass_runner.h"
#include "data/pipeline/pipeline.h"
#include "data/pipeline/run_telemetry.h"

namespace trainyard::data {

// Reports the phase and the progress. Rank 0 is in the phase until the destructor. For use by one
// thread.
class SoloWork {
 public:
  SoloWork(const RunContext& context, const PipelineStep& step, Phase phase);
  ~SoloWork();
  SoloWork(const SoloWork&) = delete;

  // Begins a part of the work. `bytes`: its size, of which Advance is a part; 0 if it is unknown.
  void Start(const std::string& part, int64_t bytes);
  void Advance(int64_t bytes);

 private:
  const RunContext& context_;
  const PipelineStep& step_;
  const Phase before_;
  PassProgress progress_;
  double started_ = 0;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_SOLO_WORK_H_
