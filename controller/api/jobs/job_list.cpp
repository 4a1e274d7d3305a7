#include "controller/api/jobs/job_list.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/api/jobs/job_view.h"
#include "controller/store/archive/job_archive.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr int kDefaultPage = 100;
constexpr int kLargestPage = 1000;
constexpr std::size_t kMaxTextBytes = 256;
// The maximum size of a page. The size is small enough for clients with gRPC's default message
// limit of 4 MiB.
constexpr std::size_t kPageBytes = 3 << 20;

absl::Status CheckListRequest(const v1::ListJobsRequest& request) {
  if (request.limit() < 0 || request.limit() > kLargestPage) {
    return absl::InvalidArgumentError(absl::StrCat("limit: must be from 0 to ", kLargestPage));
  }
  if (request.text().size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(absl::StrCat("text: at most ", kMaxTextBytes, " bytes"));
  }
  int64_t id = 0;
  if (!request.cursor().empty() && (!absl::SimpleAtoi(request.cursor(), &id) || id <= 0)) {
    return absl::InvalidArgumentError("cursor: not valid; use next_cursor of the previous page");
  }
  return absl::OkStatus();
}

int LimitOf(const v1::ListJobsRequest& request) {
  return request.limit() == 0 ? kDefaultPage : request.limit();
}

// Returns true if the filters of the request allow ended jobs. Only ended jobs are archived.
bool MayBeArchived(const v1::ListJobsRequest& request) {
  return request.states().empty() ||
         std::any_of(request.states().begin(), request.states().end(),
                     [](int state) { return HasEnded(static_cast<v1::JobState>(state)); });
}

bool OrdersByNumber(const v1::ListJobsRequest& request) {
  return request.order() == v1::JOB_ORDER_UNSPECIFIED || request.order() == v1::JOB_ORDER_NEWEST;
}

JobPlace PlaceNow(const v1::ListJobsRequest& request, const JobEntry& entry,
                  const ClusterView& view) {
  const auto observed = view.observations.progress.find(entry.job.id());
  const v1::Progress& progress =
      observed == view.observations.progress.end() ? entry.job.progress() : observed->second;
  const bool is_by_rate =
      request.order() == v1::JOB_ORDER_RATE || request.order() == v1::JOB_ORDER_ETA;
  // The list does not show outdated rates. Therefore a job with an outdated rate is sorted like a
  // job without a rate.
  if (is_by_rate && !HasShownRate(entry.job.state(), progress, view.now)) {
    return PlaceIn(request, entry.job, v1::Progress());
  }
  return PlaceIn(request, entry.job, progress);
}

int64_t CursorJob(const v1::ListJobsRequest& request) {
  int64_t id = 0;
  (void)absl::SimpleAtoi(request.cursor(), &id);
  return id;
}

bool IsBefore(const v1::ListJobsRequest& request, const JobPlace& a, const JobPlace& b) {
  return request.reverse() ? b < a : a < b;
}

struct Listed {
  JobPlace place;
  v1::Job job;
  std::optional<v1::PendingReason> pending;
};

// A page to which jobs are still being added.
struct Page {
  v1::ListJobsRequest request;
  // The place, in the sort order, of the job that the cursor names. That job is the last job of the
  // previous page, so this page begins after that job.
  std::optional<JobPlace> after;
  v1::ListJobsResponse response;
  std::vector<Listed> listed;
};

// Adds jobs of the state, beginning after the cursor. Adds up to one job more than the page may
// contain, to find out whether there is another page. Call on the loop thread.
void AddJobsOfState(const ClusterView& view, Page& page) {
  struct Candidate {
    JobPlace place;
    const JobEntry* entry = nullptr;
  };
  std::vector<Candidate> found;
  for (const auto& [id, entry] : view.state.jobs) {
    if (!PassesFilters(page.request, entry.job)) continue;
    page.response.set_total(page.response.total() + 1);
    Candidate one{PlaceNow(page.request, entry, view), &entry};
    if (!page.after.has_value() || IsBefore(page.request, *page.after, one.place)) {
      found.push_back(std::move(one));
    }
  }
  const auto needed = std::min(found.size(), static_cast<std::size_t>(LimitOf(page.request)) + 1);
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(needed), found.end(),
                    [&](const Candidate& a, const Candidate& b) {
                      return IsBefore(page.request, a.place, b.place);
                    });
  PendingExplainer explainer(view);
  for (std::size_t i = 0; i < needed; ++i) {
    page.listed.push_back({std::move(found[i].place), ListedJob(*found[i].entry, view),
                           WaitingReason(*found[i].entry, view, explainer)});
  }
  page.response.set_revision(view.revision);
  page.response.set_as_of_ms(view.now);
}

