#include "data/stages/plan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "data/input/raw_block.h"
#include "data/input/system_error.h"
#include "data/stages/hash_text.h"
#include "proto/files/unique_fd.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;
constexpr size_t kSampleBytes = 64 << 10;

int64_t ModifiedNs(const struct stat& status) {
  return static_cast<int64_t>(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
}

absl::StatusOr<uint64_t> HashOfRange(int fd, const std::string& path, int64_t begin, size_t bytes) {
  std::string sample(bytes, '\0');
  for (size_t done = 0; done < bytes;) {
    const ssize_t got = pread(fd, sample.data() + done, bytes - done,
                              static_cast<off_t>(begin) + static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SystemError("cannot read " + path, errno);
    if (got == 0) {
      return absl::DataLossError(path + ": became shorter; wait until the file is complete");
    }
    done += static_cast<size_t>(got);
  }
  return HashOf(sample);
}

absl::StatusOr<PlanFile> Inspect(const InputFile& input) {
  PlanFile file = {input};
  const std::string& path = input.path;
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("cannot open " + path, errno);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return SystemError("cannot read " + path, errno);
  file.input.bytes = status.st_size;
  file.modified_ns = ModifiedNs(status);
  const size_t bytes = std::min<uint64_t>(kSampleBytes, static_cast<uint64_t>(status.st_size));
  TRAINYARD_ASSIGN_OR_RETURN(file.head_hash, HashOfRange(fd.get(), path, 0, bytes));
  TRAINYARD_ASSIGN_OR_RETURN(
      file.tail_hash,
      HashOfRange(fd.get(), path, status.st_size - static_cast<int64_t>(bytes), bytes));
  return file;
}

absl::Status CheckDocumentLength(const InputFile& file) {
  const bool is_document = !HasLines(file.kind) && file.compression == Compression::kNone;
  if (!is_document || static_cast<uint64_t>(file.bytes) <= ReadLimits().document_bytes_max) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      file.path +
      ": larger than 256 MiB, but a file of plain text is one document; divide it into documents, "
      "for example as .jsonl with one object per line, or omit it");
}

// A path need not be UTF-8.
std::string Dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json FileJson(const PlanFile& file) {
  return {{"path", file.input.path},
          {"bytes", file.input.bytes},
          {"modified_ns", file.modified_ns},
          {"head_xxh64", HashText(file.head_hash)},
          {"tail_xxh64", HashText(file.tail_hash)}};
}

}  // namespace

absl::StatusOr<Plan> Plan::Make(const std::vector<InputFile>& files, Json settings,
                                const PlanLimits& limits) {
  Plan plan;
  plan.settings_ = std::move(settings);
  plan.settings_["block_bytes"] = limits.block_bytes;
  for (const InputFile& input : files) {
    TRAINYARD_ASSIGN_OR_RETURN(PlanFile file, Inspect(input));
    TRAINYARD_RETURN_IF_ERROR(CheckDocumentLength(file.input));
    plan.files_.push_back(std::move(file));
  }
  plan.AddBlocks(limits);
  return plan;
}

void Plan::AddBlocks(const PlanLimits& limits) {
  int64_t shared_bytes = 0;
  bool shares = false;  // whether the last block consists of whole small files
  for (size_t i = 0; i < files_.size(); ++i) {
    const InputFile& file = files_[i].input;
    const bool small = file.compression == Compression::kNone && file.bytes < limits.block_bytes;
    if (small && shares && shared_bytes + file.bytes <= limits.block_bytes &&
        i - blocks_.back().first_file < limits.files_per_block) {
      blocks_.back().end_file = i + 1;
      blocks_.back().range_end = file.bytes;
      shared_bytes += file.bytes;
      continue;
    }
    AddBlocksOfFile(i, limits);
    shares = small;
    shared_bytes = file.bytes;
  }
}

void Plan::AddBlocksOfFile(size_t file, const PlanLimits& limits) {
  const InputFile& input = files_[file].input;
  const bool can_divide = input.compression == Compression::kNone && HasLines(input.kind);
  int64_t begin = 0;
  do {
    const int64_t end =
        can_divide ? std::min(input.bytes, begin + limits.block_bytes) : input.bytes;
    blocks_.push_back({file, file + 1, begin, end});
    begin = end;
  } while (begin < input.bytes);
}

int64_t Plan::BytesOf(const PlanBlock& block) const {
  if (block.first_file + 1 == block.end_file) return block.range_end - block.range_begin;
  int64_t bytes = 0;
  for (size_t i = block.first_file; i < block.end_file; ++i) bytes += files_[i].input.bytes;
  return bytes;
}

