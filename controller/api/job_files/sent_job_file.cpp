#include "controller/api/job_files/sent_job_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "proto/jobspec/loader.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr int kMaxOverrides = 1000;

template <typename Request>
absl::Status CheckSent(const Request& request) {
  if (request.job_file().empty()) {
    if (request.overrides().empty()) return absl::OkStatus();
    return absl::InvalidArgumentError("overrides: allowed only with job_file");
  }
  if (request.has_spec()) {
    return absl::InvalidArgumentError("set either spec or job_file, not both");
  }
  // The file's size is not checked here, because the job-file reader rejects too large files with
  // an error that names the limit.
  return CheckOverrides(request.overrides_size());
}

// Replaces the job file in the request with the spec that it describes. Returns the origins of the
// spec's values.
template <typename Request>
absl::StatusOr<std::vector<v1::Origin>> Resolve(const Api& api, Request& request) {
  TRAINYARD_ASSIGN_OR_RETURN(
      ResolvedSpec resolved,
      ResolveJobFile(kSentJobFile, {request.overrides().begin(), request.overrides().end()},
                     SentJobFileReader(request.job_file(), api.recipe_directories)));
  request.clear_job_file();
  request.clear_overrides();
  *request.mutable_spec() = std::move(resolved.spec);
  std::vector<v1::Origin> origins;
  for (const auto& [key, source] : resolved.origins) {
    v1::Origin& origin = origins.emplace_back();
    origin.set_key(key);
    origin.set_source(source);
  }
  return origins;
}

// Resolves the job file on a reader thread. Parsing YAML takes milliseconds, or longer for a large
// file, and must not block the threads of gRPC or HTTP.
template <typename Request>
void ResolveOnReader(const Api& api, Request request,
                     std::function<void(Request, std::vector<v1::Origin>)> next,
                     const std::function<void(const absl::Status&)>& refuse) {
  if (const absl::Status status = CheckSent(request); !status.ok()) return refuse(status);
  if (request.job_file().empty()) return next(std::move(request), {});
  const bool queued = api.readers.TryPost([&api, request, next, refuse]() mutable {
    auto origins = Resolve(api, request);
    // For a recipe that does not exist, the error is NOT_FOUND. Return INVALID_ARGUMENT instead,
    // because the job file is wrong.
    if (!origins.ok()) return refuse(absl::InvalidArgumentError(origins.status().message()));
    next(std::move(request), *std::move(origins));
  });
  if (!queued) refuse(ReaderPool::Busy());
}

}  // namespace

absl::Status CheckOverrides(int count) {
  if (count <= kMaxOverrides) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("overrides: at most ", kMaxOverrides));
}

void ResolveSubmit(const Api& api, v1::SubmitJobRequest request,
                   std::function<void(v1::SubmitJobRequest)> next,
                   std::function<void(const absl::Status&)> refuse) {
  ResolveOnReader<v1::SubmitJobRequest>(
      api, std::move(request),
      [next = std::move(next)](v1::SubmitJobRequest resolved, std::vector<v1::Origin> origins) {
        for (v1::Origin& origin : origins) *resolved.add_origins() = std::move(origin);
        next(std::move(resolved));
      },
      refuse);
}

void ResolvePlan(const Api& api, v1::PlanJobRequest request,
                 std::function<void(v1::PlanJobRequest, std::vector<v1::Origin>)> next,
                 std::function<void(const absl::Status&)> refuse) {
  ResolveOnReader<v1::PlanJobRequest>(api, std::move(request), std::move(next), refuse);
}

}  // namespace trainyard::controller
