#include "trainer/checkpoint/checkpoint_reader.h"

#include <fcntl.h>
#include <torch/types.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>

#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

// Reads byte ranges of one file. Short stretches are served from a window that reads ahead, so that
// a slice of narrow rows does not cost a system call a row.
class RangeReader {
 public:
  explicit RangeReader(std::string path) : path_(std::move(path)) {
    file_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0) ThrowDamaged(path_, std::string("cannot open: ") + std::strerror(errno));
  }
  ~RangeReader() { close(file_); }
  RangeReader(const RangeReader&) = delete;
  RangeReader& operator=(const RangeReader&) = delete;

  // Bytes [begin, begin + count); nothing at or after `limit` is read ahead.
  void Read(int64_t begin, int64_t count, int64_t limit, char* out) {
    if (count >= kWindowBytes / 4) return ReadExactly(begin, count, out);
    if (begin < window_begin_ || begin + count > window_end_) {
      window_.resize(kWindowBytes);
      window_begin_ = begin;
      window_end_ = std::min(begin + kWindowBytes, limit);
      ReadExactly(window_begin_, window_end_ - window_begin_, window_.data());
    }
    std::memcpy(out, window_.data() + (begin - window_begin_), static_cast<size_t>(count));
  }

 private:
  static constexpr int64_t kWindowBytes = 256 * 1024;

  void ReadExactly(int64_t begin, int64_t count, char* out) {
    constexpr int64_t kBytesPerCall = int64_t{1} << 30;
    while (count > 0) {
      const ssize_t got = pread(file_, out, std::min(count, kBytesPerCall), begin);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) ThrowDamaged(path_, std::string("cannot read: ") + std::strerror(errno));
      if (got == 0) ThrowDamaged(path_, "it is cut short");
      begin += got;
      count -= got;
      out += got;
    }
  }

  const std::string path_;
  int file_ = -1;
  std::vector<char> window_;
  int64_t window_begin_ = 0;
  int64_t window_end_ = 0;
};

void CheckSum(const StoredChunk& chunk, const std::string& tensor, const std::string& path,
              const char* bytes) {
  if (XXH64(bytes, static_cast<size_t>(chunk.end - chunk.begin), 0) == chunk.xxh64) return;
  ThrowDamaged(path, "the checksum of tensor " + tensor + " (bytes " + std::to_string(chunk.begin) +
                         " to " + std::to_string(chunk.end) + ") does not match");
}

// One request: a box of a logical tensor and where its elements go.
struct Target {
  const std::string& name;
  const Box& box;
  int64_t element_bytes;
  char* out;
};

void CopyWholeChunk(const StoredChunk& chunk, const std::string& path, const Target& target) {
  const int64_t bytes = chunk.end - chunk.begin;
  RangeReader reader(path);
  const bool same = chunk.box.offset == target.box.offset && chunk.box.shape == target.box.shape;
  std::vector<char> apart(same ? 0 : static_cast<size_t>(bytes));
  char* place = same ? target.out : apart.data();
  reader.Read(chunk.begin, bytes, chunk.end, place);
  CheckSum(chunk, target.name, path, place);
  if (same) return;
  ForEachRun(chunk.box, chunk.box, target.box, [&](int64_t from, int64_t to, int64_t elements) {
    std::memcpy(target.out + to * target.element_bytes, place + from * target.element_bytes,
                static_cast<size_t>(elements * target.element_bytes));
  });
}

void CopyPartOfChunk(const StoredChunk& chunk, const Box& part, const std::string& path,
                     const Target& target) {
  RangeReader reader(path);
  ForEachRun(part, chunk.box, target.box, [&](int64_t from, int64_t to, int64_t elements) {
    reader.Read(chunk.begin + from * target.element_bytes, elements * target.element_bytes,
                chunk.end, target.out + to * target.element_bytes);
  });
}

void CheckFileSize(const std::string& path, const StoredFile& file) {
  const int64_t bytes = FileBytes(path);
  if (bytes < 0) ThrowDamaged(path, "it is missing or not a regular file");
  if (bytes != file.bytes) {
    ThrowDamaged(path, "it has " + std::to_string(bytes) + " bytes instead of " +
                           std::to_string(file.bytes));
  }
}

void CheckHeader(const std::string& path, const StoredFile& file) {
  std::vector<char> header(static_cast<size_t>(file.header_bytes));
  RangeReader(path).Read(0, file.header_bytes, file.header_bytes, header.data());
  if (XXH64(header.data(), header.size(), 0) != file.header_xxh64) {
    ThrowDamaged(path, "the checksum of its header does not match");
  }
}

Manifest ReadManifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifestName;
  if (FileBytes(path) < 0) {
    throw TrainerError(ExitCode::kBadCheckpoint,
                       directory + " is not a checkpoint: it has no readable " + kManifestName);
  }
  return ManifestFromText(ReadFile(path, ExitCode::kBadCheckpoint), path);
}

}  // namespace

