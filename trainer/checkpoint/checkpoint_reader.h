// Reads published checkpoints, independently of the layout with which they were written.
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

// Requests a box of a logical tensor. `offset` and `shape` define the box; `sink` receives its
// elements.
struct BoxRequest {
  std::string name;
  std::vector<int64_t> offset;
  std::vector<int64_t> shape;
  ElementSink sink;
};

// Reads one checkpoint. All functions throw a TrainerError that names the file and the tensor:
// kBadCheckpoint if the checkpoint is missing, damaged or incomplete; kBadData if it lacks a
// requested tensor or box. Several threads may read concurrently.
class CheckpointReader {
 public:
  // Reads the manifest, and checks that every file exists and has its full size.
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
  const std::string& directory() const { return directory_; }
  const Manifest& manifest() const { return *manifest_; }

  // Reads many boxes on several threads and passes their elements to the sinks. Reads only the
  // blocks that are needed, and verifies the checksum of each block. A checkpoint of an earlier
  // version has only one checksum per chunk. If only a part of such a chunk is needed, this part is
  // not verified. Uses page-locked memory if the sinks copy to a GPU. After an exception, the sinks
  // may have received only some of the elements.
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
  AttemptKey attempt;  // The attempt that published it.
  int64_t bytes = 0;
  StoredEvaluation evaluation;
};

// Returns the published checkpoints in a directory, sorted by attempt and then by step, newest
// last. Attempts are compared first, so the checkpoints of a rolled-back attempt precede those of
// the attempt that replaced it. Skips directories without a readable manifest and stores the reason
// for each path in `unreadable`. Returns an empty list if the directory does not exist.
std::vector<PublishedCheckpoint> ListCheckpoints(
    const std::string& directory, std::map<std::string, std::string>* unreadable = nullptr);
std::optional<PublishedCheckpoint> LatestCheckpoint(const std::string& directory);

// Reads every byte of a checkpoint. Returns the faults found, one line each.
std::vector<std::string> VerifyCheckpoint(const std::string& checkpoint);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_READER_H_
