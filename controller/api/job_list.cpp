#include "controller/api/job_list.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/api/job_view.h"

namespace trainyard::controller {
namespace {

constexpr int kDefaultPage = 100;
constexpr int kLargestPage = 1000;
constexpr std::size_t kMaxTextBytes = 256;
// A page is cut here, so that a client with gRPC's default limit of 4 MiB can read it.
constexpr std::size_t kPageBytes = 3 << 20;

// Key by which jobs are sorted; among equal keys the newest job comes first.
using SortKey = std::tuple<double, std::string, int64_t>;

struct Listed {
  SortKey key;
  const JobEntry* entry = nullptr;
};

// Share of the steps that is done, from 0 to 1.
double PartDone(const JobEntry& entry, const ClusterView& view) {
  const auto progress = view.observations.progress.find(entry.job.id());
  if (progress == view.observations.progress.end()) return 0;
  const int64_t total = progress->second.total_steps();
  return total <= 0 ? 0 : static_cast<double>(progress->second.step()) / static_cast<double>(total);
}

SortKey KeyOf(v1::JobOrder order, const JobEntry& entry, const ClusterView& view) {
  const v1::Job& job = entry.job;
  const int64_t newest_first = -job.id();
  switch (order) {
    case v1::JOB_ORDER_NAME:
      return {0, job.name(), newest_first};
    case v1::JOB_ORDER_USER:
      return {0, job.user(), newest_first};
    case v1::JOB_ORDER_STATE:
      return {job.state(), "", newest_first};
    case v1::JOB_ORDER_PROGRESS:
      return {-PartDone(entry, view), "", newest_first};
    case v1::JOB_ORDER_ENDED:
      return {job.ended_time_ms() == 0 ? -1e18 : -static_cast<double>(job.ended_time_ms()), "",
              newest_first};
    default:
      return {0, "", newest_first};
  }
}

bool HoldsText(const v1::Job& job, const std::string& lower) {
  const auto holds = [&](const std::string& text) {
    return absl::StrContains(absl::AsciiStrToLower(text), lower);
  };
  return holds(absl::StrCat(job.id())) || holds(job.name()) || holds(job.user()) ||
         holds(job.spec().description());
}

bool Matches(const v1::ListJobsRequest& request, const std::string& lower_text,
             const v1::Job& job) {
  if (!request.user().empty() && request.user() != job.user()) return false;
  if (!request.name().empty() && request.name() != job.name()) return false;
  if (!request.states().empty() && std::find(request.states().begin(), request.states().end(),
                                             job.state()) == request.states().end()) {
    return false;
  }
  return lower_text.empty() || HoldsText(job, lower_text);
}

absl::Status CheckListRequest(const v1::ListJobsRequest& request) {
  if (request.limit() < 0 || request.limit() > kLargestPage) {
    return absl::InvalidArgumentError(absl::StrCat("limit: 0 to ", kLargestPage));
  }
  if (request.text().size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(absl::StrCat("text: at most ", kMaxTextBytes, " bytes"));
  }
  int64_t id = 0;
  if (!request.cursor().empty() && (!absl::SimpleAtoi(request.cursor(), &id) || id <= 0)) {
    return absl::InvalidArgumentError("cursor: use next_cursor of the page before");
  }
  return absl::OkStatus();
}

// Key of the job that the cursor names, the last one of the page before. The next page begins after
// the present place of that job.
SortKey KeyOfCursor(const v1::ListJobsRequest& request, const ClusterView& view) {
  int64_t id = 0;
  const bool is_number = absl::SimpleAtoi(request.cursor(), &id);
  const JobEntry* entry = is_number ? FindEntry(view.state, id) : nullptr;
  if (entry == nullptr) return {0, "", -id};
  return KeyOf(request.order(), *entry, view);
}

void AddListed(const JobEntry& entry, const ClusterView& view, PendingExplainer& explainer,
               v1::ListJobsResponse& response) {
  *response.add_jobs() = ListedJob(entry, view);
  if (auto reason = WaitingReason(entry, view, explainer)) {
    (*response.mutable_pending())[entry.job.id()] = *std::move(reason);
  }
}

void FillPage(std::vector<Listed> after, int limit, const ClusterView& view,
              v1::ListJobsResponse& response) {
  PendingExplainer explainer(view.state, view.now);
  std::size_t bytes = 0;
  for (const Listed& listed : after) {
    if (response.jobs_size() == limit || bytes > kPageBytes) {
      response.set_next_cursor(absl::StrCat(response.jobs().rbegin()->id()));
      return;
    }
    AddListed(*listed.entry, view, explainer, response);
    bytes += response.jobs().rbegin()->ByteSizeLong();
  }
}

}  // namespace

absl::StatusOr<v1::ListJobsResponse> JobPage(const v1::ListJobsRequest& request,
                                             const ClusterView& view) {
  if (const absl::Status status = CheckListRequest(request); !status.ok()) return status;
  const std::string lower_text = absl::AsciiStrToLower(request.text());
  const auto before = [&](const SortKey& a, const SortKey& b) {
    return request.reverse() ? b < a : a < b;
  };
  const SortKey cursor = KeyOfCursor(request, view);
  v1::ListJobsResponse response;
  std::vector<Listed> after;
  for (const auto& [id, entry] : view.state.jobs) {
    if (!Matches(request, lower_text, entry.job)) continue;
    response.set_total(response.total() + 1);
    Listed listed{KeyOf(request.order(), entry, view), &entry};
    if (request.cursor().empty() || before(cursor, listed.key)) after.push_back(std::move(listed));
  }
  const int limit = request.limit() == 0 ? kDefaultPage : request.limit();
  const auto needed = std::min(after.size(), static_cast<std::size_t>(limit) + 1);
  std::partial_sort(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(needed), after.end(),
                    [&](const Listed& a, const Listed& b) { return before(a.key, b.key); });
  after.resize(needed);
  FillPage(std::move(after), limit, view, response);
  response.set_revision(view.revision);
  response.set_as_of_ms(view.now);
  return response;
}

void handlers::ListJobs(const Api& api, v1::ListJobsRequest request,
                        Reply<v1::ListJobsResponse> reply) {
  api.loop.Read([request = std::move(request), reply = std::move(reply)](const ClusterView& view) {
    reply(JobPage(request, view));
  });
}

}  // namespace trainyard::controller
