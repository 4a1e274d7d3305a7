// Writes proto/contract/run_config.h and the headers of its sections from job_spec.proto.
#ifndef TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_
#define TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_

#include <vector>

#include "proto/generator/sections.h"

namespace trainyard {

// Generates one header per section that has `read_by_trainer`. It contains the section's enums, its
// struct, and a function that visits its settings with key and rule. Generates run_config.h, too,
// which includes all of them. A test compares the results with the committed files. The files are
// committed because the trainer is also built where protobuf is not available.
std::vector<GeneratedFile> GenerateRunConfig();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_
