#include "controller/api/records/log_pages.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "controller/api/jobs/named_job.h"
#include "controller/core/support/text.h"
#include "controller/core/verdict/line_level.h"
#include "proto/contract/limits.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/jobspec/rules/launch_shape.h"
#include "proto/support/job_state.h"
#include "proto/support/status_macros.h"

namespace trainyard::controller {
namespace {

constexpr std::size_t kMaxGrepBytes = 4096;
constexpr int kDefaultLines = 500;
constexpr int kMaxLines = 5000;

// Returns the attempt's number of ranks. For attempt_number 0, returns the largest number of ranks
// of any attempt or, before the first attempt, the number in the spec. NOT_FOUND: there is no such
// attempt.
absl::StatusOr<int> CountRanks(const v1::Job& job, int64_t attempt_number) {
  int ranks = 0;
  bool known = attempt_number == 0;
  for (const v1::Attempt& attempt : job.attempts()) {
    // Old attempts are stored without their ranks.
    if (attempt.number() == attempt_number && attempt.ranks_size() > 0) return attempt.ranks_size();
    known |= attempt.number() == attempt_number;
    ranks = std::max(ranks, attempt.ranks_size());
  }
  if (!known) {
    return absl::NotFoundError(absl::StrCat("job ", job.id(), " has no attempt ", attempt_number,
                                            "; so far, the job has had ",
                                            Counted(job.attempts_size(), "attempt")));
  }
  if (ranks != 0) return ranks;
  return WorldSize(job.spec());
}

std::string CursorText(const LogPosition& position) {
  return absl::StrCat(position.attempt, ".", position.time_ms, ".", position.rank, ".",
                      position.offset);
}

absl::StatusOr<LogPosition> ParseLogCursor(const std::string& cursor) {
  const std::vector<std::string> parts = absl::StrSplit(cursor, '.');
  LogPosition position;
  if (parts.size() == 4 && absl::SimpleAtoi(parts[0], &position.attempt) &&
      absl::SimpleAtoi(parts[1], &position.time_ms) && absl::SimpleAtoi(parts[2], &position.rank) &&
      absl::SimpleAtoi(parts[3], &position.offset)) {
    return position;
  }
  return absl::InvalidArgumentError(
      "cursor: not valid; use older_cursor or newer_cursor of an earlier page");
}

LogPosition PositionOf(const v1::LogLine& line) {
  return {line.attempt(), line.time_ms(), line.rank(), line.offset()};
}

absl::StatusOr<LogPageQuery> ToPageQuery(const v1::ReadLogPageRequest& request,
                                         const v1::Job& job) {
  LogPageQuery query;
  TRAINYARD_ASSIGN_OR_RETURN(query.lines,
                             ToLogQuery(job, {request.ranks().begin(), request.ranks().end()},
                                        request.attempt(), request.grep()));
  SetLineConditions(request, query.lines);
  if (request.limit() < 0 || request.limit() > kMaxLines) {
    return absl::InvalidArgumentError(absl::StrCat("limit: must be from 0 to ", kMaxLines));
  }
  query.limit = request.limit() == 0 ? kDefaultLines : request.limit();
  query.newer = request.direction() == v1::LOG_DIRECTION_NEWER;
  const int places = (request.cursor().empty() ? 0 : 1) + (request.has_offset() ? 1 : 0) +
                     (request.has_time_ms() ? 1 : 0);
  if (places > 1) {
    return absl::InvalidArgumentError("set only one of cursor, offset and time");
  }
  if (!request.cursor().empty()) {
    TRAINYARD_ASSIGN_OR_RETURN(query.from, ParseLogCursor(request.cursor()));
  } else if (request.has_time_ms()) {
    query.from = LogPosition{0, request.time_ms(), -1, -1};
  } else if (request.has_offset()) {
    if (request.ranks_size() != 1 || request.attempt() == 0 || request.offset() < 0) {
      return absl::InvalidArgumentError(
          "offset is a position in the output of one rank; set attempt, and set ranks to that "
          "rank");
    }
    query.from_offset = request.offset();
  }
  return query;
}

// Call on a reader thread.
absl::StatusOr<v1::ReadLogPageResponse> ReadPage(const Api& api, const LogPageQuery& query,
                                                 bool include_partial) {
  TRAINYARD_ASSIGN_OR_RETURN(LogPage page, api.logs.ReadPage(query, include_partial));
  v1::ReadLogPageResponse response;
  if (!page.lines.empty()) {
    if (page.more_before) response.set_older_cursor(CursorText(PositionOf(page.lines.front())));
    response.set_newer_cursor(CursorText(PositionOf(page.lines.back())));
  } else if (query.from.has_value()) {
    response.set_newer_cursor(CursorText(*query.from));
    if (query.newer) response.set_older_cursor(CursorText(*query.from));
  } else {
    // The position before the first line.
    response.set_newer_cursor(CursorText({0, 0, -1, -1}));
  }
  response.set_at_end(!page.more_after);
  for (v1::LogLine& line : page.lines) {
    response.add_levels(LevelOf(line.text()));
    *response.add_lines() = std::move(line);
  }
  for (const auto& [stream, bytes] : page.extents) {
    v1::LogExtent& extent = *response.add_extents();
    extent.set_attempt(stream.attempt);
    extent.set_rank(stream.rank);
    extent.set_bytes(bytes);
  }
  return response;
}

}  // namespace

ReaderPool& PoolFor(const Api& api, const LogQuery& query) {
  return IsSearch(query) ? api.searchers : api.readers;
}

absl::StatusOr<LogQuery> ToLogQuery(const v1::Job& job, const std::vector<int>& ranks,
                                    int64_t attempt_number, const std::string& grep) {
  if (ranks.size() > kMaxRanks) {
    return absl::InvalidArgumentError(absl::StrCat("ranks: at most ", kMaxRanks));
  }
  if (grep.size() > kMaxGrepBytes) {
    return absl::InvalidArgumentError(absl::StrCat("grep: at most ", kMaxGrepBytes, " bytes"));
  }
  if (attempt_number < 0) return absl::InvalidArgumentError("attempt must not be negative");
  TRAINYARD_ASSIGN_OR_RETURN(const int rank_count, CountRanks(job, attempt_number));
  std::vector<int> streams;
  for (const int rank : ranks) {
    if (rank < 0 || rank >= rank_count) {
      return absl::NotFoundError(absl::StrCat("job ", job.id(), " has no rank ", rank,
                                              "; its ranks are 0 to ", rank_count - 1));
    }
    // The output of a launcher contains the output of all its ranks.
    const int stream = FirstRankOfProcess(job.spec(), rank);
    if (std::ranges::find(streams, stream) == streams.end()) streams.push_back(stream);
  }
  return LogQuery{.job_id = job.id(), .ranks = streams, .attempt = attempt_number, .grep = grep};
}

void handlers::ReadLogPage(const Api& api, const Principal& /*principal*/,
                           v1::ReadLogPageRequest request, Reply<v1::ReadLogPageResponse> reply) {
  const std::string job = request.job();
  ReadJob(api, job,
          [&api, request = std::move(request), reply = std::move(reply)](const auto& entry,
                                                                         const ClusterView& view) {
            if (!entry.ok()) return reply(entry.status());
            auto query = ToPageQuery(request, (*entry)->job);
            if (!query.ok()) return reply(query.status());
            const bool ended = HasEnded((*entry)->job.state());
            const bool complete = ended && api.output_complete(**entry, view);
            ReaderPool& pool = PoolFor(api, query->lines);
            const bool queued = pool.TryPost([&api, query = *std::move(query), complete, reply] {
              auto response = ReadPage(api, query, complete);
              if (response.ok()) response->set_complete(complete && response->at_end());
              reply(std::move(response));
            });
            if (!queued) reply(ReaderPool::Busy());
          });
}

}  // namespace trainyard::controller
