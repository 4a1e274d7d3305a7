#include "controller/core/state/gang_shape.h"

namespace trainyard::controller {

GangShape ShapeOf(const v1::JobSpec& spec) {
  const v1::ResourcesSpec& resources = spec.resources();
  return {resources.nodes() + spec.restart().spares(), resources.slots_per_node(),
          resources.device()};
}

GangShape ShapeWithoutSpares(const v1::JobSpec& spec) {
  GangShape shape = ShapeOf(spec);
  shape.nodes = spec.resources().nodes();
  return shape;
}

}  // namespace trainyard::controller
