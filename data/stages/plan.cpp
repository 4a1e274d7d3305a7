#include "data/stages/plan.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "data/input/raw_block.h"
#include "data/input/system_error.h"
#include "data/stages/hash_text.h"
#include "data/stages/input_sources.h"
#include "proto/files/unique_fd.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

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

absl::StatusOr<PlanFile> Inspect(const InputFile& input, bool ignores_time) {
  PlanFile file = {input};
  const std::string& path = input.path;
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return SystemError("cannot open " + path, errno);
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return SystemError("cannot read " + path, errno);
  file.input.bytes = status.st_size;
  file.modified_ns = ignores_time ? kNoTime : ModifiedNs(status);
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

}  // namespace

absl::StatusOr<Plan> Plan::Make(const std::vector<InputFile>& files,
                                nlohmann::ordered_json settings, const PlanLimits& limits) {
  Plan plan;
  plan.settings_ = std::move(settings);
  plan.settings_["block_bytes"] = limits.block_bytes;
  plan.working_directory_ = WorkingDirectoryFor(files);
  for (const InputSource& source : SourcesOf(files)) {
    if (!source.plan.empty()) plan.runs_.push_back({source.directory, source.plan});
  }
  for (const InputFile& input : files) {
    TRAINYARD_ASSIGN_OR_RETURN(PlanFile file, Inspect(input, limits.ignores_times));
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

void Plan::MakePathsAbsolute() {
  for (PlanFile& file : files_) {
    // operator/ returns an absolute path unchanged.
    const std::filesystem::path path = std::filesystem::path(working_directory_) / file.input.path;
    file.input.path = path.lexically_normal().string();
  }
}

int64_t Plan::BytesOf(const PlanBlock& block) const {
  if (block.first_file + 1 == block.end_file) return block.range_end - block.range_begin;
  int64_t bytes = 0;
  for (size_t i = block.first_file; i < block.end_file; ++i) bytes += files_[i].input.bytes;
  return bytes;
}

absl::Status CheckUnchanged(const PlanFile& file) {
  struct stat status {};
  const std::string& path = file.input.path;
  if (stat(path.c_str(), &status) != 0) return SystemError("cannot read " + path, errno);
  const bool same_time = file.modified_ns == kNoTime || ModifiedNs(status) == file.modified_ns;
  if (status.st_size == file.input.bytes && same_time) {
    return absl::OkStatus();
  }
  return absl::DataLossError(path +
                             ": changed during the run; wait until the file is complete, then "
                             "start again with another output directory or --force");
}

}  // namespace trainyard::data
