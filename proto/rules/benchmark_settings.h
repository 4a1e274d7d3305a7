// Settings that are for measurements and spoil what a model learns.
#ifndef TRAINYARD_PROTO_RULES_BENCHMARK_SETTINGS_H_
#define TRAINYARD_PROTO_RULES_BENCHMARK_SETTINGS_H_

#include <string>

#include "proto/contract/run_config.h"

namespace trainyard {

// Returns a note for the user who submits or plans the run; empty if the run has no such setting.
std::string BenchmarkSettingNote(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_BENCHMARK_SETTINGS_H_
