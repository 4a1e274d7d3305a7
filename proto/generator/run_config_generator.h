// Writes proto/contract/run_config.h and the headers of its sections from job_spec.proto.
#ifndef TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_
#define TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_

#include <vector>

#include "proto/generator/sections.h"

namespace trainyard {

// Generates run_config.h and the headers that it includes, one per section that has
// `read_by_trainer`. A section's header contains its enums, its struct, and a function that visits
// each setting with its key and rule. A test compares the results with the committed files, which
// exist because the trainer is also built where protobuf is not available.
std::vector<GeneratedFile> GenerateRunConfig();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_