std::string Plan::ToJson() const {
  // The first line identifies the directory of a run (data/input/input_files.cpp).
  std::string text = std::string("{") + kPlanMark +
                     ",\n\"version\": " + std::to_string(kFormatVersion) +
                     ",\n\"settings\": " + Dump(settings_) + ",\n\"files\": [";
  const char* separator = "\n";
  for (const PlanFile& file : files_) {
    text += separator + Dump(FileJson(file));
    separator = ",\n";
  }
  text += "],\n\"blocks\": [";
  separator = "\n";
  for (const PlanBlock& block : blocks_) {
    text += separator +
            Dump(Json({block.first_file, block.end_file, block.range_begin, block.range_end}));
    separator = ",\n";
  }
  return text + "]}\n";
}

std::string Plan::Hash() const { return HashText(HashOf(ToJson())); }

absl::Status CheckUnchanged(const PlanFile& file) {
  struct stat status {};
  const std::string& path = file.input.path;
  if (stat(path.c_str(), &status) != 0) return SystemError("cannot read " + path, errno);
  if (status.st_size == file.input.bytes && ModifiedNs(status) == file.modified_ns) {
    return absl::OkStatus();
  }
  return absl::DataLossError(path +
                             ": changed during the run; wait until the file is complete, then "
                             "start again with another output directory or --force");
}

namespace {

// Collects a few changes and counts the rest.
class Changes {
 public:
  void Add(const std::string& change) {
    if (++count_ <= kNamed) text_ += (text_.empty() ? "" : ", ") + change;
  }
  std::string Text() const {
    if (count_ <= kNamed) return text_;
    return text_ + ", and " + std::to_string(count_ - kNamed) + " more changes";
  }
  bool empty() const { return count_ == 0; }

 private:
  static constexpr int kNamed = 3;
  std::string text_;
  int count_ = 0;
};

// Keyed by path.
nlohmann::json FilesOf(const nlohmann::json& plan) {
  nlohmann::json files = nlohmann::json::object();
  for (const auto& file : plan.at("files")) files[file.at("path").get<std::string>()] = file;
  return files;
}

// Returns up to 100 bytes of `text` from shortly before `difference`.
std::string Excerpt(const std::string& text, size_t difference) {
  constexpr size_t kContext = 20;
  constexpr size_t kBytes = 100;
  const size_t begin = difference > kContext ? difference - kContext : 0;
  const std::string start = begin > 0 ? "..." : "";
  return start + text.substr(begin, kBytes) + (text.size() - begin > kBytes ? "..." : "");
}

// `name`: keys separated by dots.
void CompareSettings(const std::string& name, const nlohmann::json& before,
                     const nlohmann::json& now, Changes* changes) {
  if (before == now) return;
  if (!before.is_object() || !now.is_object()) {
    const std::string old_text = before.dump(-1, ' ', true);
    const std::string new_text = now.dump(-1, ' ', true);
    const auto [end, ignored] =
        std::mismatch(old_text.begin(), old_text.end(), new_text.begin(), new_text.end());
    const auto difference = static_cast<size_t>(end - old_text.begin());
    changes->Add("setting " + name + " was " + Excerpt(old_text, difference) + " and is now " +
                 Excerpt(new_text, difference));
    return;
  }
  const std::string prefix = name.empty() ? "" : name + ".";
  for (const auto& [key, value] : now.items()) {
    CompareSettings(prefix + key, before.value(key, nlohmann::json()), value, changes);
  }
  for (const auto& [key, value] : before.items()) {
    if (!now.contains(key)) changes->Add("setting " + prefix + key + " is now absent");
  }
}

void CompareFiles(const nlohmann::json& before, const nlohmann::json& now, Changes* changes) {
  for (const auto& [path, file] : now.items()) {
    const auto found = before.find(path);
    if (found == before.end()) {
      changes->Add("input " + path + " is new");
    } else if (*found != file) {
      changes->Add("input " + path + " has changed");
    }
  }
  for (const auto& [path, file] : before.items()) {
    if (!now.contains(path)) changes->Add("input " + path + " is missing");
  }
}

}  // namespace

std::string PlanChanges(const std::string& before, const std::string& now) {
  const auto old_plan = nlohmann::json::parse(before, nullptr, false);
  const auto new_plan = nlohmann::json::parse(now, nullptr, false);
  Changes changes;
  try {
    if (old_plan.at("version") != new_plan.at("version")) changes.Add("its format has changed");
    CompareSettings("", old_plan.at("settings"), new_plan.at("settings"), &changes);
    CompareFiles(FilesOf(old_plan), FilesOf(new_plan), &changes);
  } catch (const nlohmann::json::exception&) {
    return "its plan.json is damaged";
  }
  return changes.empty() ? "its blocks have changed" : changes.Text();
}

}  // namespace trainyard::data
