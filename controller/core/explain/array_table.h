// The table of results of an array.
#ifndef TRAINYARD_CONTROLLER_CORE_EXPLAIN_ARRAY_TABLE_H_
#define TRAINYARD_CONTROLLER_CORE_EXPLAIN_ARRAY_TABLE_H_

#include "absl/status/statusor.h"
#include "controller/core/schedule/cluster_view.h"
#include "controller/core/state/cluster_state.h"
#include "trainyard/v1/job_service.pb.h"

namespace trainyard::controller {

// The maximum number of rows in one response.
inline constexpr int kMaxArrayRows = 10'000;

// Returns the requested page of the table: the elements that are or were jobs, or could not become
// jobs. Losses are the newest ones of live jobs, and the last ones of ended jobs. Settings are
// computed only for the rows of the page. `array` may be archived. INVALID_ARGUMENT: the page is
// out of range. FAILED_PRECONDITION: the job is not an array.
absl::StatusOr<v1::GetArrayResponse> ArrayTable(const ClusterView& view, const JobEntry& array,
                                                const v1::GetArrayRequest& request);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_CORE_EXPLAIN_ARRAY_TABLE_H_
