#include "worker/rank_streams.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "proto/contract/output_gap.h"
#include "proto/support/status_text.h"
#include "spdlog/spdlog.h"
#include "worker/core/processes.h"
#include "worker/spool/output_space.h"
#include "worker/tail/file_tail.h"
#include "worker/tail/telemetry_limits.h"
#include "worker/tail/telemetry_tail.h"

namespace trainyard::worker {
namespace {

constexpr std::size_t kLogChunkBytes = 256 << 10;
// Bytes without a record are sent as one empty batch, but only once there are at least this many.
// Otherwise the controller would make a commit for each line without a record, possibly thousands
// of commits per second.
constexpr int64_t kQuietBytes = 64 << 10;
// The number of bytes at the end of a file that are read after a restart of the worker. The newest
// records are enough to know step and phase.
constexpr int64_t kProgressTailBytes = 64 << 10;

struct FileFacts {
  int64_t size = 0;
  Timestamp modified_ms = 0;
};

// Returns all zeros if the path is not a regular file.
FileFacts Look(const GuardedPath& path) {
  const std::optional<struct stat> info = StatGuardedFile(path);
  if (!info.has_value()) return {};
  return {info->st_size, info->st_mtim.tv_sec * 1000 + info->st_mtim.tv_nsec / 1'000'000};
}

// Returns the start of the first line that begins at or after `offset`. Reading must not begin
// inside a line, because the second half of a line could be parsed as another step. Returns
// `offset` itself if no line ends within kMaxLineBytes.
int64_t NextLineStart(const GuardedPath& path, int64_t offset) {
  if (offset <= 0) return 0;
  const absl::StatusOr<TailBytes> bytes = ReadNewBytes(path, offset - 1, kMaxLineBytes + 1);
  const std::size_t end = bytes.ok() ? bytes->data.find_first_of("\r\n") : std::string::npos;
  return end == std::string::npos ? offset : offset + static_cast<int64_t>(end);
}

// The common base of a rank's sources: stream id, path, end of the stream, and logging of read
// errors.
class FileSource : public StreamSource {
 public:
  FileSource(v1::StreamId id, GuardedPath path, std::function<bool()> gone, const Clock& clock,
             std::shared_ptr<BrokenAt> broken)
      : path_(std::move(path)),
        clock_(clock),
        id_(std::move(id)),
        gone_(std::move(gone)),
        broken_(std::move(broken)) {}

  const v1::StreamId& id() const override { return id_; }
  bool Ended() const override { return gone_(); }

 protected:
  // Records the result of a read at the offset. Logs each cause only once, because reads are
  // repeated several times a second.
  void Note(int64_t offset, const absl::Status& status) {
    // RESOURCE_EXHAUSTED is temporary: descriptors or memory will be available again.
    const bool stays = !status.ok() && !absl::IsResourceExhausted(status);
    broken_->offset = stays ? std::optional<int64_t>(offset) : std::nullopt;
    if (std::exchange(last_complaint_, status) == status || status.ok()) return;
    spdlog::error("job {} attempt {} rank {}: {}", id_.job_id(), id_.attempt(), id_.rank(),
                  Text(status));
  }

  const GuardedPath path_;
  const Clock& clock_;

 private:
  const v1::StreamId id_;
  const std::function<bool()> gone_;
  const std::shared_ptr<BrokenAt> broken_;
  absl::Status last_complaint_;
};

class LogSource : public FileSource {
 public:
  using FileSource::FileSource;

  std::optional<Piece> Read(int64_t offset) override {
    const int64_t dropped = FirstKeptByte(path_) - offset;
    if (dropped > 0) {
      return PieceOf(offset, FillGap(std::min<int64_t>(dropped, kLogChunkBytes)));
    }
    absl::StatusOr<TailBytes> bytes = ReadNewBytes(path_, offset, kLogChunkBytes);
    Note(offset, bytes.status());
    if (!bytes.ok() || bytes->data.empty()) return std::nullopt;
    return PieceOf(offset, std::move(bytes->data));
  }

