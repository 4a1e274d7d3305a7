#include "controller/core/explain/finding_messages.h"

namespace trainyard::controller {

void AddFindings(const std::vector<planner::Finding>& findings,
                 google::protobuf::RepeatedPtrField<v1::RunFinding>& messages) {
  for (const planner::Finding& finding : findings) {
    v1::RunFinding& message = *messages.Add();
    message.set_what(finding.what);
    message.set_why(finding.why);
    message.set_change(finding.right);
  }
}

}  // namespace trainyard::controller
