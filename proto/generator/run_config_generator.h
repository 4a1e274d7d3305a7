// Writes proto/contract/run_config.h and the headers of its sections from job_spec.proto.
#ifndef TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_
#define TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_

#include <vector>

#include "proto/generator/sections.h"

namespace trainyard {

// One header per section with `read_by_trainer`, with its enums, its struct, and a function that
// visits its settings with key and rule; and run_config.h, which includes them all. A test compares
// them with the committed files, which exist because the trainer is also built where protobuf is
// not available.
std::vector<GeneratedFile> GenerateRunConfig();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_
