#include "proto/rules/benchmark_settings.h"

namespace trainyard {

std::string BenchmarkSettingNote(const RunConfig& config) {
  if (!config.model.moe_router_force_load_balancing) return "";
  return "`model.moe_router_force_load_balancing` is for benchmarks only: tokens are assigned to "
         "experts by their place, not by the router. Remove it to train a model";
}

}  // namespace trainyard
