#include "controller/core/state/attempts/gang_request.h"

#include "proto/jobspec/fields/node_range.h"

namespace trainyard::controller {

GangRequest GangRequestOf(const v1::JobSpec& spec) {
  const v1::ResourcesSpec& resources = spec.resources();
  const bool elastic = IsElastic(spec);
  return {.min_nodes = elastic              ? spec.min_nodes()
                       : spec.auto_layout() ? 1
                                            : resources.nodes(),
          .nodes = resources.nodes(),
          .max_nodes = resources.nodes() + spec.restart().spares(),
          .slots_per_node = resources.slots_per_node(),
          .kind = resources.device(),
          .auto_layout = spec.auto_layout(),
          .elastic = elastic,
          .host = {.cpus = resources.cpus_per_rank(), .memory_bytes = resources.memory_per_rank()}};
}

}  // namespace trainyard::controller
