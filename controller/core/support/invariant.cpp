#include "controller/core/support/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace trainyard::controller {

void DieOfBrokenInvariant(std::string_view message) {
  std::fprintf(stderr, "trainyard-controller: broken invariant: %.*s\n",
               static_cast<int>(message.size()), message.data());
  std::abort();
}

}  // namespace trainyard::controller
