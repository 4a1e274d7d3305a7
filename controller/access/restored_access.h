// What a restored controller means for those who have access to it.
#ifndef TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_
#define TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_

#include <string>

namespace trainyard::controller {

// Whether clients and workers of before the loss are still admitted, and the next step where they
// are not: a backup holds no token. `token_file`: of the restored controller.
std::string RestoredAccessText(const std::string& token_file);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_ACCESS_RESTORED_ACCESS_H_
