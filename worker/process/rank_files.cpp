#include "worker/process/rank_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "proto/support/durable_file.h"
#include "proto/support/status_macros.h"
#include "proto/support/status_text.h"

namespace trainyard::worker {
namespace {

using Json = nlohmann::json;

// The limit is large, because start.json contains up to 1,000 arguments and the whole environment.
constexpr std::size_t kMaxRecordBytes = 16 << 20;

absl::Status WriteRecord(const std::string& path, const Json& record) {
  // Replace invalid UTF-8 instead of failing. Texts were checked before, but a path need not be
  // UTF-8, and the record must be written in any case.
  return WriteFileAtomically(path,
                             record.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

// Reads typed fields of one record, and remembers whether all fields were present.
class RecordReader {
 public:
  explicit RecordReader(const Json& record) : record_(record) {}

  template <typename Value>
  void Integer(const char* key, Value& value) {
    const auto found = record_.find(key);
    if (found == record_.end() || !found->is_number_integer()) {
      complete_ = false;
    } else {
      value = found->template get<Value>();
    }
  }

  void Text(const char* key, std::string& value) {
    const auto found = record_.find(key);
    if (found == record_.end() || !found->is_string()) {
      complete_ = false;
    } else {
      value = found->get<std::string>();
    }
  }

  void Flag(const char* key, bool& value) {
    const auto found = record_.find(key);
    if (found == record_.end() || !found->is_boolean()) {
      complete_ = false;
    } else {
      value = found->get<bool>();
    }
  }

  // Returns `record` if every field was read; otherwise DATA_LOSS.
  template <typename Record>
  absl::StatusOr<Record> Finish(Record record, const std::string& path) const {
    if (complete_) return record;
    return absl::DataLossError(
        absl::StrCat(path, " lacks a field or has a field with an invalid value"));
  }

 private:
  const Json& record_;
  bool complete_ = true;
};

absl::StatusOr<Json> ReadRecord(const std::string& path) {
  const absl::StatusOr<UniqueFd> file = OpenRegularFile(path, O_RDONLY | O_NOFOLLOW);
  if (absl::IsFailedPrecondition(file.status())) return absl::DataLossError(Text(file.status()));
  TRAINYARD_RETURN_IF_ERROR(file.status());
  const absl::StatusOr<std::string> text = ReadSmallFile(*file, path, kMaxRecordBytes);
  if (absl::IsResourceExhausted(text.status())) return absl::DataLossError(Text(text.status()));
  TRAINYARD_RETURN_IF_ERROR(text.status());
  Json record = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) return absl::DataLossError(absl::StrCat(path, " is not a JSON object"));
  return record;
}

}  // namespace

std::string PathOf(const std::string& rank_dir, const char* name) {
  return absl::StrCat(rank_dir, "/", name);
}

absl::Status WriteRankCommand(const std::string& rank_dir, const RankCommand& command) {
  return WriteRecord(PathOf(rank_dir, kStartFile),
                     {{"argv", command.argv},
                      {"environment", command.environment},
                      {"working_directory", command.working_directory},
                      {"mark", command.mark},
                      {"processes_max", command.processes_max}});
}

absl::StatusOr<RankCommand> ReadRankCommand(const std::string& rank_dir) {
  const std::string path = PathOf(rank_dir, kStartFile);
  TRAINYARD_ASSIGN_OR_RETURN(const Json record, ReadRecord(path));
  RankCommand command;
  RecordReader reader(record);
  reader.Text("working_directory", command.working_directory);
  reader.Text("mark", command.mark);
  reader.Integer("processes_max", command.processes_max);
  const Json argv = record.value("argv", Json());
  const Json environment = record.value("environment", Json());
  if (!argv.is_array() || argv.empty() || !environment.is_object()) {
    return absl::DataLossError(absl::StrCat(path, " has no program or no environment"));
  }
  for (const Json& argument : argv) {
    if (!argument.is_string()) return absl::DataLossError(absl::StrCat(path, ": bad argv"));
    command.argv.push_back(argument.get<std::string>());
  }
  for (const auto& [name, value] : environment.items()) {
    if (!value.is_string()) return absl::DataLossError(absl::StrCat(path, ": bad environment"));
    command.environment[name] = value.get<std::string>();
  }
  return reader.Finish(std::move(command), path);
}

bool IsUnused(const std::string& rank_dir) {
  struct stat info = {};
  if (stat(rank_dir.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) return false;
  // The shim creates the output file first and then its own record. Check both, because either may
  // be lost.
  const std::string output = PathOf(rank_dir, kOutputFile);
  if (lstat(output.c_str(), &info) == 0 && S_ISREG(info.st_mode)) return false;
  for (const char* name : {kShimFile, kKillFile, kExitFile}) {
    if (lstat(PathOf(rank_dir, name).c_str(), &info) == 0) return false;
  }
  return true;
}

absl::Status WriteShimRecord(const std::string& rank_dir, const ShimRecord& record) {
  return WriteRecord(PathOf(rank_dir, kShimFile), {{"shim_pid", record.shim.pid},
                                                   {"shim_start_time", record.shim.start_time},
                                                   {"rank_pid", record.rank.pid},
                                                   {"rank_start_time", record.rank.start_time},
                                                   {"started_ms", record.started_ms},
                                                   {"boot_id", record.boot_id}});
}

absl::StatusOr<ShimRecord> ReadShimRecord(const std::string& rank_dir) {
  const std::string path = PathOf(rank_dir, kShimFile);
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadRecord(path));
  ShimRecord record;
  RecordReader reader(json);
  reader.Integer("shim_pid", record.shim.pid);
  reader.Integer("shim_start_time", record.shim.start_time);
  reader.Integer("rank_pid", record.rank.pid);
  reader.Integer("rank_start_time", record.rank.start_time);
  reader.Integer("started_ms", record.started_ms);
  reader.Text("boot_id", record.boot_id);
  return reader.Finish(std::move(record), path);
}

absl::Status WriteRankExit(const std::string& rank_dir, const RankExit& exit) {
  return WriteRecord(PathOf(rank_dir, kExitFile), {{"exit_code", exit.exit_code},
                                                   {"signal", exit.signal},
                                                   {"out_of_memory", exit.out_of_memory},
                                                   {"ended_ms", exit.ended_ms},
                                                   {"spawn_error", exit.spawn_error},
                                                   {"node_at_fault", exit.node_at_fault}});
}

absl::StatusOr<RankExit> ReadRankExit(const std::string& rank_dir) {
  const std::string path = PathOf(rank_dir, kExitFile);
  TRAINYARD_ASSIGN_OR_RETURN(const Json json, ReadRecord(path));
  RankExit exit;
  RecordReader reader(json);
  reader.Integer("exit_code", exit.exit_code);
  reader.Integer("signal", exit.signal);
  reader.Flag("out_of_memory", exit.out_of_memory);
  reader.Integer("ended_ms", exit.ended_ms);
  reader.Text("spawn_error", exit.spawn_error);
  // Shims of older versions do not write this field.
  if (json.contains("node_at_fault")) reader.Flag("node_at_fault", exit.node_at_fault);
  return reader.Finish(std::move(exit), path);
}

}  // namespace trainyard::worker
