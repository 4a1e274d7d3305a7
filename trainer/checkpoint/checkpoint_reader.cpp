#include "trainer/checkpoint/checkpoint_reader.h"

#include <torch/types.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <utility>

#include "trainer/checkpoint/block_reads.h"
#include "trainer/checkpoint/chunk_reader.h"
#include "trainer/checkpoint/durable_file.h"
#include "trainer/checkpoint/manifest.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

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
  ReadBytes(path, 0, file.header_bytes, "its header", header.data());
  if (XXH64(header.data(), header.size(), 0) != file.header_xxh64) {
    ThrowDamaged(path, "the checksum of its header does not match");
  }
}

Manifest ReadManifest(const std::string& directory) {
  const std::string path = directory + "/" + kManifestName;
  if (FileBytes(path) < 0) {
    const bool is_there = access(directory.c_str(), F_OK) == 0;
    std::string reason = "there is no such directory";
    if (is_there) {
      reason = std::filesystem::is_directory(directory)
                   ? std::string("it has no readable ") + kManifestName
                   : "it is not a directory";
    }
    throw TrainerError(ExitCode::kBadCheckpoint, directory + " is not a checkpoint: " + reason +
                                                     "; name a directory such as checkpoints/" +
                                                     StepDirectoryName(100));
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

const StoredTensor& CheckpointReader::Find(const BoxRequest& request) const {
  const auto found = manifest_->entries.tensors.find(request.name);
  if (found == manifest_->entries.tensors.end()) {
    throw TrainerError(ExitCode::kBadData, directory_ + " has no tensor " + request.name +
                                               ", so it is a checkpoint of another model");
  }
  const StoredTensor& stored = found->second;
  if (!IsInside({request.offset, request.shape}, stored.shape)) {
    throw TrainerError(ExitCode::kBadData,
                       "tensor " + request.name + " of " + directory_ + " has shape " +
                           ToText(stored.shape) + ", but this run needs shape " +
                           ToText(request.shape) + " at offset " + ToText(request.offset) +
                           ", so it is a checkpoint of another model");
  }
  return stored;
}

void CheckpointReader::ReadBoxes(const std::vector<BoxRequest>& requests,
                                 torch::Device device) const {
  BlockReads reads(directory_, device);
  for (const BoxRequest& request : requests) {
    reads.Add(request.name, Find(request), {request.offset, request.shape}, &request.sink);
  }
  reads.Run();
}

std::vector<PublishedCheckpoint> ListCheckpoints(const std::string& directory,
                                                 std::map<std::string, std::string>* unreadable) {
  std::vector<PublishedCheckpoint> checkpoints;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind("step_", 0) != 0 || name.find('.') != std::string::npos) continue;
    const std::string path = entry->path().string();
    try {
      const Manifest manifest = ReadManifest(path);
      int64_t bytes = FileBytes(path + "/" + kManifestName);
      for (const auto& [_, file] : manifest.entries.files) bytes += file.bytes;
      checkpoints.push_back(
          {path, manifest.step, manifest.attempt, bytes, EvaluationIn(manifest.trainer_state)});
    } catch (const TrainerError& error) {
      // The checkpoint is unpublished or damaged, so a run cannot resume from it.
      if (unreadable != nullptr) (*unreadable)[path] = error.what();
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
  BlockReads reads(checkpoint, torch::kCPU);
  for (const auto& [name, tensor] : manifest.entries.tensors) {
    reads.Add(name, tensor, {Extents(tensor.shape.size(), 0), tensor.shape}, nullptr);
  }
  for (std::string& fault : reads.Faults()) faults.push_back(std::move(fault));
  return faults;
}

}  // namespace trainyard::trainer
