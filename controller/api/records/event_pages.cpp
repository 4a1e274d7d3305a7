// Pages of events, newest first.
#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "controller/api/jobs/job_handlers.h"
#include "controller/api/jobs/named_job.h"

namespace trainyard::controller {
namespace {

constexpr int kDefaultEventPage = 100;
constexpr int kLargestEventPage = 1000;

absl::StatusOr<uint64_t> ParseEventCursor(const std::string& cursor) {
  if (cursor.empty()) return 0;
  uint64_t before = 0;
  if (!absl::SimpleAtoi(cursor, &before) || before == 0) {
    return absl::InvalidArgumentError("cursor: not valid; use next_cursor of the previous page");
  }
  return before;
}

// Call on a reader thread.
absl::StatusOr<v1::ListEventsResponse> ReadEventPage(const Api& api, int64_t job_id, int limit,
                                                     uint64_t before) {
  // Read one entry more than requested, to find out whether this is the last page.
  auto entries = api.events.ReadEventsBefore(job_id, before, limit + 1);
  if (!entries.ok()) return entries.status();
  v1::ListEventsResponse response;
  if (static_cast<int>(entries->size()) > limit) {
    entries->resize(static_cast<std::size_t>(limit));
    response.set_next_cursor(absl::StrCat(entries->back().sequence()));
  }
  for (v1::EventEntry& entry : *entries) {
    *response.add_events() = std::move(entry);
  }
  return response;
}

}  // namespace

void handlers::ListEvents(const Api& api, const Principal& /*principal*/,
                          v1::ListEventsRequest request, Reply<v1::ListEventsResponse> reply) {
  const auto before = ParseEventCursor(request.cursor());
  if (!before.ok()) return reply(before.status());
  if (request.limit() < 0 || request.limit() > kLargestEventPage) {
    return reply(
        absl::InvalidArgumentError(absl::StrCat("limit: must be from 0 to ", kLargestEventPage)));
  }
  const int limit = request.limit() == 0 ? kDefaultEventPage : request.limit();
  const auto read_page = [&api, limit, before = *before, reply](int64_t job_id,
                                                                const ClusterView& view) {
    const bool queued = api.readers.TryPost(
        [&api, job_id, limit, before, revision = view.revision, now = view.now, reply] {
          auto response = ReadEventPage(api, job_id, limit, before);
          if (response.ok()) {
            response->set_revision(revision);
            response->set_as_of_ms(now);
          }
          reply(std::move(response));
        });
    if (!queued) reply(ReaderPool::Busy());
  };
  if (request.job().empty()) {
    return api.loop.Read([read_page](const ClusterView& view) { read_page(0, view); });
  }
  ReadJob(api, request.job(), [read_page, reply](const auto& entry, const ClusterView& view) {
    if (!entry.ok()) return reply(entry.status());
    read_page((*entry)->job.id(), view);
  });
}

}  // namespace trainyard::controller
