#include "worker/tail/checkpoint_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/files/durable_file.h"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"

namespace trainyard::worker {
namespace {

std::string LineOf(const nlohmann::json& object) {
  // A path may contain bytes that are not UTF-8.
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

bool EndsInsideALine(int fd) {
  struct stat info {};
  char last = '\n';
  return fstat(fd, &info) == 0 && info.st_size > 0 && pread(fd, &last, 1, info.st_size - 1) == 1 &&
         last != '\n';
}

}  // namespace

std::string CheckpointLine(const v1::CheckpointRecord& record, Timestamp time_ms) {
  nlohmann::json object = {{telemetry::kType, telemetry::kCheckpoint},
                           {telemetry::kTimeMs, time_ms},
                           {telemetry::kStep, record.step()},
                           {telemetry::kPath, record.path()},
                           {telemetry::kAttempt, record.attempt()}};
  if (record.deleted()) {
    object[telemetry::kDeleted] = true;
  } else {
    object[telemetry::kBytes] = record.bytes();
  }
  return LineOf(object);
}

std::string AlertLine(const v1::AlertRecord& record, Timestamp time_ms) {
  return LineOf({{telemetry::kType, telemetry::kAlert},
                 {telemetry::kTimeMs, time_ms},
                 {telemetry::kStep, record.step()},
                 {telemetry::kCode, record.code()},
                 {telemetry::kMessage, record.message()}});
}

absl::Status AppendTelemetry(const GuardedPath& path, const std::string& lines, bool ended) {
  TRAINYARD_ASSIGN_OR_RETURN(const UniqueFd fd, OpenGuarded(path, O_RDWR | O_APPEND));
  const bool is_inside = EndsInsideALine(fd.get());
  if (is_inside && !ended) {
    return absl::UnavailableError(absl::StrCat(path.text(), " ends inside a line"));
  }
  const FileResult written =
      WriteAll(fd.get(), is_inside ? absl::StrCat("\n", lines) : lines, path.text());
  return ToStatus(written);
}

}  // namespace trainyard::worker