// Call on a reader thread.
absl::Status AddArchivedJobs(JobArchive& archive, Page& page) {
  TRAINYARD_ASSIGN_OR_RETURN(ArchivedPage archived,
                             archive.List(page.request, page.after, LimitOf(page.request) + 1));
  std::set<int64_t> known;
  for (const Listed& listed : page.listed) known.insert(listed.job.id());
  for (v1::ArchivedJob& one : archived.jobs) {
    v1::Job& job = *one.mutable_job();
    if (known.contains(job.id())) continue;
    JobPlace place = PlaceIn(page.request, job, job.progress());
    TrimForList(job);
    page.listed.push_back({std::move(place), std::move(job), std::nullopt});
  }
  std::ranges::sort(page.listed, [&](const Listed& a, const Listed& b) {
    return IsBefore(page.request, a.place, b.place);
  });
  page.response.set_total(page.response.total() + archived.total);
  return absl::OkStatus();
}

v1::ListJobsResponse Finish(Page& page) {
  v1::ListJobsResponse& response = page.response;
  std::size_t bytes = 0;
  for (Listed& listed : page.listed) {
    if (response.jobs_size() == LimitOf(page.request) || bytes > kPageBytes) {
      response.set_next_cursor(absl::StrCat(response.jobs().rbegin()->id()));
      break;
    }
    bytes += listed.job.ByteSizeLong();
    if (listed.pending.has_value()) {
      (*response.mutable_pending())[listed.job.id()] = *std::move(listed.pending);
    }
    *response.add_jobs() = std::move(listed.job);
  }
  return std::move(response);
}

using PageReply = Reply<v1::ListJobsResponse>;

// Queues `work` for a reader thread. If too much work is queued, replies with an error instead.
void OnReader(const Api& api, const PageReply& reply, std::function<void()> work) {
  if (!api.readers.TryPost(std::move(work))) reply(ReaderPool::Busy());
}

// Fills the page. If the request has a cursor, the cursor's place must be known. Call on the loop
// thread.
void FillPage(const Api& api, const std::shared_ptr<Page>& page, const PageReply& reply,
              const ClusterView& view) {
  AddJobsOfState(view, *page);
  JobArchive& archive = api.events.archive();
  if (!archive.HasJobs() || !MayBeArchived(page->request)) return reply(Finish(*page));
  OnReader(api, reply, [&archive, page, reply] {
    const absl::Status status = AddArchivedJobs(archive, *page);
    if (!status.ok()) return reply(status);
    reply(Finish(*page));
  });
}

// Finds the place of a cursor whose job is not in the state. If the job is not in the archive
// either, uses the job's place in the order by id. Call on a reader thread.
absl::Status FindPlaceInArchive(JobArchive& archive, Page& page) {
  const int64_t id = CursorJob(page.request);
  TRAINYARD_ASSIGN_OR_RETURN(const auto found, archive.Find(id));
  page.after = JobPlace{0, "", -id};
  if (!found.has_value()) return absl::OkStatus();
  page.after = PlaceIn(page.request, found->job(), found->job().progress());
  return absl::OkStatus();
}

// Call on the loop thread.
void BeginPage(const Api& api, const std::shared_ptr<Page>& page, const PageReply& reply,
               const ClusterView& view) {
  if (page->request.cursor().empty()) return FillPage(api, page, reply, view);
  const int64_t id = CursorJob(page->request);
  const JobEntry* entry = FindEntry(view.state, id);
  if (entry != nullptr || OrdersByNumber(page->request)) {
    page->after = entry == nullptr ? JobPlace{0, "", -id} : PlaceNow(page->request, *entry, view);
    return FillPage(api, page, reply, view);
  }
  OnReader(api, reply, [&api, page, reply] {
    const absl::Status status = FindPlaceInArchive(api.events.archive(), *page);
    if (!status.ok()) return reply(status);
    api.loop.Read([&api, page, reply](const ClusterView& now) { FillPage(api, page, reply, now); });
  });
}

}  // namespace

void handlers::ListJobs(const Api& api, const Principal& /*principal*/, v1::ListJobsRequest request,
                        Reply<v1::ListJobsResponse> reply) {
  if (const absl::Status status = CheckListRequest(request); !status.ok()) return reply(status);
  auto page = std::make_shared<Page>();
  page->request = std::move(request);
  api.loop.Read([&api, page, reply = std::move(reply)](const ClusterView& view) {
    BeginPage(api, page, reply, view);
  });
}

}  // namespace trainyard::controller
