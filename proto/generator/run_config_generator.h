// Writes proto/contract/run_config.h from job_spec.proto.
#ifndef TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_
#define TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_

#include <string>

namespace trainyard {

// The whole header: enums, one struct per section with `read_by_trainer`, and functions that visit
// their settings with key and rule. A test compares it with the committed file, which exists
// because the trainer is also built where protobuf is not available.
std::string GenerateRunConfig();

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_GENERATOR_RUN_CONFIG_GENERATOR_H_
