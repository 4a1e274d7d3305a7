#include "data/pipeline/solo_work.h"

#include "data/pipeline/step_pass.h"

namespace trainyard::data {

SoloWork::SoloWork(const RunContext& context, const PipelineStep& step, Phase phase)
    : context_(context), step_(step), before_(context.telemetry->phase()) {
  progress_.step = IndexOf(context.pipeline, step) + 1;
  progress_.steps = context.pipeline.steps.size();
  context_.telemetry->EnterPhase(phase);
}

SoloWork::~SoloWork() {
  context_.progress->Stop();
  context_.telemetry->EnterPhase(before_);
}

void SoloWork::Start(const std::string& part, int64_t bytes) {
  context_.progress->Stop();
  context_.progress->Start(step_.name + ", " + part, bytes);
  progress_.bytes = 0;
  progress_.total_bytes = bytes;
  started_ = context_.progress->Seconds();
  context_.telemetry->WriteMetrics(progress_);
}

void SoloWork::Advance(int64_t bytes) {
  progress_.bytes += bytes;
  context_.progress->Advance(bytes);
  // The input of a pass was counted when the pass read it.
  if (!context_.telemetry->Advance(0)) return;
  progress_.seconds = context_.progress->Seconds() - started_;
  context_.telemetry->WriteMetrics(progress_);
}

}  // namespace trainyard::data
