// Parts of the archive that are the same in every database: the content of a job's rows, and the
// order of a page.
#ifndef TRAINYARD_CONTROLLER_STORE_ARCHIVE_ARCHIVE_ROWS_H_
#define TRAINYARD_CONTROLLER_STORE_ARCHIVE_ARCHIVE_ROWS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/v1/job_service.pb.h"
#include "trainyard/v1/snapshot.pb.h"

namespace trainyard::controller {

// The text that a search reads, in lower case.
std::string SoughtText(const v1::Job& job);

// The sort orders by figures of archived jobs. ETA is missing, because archived jobs have ended.
inline constexpr std::array kArchiveFigures{v1::JOB_ORDER_LOSS, v1::JOB_ORDER_BEST_LOSS,
                                            v1::JOB_ORDER_RATE, v1::JOB_ORDER_SLOTS,
                                            v1::JOB_ORDER_RESTARTS};

// The sort keys of the job, in the order of kArchiveFigures.
std::array<double, kArchiveFigures.size()> FigureKeysOf(const v1::Job& job);

// Blocks (block_codec.h) with the complete record of a job and with its time (JobTimeOf).
std::string SealRecord(const v1::ArchivedJob& archived);
std::string SealTime(const v1::Job& job);

// Return nullopt if the block is damaged or belongs to another job. `newest` is the negative job
// id.
std::optional<v1::ArchivedJob> OpenRecord(int64_t newest, std::string_view block);
std::optional<v1::JobTime> OpenTime(int64_t newest, std::string_view block);

// Returns the states that the request selects, or {0} for jobs of any state.
std::set<int> StatesOf(const v1::ListJobsRequest& request);

// Sorts the jobs of several scans, and removes all but the first `limit`.
void SortPage(const v1::ListJobsRequest& request, int limit, std::vector<v1::ArchivedJob>& jobs);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_ARCHIVE_ARCHIVE_ROWS_H_
