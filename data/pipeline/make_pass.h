// Makes the passes of a pipeline by name.
#ifndef TRAINYARD_DATA_PIPELINE_MAKE_PASS_H_
#define TRAINYARD_DATA_PIPELINE_MAKE_PASS_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "data/pipeline/pipeline.h"
#include "data/pipeline/step_pass.h"

namespace trainyard::data {

// Makes the pass of a name "<step>:<pass>". Returns InvalidArgument for an unknown name, and the
// errors of Plan::Make and of the files that the pass reads.
absl::StatusOr<std::unique_ptr<StepPass>> MakeNamedPass(const Pipeline& pipeline,
                                                        const std::string& name);

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_PIPELINE_MAKE_PASS_H_