CheckpointReader::CheckpointReader(const std::string& directory)
    : directory_(directory), manifest_(new Manifest(ReadManifest(directory))) {
  for (const auto& [name, file] : manifest_->entries.files) {
    CheckFileSize(directory_ + "/" + name, file);
  }
  for (const auto& [name, tensor] : manifest_->entries.tensors) {
    tensors_[name] = {tensor.dtype, tensor.shape};
  }
}

CheckpointReader::~CheckpointReader() = default;

int64_t CheckpointReader::step() const { return manifest_->step; }
int64_t CheckpointReader::attempt() const { return manifest_->attempt.number; }
const std::string& CheckpointReader::model_fingerprint() const {
  return manifest_->model_fingerprint;
}
const nlohmann::json& CheckpointReader::trainer_state() const { return manifest_->trainer_state; }

torch::Tensor CheckpointReader::Read(const std::string& name, const std::vector<int64_t>& offset,
                                     const std::vector<int64_t>& shape) const {
  const auto found = manifest_->entries.tensors.find(name);
  if (found == manifest_->entries.tensors.end()) {
    throw TrainerError(ExitCode::kBadData, directory_ + " has no tensor " + name +
                                               ": it is a checkpoint of another model");
  }
  const StoredTensor& stored = found->second;
  const Box box = {offset, shape};
  if (!IsInside(box, stored.shape)) {
    throw TrainerError(ExitCode::kBadData,
                       "tensor " + name + " of " + directory_ + " has shape " +
                           ToText(stored.shape) + ", which does not hold offset " + ToText(offset) +
                           " shape " + ToText(shape) + ": it is a checkpoint of another model");
  }
  torch::Tensor result = torch::empty(shape, torch::TensorOptions().dtype(stored.dtype));
  const Target target = {name, box, static_cast<int64_t>(result.element_size()),
                         static_cast<char*>(result.data_ptr())};
  for (const StoredChunk& chunk : stored.chunks) {
    const std::optional<Box> part = Intersect(chunk.box, box);
    if (!part) continue;
    const std::string path = directory_ + "/" + chunk.file;
    if (part->shape == chunk.box.shape) {
      CopyWholeChunk(chunk, path, target);
    } else {
      CopyPartOfChunk(chunk, *part, path, target);
    }
  }
  return result;
}

torch::Tensor CheckpointReader::ReadAll(const std::string& name) const {
  const auto found = tensors_.find(name);
  const size_t dimensions = found == tensors_.end() ? 0 : found->second.shape.size();
  return Read(name, std::vector<int64_t>(dimensions, 0),
              found == tensors_.end() ? std::vector<int64_t>() : found->second.shape);
}

std::vector<PublishedCheckpoint> ListCheckpoints(const std::string& directory) {
  std::vector<PublishedCheckpoint> checkpoints;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind("step_", 0) != 0 || name.find('.') != std::string::npos) continue;
    try {
      const std::string path = entry->path().string();
      const Manifest manifest = ReadManifest(path);
      int64_t bytes = FileBytes(path + "/" + kManifestName);
      for (const auto& [_, file] : manifest.entries.files) bytes += file.bytes;
      checkpoints.push_back({path, manifest.step, manifest.attempt, bytes});
    } catch (const TrainerError&) {
      // Not published, or damaged: a run cannot resume from it.
    }
  }
  std::sort(checkpoints.begin(), checkpoints.end(),
            [](const PublishedCheckpoint& a, const PublishedCheckpoint& b) {
              return std::tie(a.attempt, a.step) < std::tie(b.attempt, b.step);
            });
  return checkpoints;
}

std::optional<PublishedCheckpoint> LatestCheckpoint(const std::string& directory) {
  const std::vector<PublishedCheckpoint> checkpoints = ListCheckpoints(directory);
  if (checkpoints.empty()) return std::nullopt;
  return checkpoints.back();
}

std::vector<std::string> VerifyCheckpoint(const std::string& checkpoint) {
  std::vector<std::string> faults;
  const auto attempt = [&faults](const auto& check) {
    try {
      check();
    } catch (const TrainerError& error) {
      faults.push_back(error.what());
    }
  };
  Manifest manifest;
  attempt([&] { manifest = ReadManifest(checkpoint); });
  for (const auto& [name, file] : manifest.entries.files) {
    const std::string path = checkpoint + "/" + name;
    attempt([&, &file = file] {
      CheckFileSize(path, file);
      CheckHeader(path, file);
    });
  }
  for (const auto& [name, tensor] : manifest.entries.tensors) {
    for (const StoredChunk& chunk : tensor.chunks) {
      const std::string path = checkpoint + "/" + chunk.file;
      attempt([&, &name = name] {
        std::vector<char> bytes(static_cast<size_t>(chunk.end - chunk.begin));
        RangeReader(path).Read(chunk.begin, chunk.end - chunk.begin, chunk.end, bytes.data());
        CheckSum(chunk, name, path, bytes.data());
      });
    }
  }
  return faults;
}

}  // namespace trainyard::trainer