 private:
  Piece PieceOf(int64_t offset, std::string data) const {
    Piece piece;
    piece.end_offset = offset + static_cast<int64_t>(data.size());
    v1::LogChunk& chunk = *piece.message.mutable_log();
    *chunk.mutable_stream() = id();
    chunk.set_begin_offset(offset);
    chunk.set_data(std::move(data));
    chunk.set_time_ms(clock_.Now());
    return piece;
  }
};

// Returns batches of telemetry records, parsed from telemetry lines or, with a parser, from lines
// of the output. `rank` and `flight` records are left out, because heartbeats contain the newest
// ones.
class TelemetrySource : public FileSource {
 public:
  TelemetrySource(v1::StreamId id, GuardedPath path, std::function<bool()> gone, const Clock& clock,
                  std::shared_ptr<BrokenAt> broken, std::shared_ptr<RecordTail> tail)
      : FileSource(std::move(id), std::move(path), std::move(gone), clock, std::move(broken)),
        tail_(std::move(tail)) {}

  std::optional<Piece> Read(int64_t offset) override {
    if (std::exchange(quiet_from_, offset) != offset) quiet_until_ = offset;
    const bool ended = Ended();
    absl::StatusOr<v1::TelemetryBatch> batch =
        tail_->ReadForStream(quiet_until_, ended, clock_.Read());
    Note(offset, batch.status());
    if (!batch.ok() || batch->end_offset() == offset) return std::nullopt;
    DropRecordsOfHeartbeats(*batch);
    limits_.Apply(*batch);
    SetMissingTimes(clock_.Now(), *batch);
    batch->set_begin_offset(offset);
    const bool is_quiet = batch->records().empty() && batch->bad_lines() == 0;
    if (is_quiet && !ended && batch->end_offset() - offset < kQuietBytes) {
      quiet_until_ = batch->end_offset();
      return std::nullopt;
    }
    Piece piece;
    piece.end_offset = batch->end_offset();
    *batch->mutable_stream() = id();
    *piece.message.mutable_telemetry() = *std::move(batch);
    return piece;
  }

 private:
  // Alerts without a time, which occur in batches without other records, get the time `now`.
  static void SetMissingTimes(Timestamp now, v1::TelemetryBatch& batch) {
    for (v1::TelemetryRecord& record : *batch.mutable_records()) {
      if (record.time_ms() == 0) record.set_time_ms(now);
    }
  }

  static void DropRecordsOfHeartbeats(v1::TelemetryBatch& batch) {
    auto& records = *batch.mutable_records();
    const auto kept = std::remove_if(records.begin(), records.end(), [](const auto& record) {
      return record.has_rank() || record.has_flight();
    });
    records.erase(kept, records.end());
  }

