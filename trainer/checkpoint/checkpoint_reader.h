// Reads published checkpoints, regardless of the layout that wrote them.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_READER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_READER_H_

#include <torch/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "trainer/checkpoint/element_rows.h"
#include "trainer/checkpoint/stored_evaluation.h"

namespace trainyard::trainer {

struct LogicalTensor {
  torch::ScalarType dtype = torch::kFloat32;
  std::vector<int64_t> shape;
};

struct Manifest;      // In trainer/checkpoint/manifest.h.
struct StoredTensor;  // In trainer/checkpoint/manifest.h.

// The box of `shape` at `offset` of a logical tensor, and the sink for its elements.
struct BoxRequest {
  std::string name;
  std::vector<int64_t> offset;
  std::vector<int64_t> shape;
  ElementSink sink;
};

// All functions here throw TrainerError naming file and tensor: kBadCheckpoint if the checkpoint is
// missing, damaged or torn, kBadData if it lacks a requested tensor or box. Safe to read from
// several threads.
class CheckpointReader {
 public:
  // Reads the manifest and checks that every file exists with its full size.
  explicit CheckpointReader(const std::string& directory);
  ~CheckpointReader();
  CheckpointReader(const CheckpointReader&) = delete;
  CheckpointReader& operator=(const CheckpointReader&) = delete;

  int64_t step() const;
  int64_t attempt() const;
  const std::string& model_fingerprint() const;
  const nlohmann::json& trainer_state() const;
  const std::map<std::string, LogicalTensor>& tensors() const { return tensors_; }
  bool Has(const std::string& name) const { return tensors_.count(name) != 0; }
  // The complete description of the checkpoint, including byte positions.
  const std::string& directory() const { return directory_; }
  const Manifest& manifest() const { return *manifest_; }

  // Reads many boxes on several threads and passes elements to the sinks. Reads only the required
  // blocks and verifies the checksum of each. Checkpoints of earlier versions have one checksum per
  // chunk; their partly read chunks are not verified. Uses page-locked memory if the sinks copy to
  // a GPU. After an exception, only some elements may have been passed.
  void ReadBoxes(const std::vector<BoxRequest>& requests, torch::Device device) const;

 private:
  const StoredTensor& Find(const BoxRequest& request) const;

  const std::string directory_;
  std::unique_ptr<const Manifest> manifest_;
  std::map<std::string, LogicalTensor> tensors_;
};

struct PublishedCheckpoint {
  std::string path;
  int64_t step = 0;
  AttemptKey attempt;  // Attempt that published it.
  int64_t bytes = 0;
  StoredEvaluation evaluation;
};

// Published checkpoints in a directory, newest last: sorted by attempt, then by step, so that steps
// of a rolled-back timeline precede those of the attempt that replaced it. Skips directories
// without a readable manifest; `unreadable` gets the reason for each path. Empty if the directory
// does not exist.
std::vector<PublishedCheckpoint> ListCheckpoints(
    const std::string& directory, std::map<std::string, std::string>* unreadable = nullptr);
std::optional<PublishedCheckpoint> LatestCheckpoint(const std::string& directory);

// Reads every byte of a checkpoint. Returns its faults, one line each.
std::vector<std::string> VerifyCheckpoint(const std::string& checkpoint);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_READER_H_
