// Reads published checkpoints, whatever layout wrote them.
#ifndef TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_READER_H_
#define TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_READER_H_

#include <torch/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "proto/contract/attempt_key.h"
#include "trainer/checkpoint/stored_evaluation.h"

namespace trainyard::trainer {

struct LogicalTensor {
  torch::ScalarType dtype = torch::kFloat32;
  std::vector<int64_t> shape;
};

struct Manifest;      // trainer/checkpoint/manifest.h
struct StoredTensor;  // likewise

// Elements of a box that are read at once: element [r, i] of `rows` has number first + r * stride +
// i of the box in row-major order. A part of a matrix that was stored in parts has gaps there.
struct ElementRows {
  int64_t first = 0;
  int64_t stride = 0;
  torch::Tensor rows;  // [n, length], on a CPU, of the stored dtype; may have gaps between rows.

  // Numbers from the first to behind the last one.
  int64_t span() const { return (rows.size(0) - 1) * stride + rows.size(1); }
  // The same elements of a tensor of one dimension whose element 0 is number `first`.
  torch::Tensor PlacesIn(const torch::Tensor& flat) const {
    return flat.as_strided(rows.sizes(), {stride, 1}, flat.storage_offset());
  }
};

// The rows on a device. One copy, with the gaps: many small ones take longer.
torch::Tensor RowsOn(const ElementRows& elements, torch::Device device);

// Gets elements of a box, which are gone after the call. Each element comes once, and several
// threads call at once, for different elements.
using ElementSink = std::function<void(const ElementRows& elements)>;

// The box of `shape` at `offset` of a logical tensor, and where its elements go.
struct BoxRequest {
  std::string name;
  std::vector<int64_t> offset;
  std::vector<int64_t> shape;
  ElementSink sink;
};

// Errors of every function here are TrainerErrors that name file and tensor: kBadCheckpoint when
// the checkpoint is missing, damaged or torn; kBadData when it lacks a requested tensor or box.
// Safe to read from several threads.
class CheckpointReader {
 public:
  // Reads the manifest and checks that every file is there with its full size.
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
  // All that the checkpoint says of itself, with the places of its bytes.
  const std::string& directory() const { return directory_; }
  const Manifest& manifest() const { return *manifest_; }

  // The box of `shape` at `offset` of the logical tensor, as a CPU tensor of the stored dtype.
  // Reads only the blocks that it needs and compares each with its checksum. Checkpoints of earlier
  // versions have one checksum a chunk: there a chunk that is read in part is not checked.
  torch::Tensor Read(const std::string& name, const std::vector<int64_t>& offset,
                     const std::vector<int64_t>& shape) const;
  torch::Tensor ReadAll(const std::string& name) const;

  // Reads many boxes at once: threads of its own read and check blocks and give them to the sinks,
  // through page-locked memory where the sinks copy to a GPU. After an exception some elements are
  // there and some are not.
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
  AttemptKey attempt;  // that published it
  int64_t bytes = 0;
  StoredEvaluation evaluation;
};

// Published checkpoints in a checkpoint directory, newest last: by attempt, then by step, so that
// steps of a timeline that was rolled back come before those of the attempt that replaced it.
// Directories without a readable manifest are left out; `unreadable` gets the reason of each, by
// path. Empty when there is no such directory.
std::vector<PublishedCheckpoint> ListCheckpoints(
    const std::string& directory, std::map<std::string, std::string>* unreadable = nullptr);
std::optional<PublishedCheckpoint> LatestCheckpoint(const std::string& directory);

// Reads every byte of one checkpoint. Returns its faults, one line each; empty when there are none.
std::vector<std::string> VerifyCheckpoint(const std::string& checkpoint);

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TRAINER_CHECKPOINT_CHECKPOINT_READER_H_