  const std::shared_ptr<RecordTail> tail_;
  TelemetryLimits limits_;
  // The bytes from quiet_from_ to quiet_until_ were already read and contain no record to send.
  // They are not read again.
  int64_t quiet_from_ = 0;
  int64_t quiet_until_ = 0;
};

// Returns true if log_parser reads the output of the process with this first rank.
bool ReadsMetrics(const v1::StartAttempt& attempt, int rank) {
  const v1::LogParserSpec& spec = attempt.spec().log_parser();
  const bool none =
      spec.kind() == v1::LOG_PARSER_KIND_UNSPECIFIED || spec.kind() == v1::LOG_PARSER_KIND_NONE;
  return !none && rank == FirstRankBeside(attempt, ParsedRank(spec, attempt.world_size()));
}

// Returns nullptr if the output of the process with this first rank is not parsed. The output of a
// launcher is always parsed, because it may report restarts of its ranks.
std::shared_ptr<const LogParser> ParserFor(const v1::StartAttempt& attempt, int rank) {
  const v1::LogParserSpec& spec = attempt.spec().log_parser();
  const bool is_launcher = RanksBeside(attempt, rank).size() > 1;
  std::unique_ptr<LogParser> parser;
  if (ReadsMetrics(attempt, rank)) {
    absl::StatusOr<std::unique_ptr<LogParser>> made = MakeLogParser(spec, attempt.world_size());
    if (made.ok()) {
      parser = *std::move(made);
    } else {
      spdlog::error("job {}: log_parser: {}", attempt.job_id(), Text(made.status()));
    }
  }
  if (is_launcher && parser == nullptr) parser = MakeLauncherParser();
  if (is_launcher) parser->ReadOnlyRank(ParsedRank(spec, attempt.world_size()), rank);
  return parser;
}

// Returns a tail that starts at the first complete line in the last kProgressTailBytes bytes of the
// file.
std::shared_ptr<RecordTail> MakeTail(const GuardedPath& path, RecordTail::Parse parse,
                                     std::shared_ptr<RankAccount> account) {
  const int64_t begin = NextLineStart(path, Look(path).size - kProgressTailBytes);
  return std::make_shared<RecordTail>(path, std::move(parse), begin, std::move(account));
}

}  // namespace

RankStreams::RankStreams(const v1::StartAttempt& attempt, const RankKey& key, Paths paths,
                         std::function<bool()> gone, const Clock& clock)
    : key_(key),
      output_path_(std::move(paths.output)),
      telemetry_path_(std::move(paths.telemetry)),
      gone_(std::move(gone)),
      clock_(clock),
      parser_(ParserFor(attempt, key.rank)),
      reads_metrics_(ReadsMetrics(attempt, key.rank)),
      first_match_(output_path_),
      account_(std::make_shared<RankAccount>()),
      telemetry_(MakeTail(telemetry_path_, ReadTelemetry, account_)) {
  if (parser_ == nullptr) return;
  const auto parse = [parser = parser_](const TailPosition& position) {
    return ReadParsedLog(position, *parser);
  };
  parsed_output_ = MakeTail(output_path_, parse, account_);
}

v1::StreamId RankStreams::Id(v1::StreamKind kind) const {
  v1::StreamId id;
  id.set_job_id(key_.attempt.job_id);
  id.set_attempt(key_.attempt.number);
  id.set_rank(key_.rank);
  id.set_kind(kind);
  return id;
}

std::vector<std::unique_ptr<StreamSource>> RankStreams::MakeSources() const {
  std::vector<std::unique_ptr<StreamSource>> sources;
  sources.push_back(std::make_unique<TelemetrySource>(Id(v1::STREAM_KIND_TELEMETRY),
                                                      telemetry_path_, gone_, clock_,
                                                      broken_telemetry_, telemetry_));
  sources.push_back(std::make_unique<LogSource>(Id(v1::STREAM_KIND_LOG), output_path_, gone_,
                                                clock_, broken_output_));
  if (parser_ != nullptr) {
    sources.push_back(std::make_unique<TelemetrySource>(Id(v1::STREAM_KIND_PARSED_LOG),
                                                        output_path_, gone_, clock_, broken_parsed_,
                                                        parsed_output_));
  }
  return sources;
}

void RankStreams::Report(v1::RankReport& report) {
  ReadProgress();
  report.set_step(account_->step());
  report.set_phase(account_->phase());
  report.set_unmatched_lines(first_match_.unmatched_lines());
  if (account_->newest().ByteSizeLong() > 0) *report.mutable_newest() = account_->newest();
  report.set_last_activity_ms(
      std::max(Look(telemetry_path_).modified_ms, Look(output_path_).modified_ms));
}

int64_t RankStreams::ReadStep() {
  ReadProgress();
  return account_->step();
}

void RankStreams::ReadProgress() {
  telemetry_->ReadForAccount(gone_(), clock_.Read());
  if (parser_ == nullptr) return;
  parsed_output_->ReadForAccount(gone_(), clock_.Read());
  if (!reads_metrics_) return;
  if (parsed_output_->has_metrics()) first_match_.Found();
  first_match_.ReadOn(*parser_, FirstKeptByte(output_path_), gone_());
}

v1::StreamEnd RankStreams::EndOf(v1::StreamKind kind, const GuardedPath& path,
                                 const BrokenAt& broken) const {
  v1::StreamEnd end;
  *end.mutable_stream() = Id(kind);
  const int64_t size = Look(path).size;
  end.set_end_offset(std::min(size, broken.offset.value_or(size)));
  return end;
}

std::vector<v1::StreamEnd> RankStreams::Ends() const {
  std::vector<v1::StreamEnd> ends;
  ends.push_back(EndOf(v1::STREAM_KIND_TELEMETRY, telemetry_path_, *broken_telemetry_));
  ends.push_back(EndOf(v1::STREAM_KIND_LOG, output_path_, *broken_output_));
  if (parser_ == nullptr) return ends;
  ends.push_back(EndOf(v1::STREAM_KIND_PARSED_LOG, output_path_, *broken_parsed_));
  return ends;
}

}  // namespace trainyard::worker
