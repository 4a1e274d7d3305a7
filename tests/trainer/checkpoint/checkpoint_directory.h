// A temporary checkpoint directory, and the ranks that write into it.
#ifndef TRAINYARD_TESTS_TRAINER_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
#define TRAINYARD_TESTS_TRAINER_CHECKPOINT_CHECKPOINT_DIRECTORY_H_

#include <sys/resource.h>
#include <torch/types.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/fakes/temporary_directory.h"
#include "tests/trainer/checkpoint/read_tensor.h"
#include "trainer/checkpoint/checkpoint_reader.h"
#include "trainer/checkpoint/checkpoint_writer.h"

namespace trainyard::trainer {

class CheckpointDirectory {
 public:
  const std::string& path() const { return directory_.path(); }
  std::string Step(int64_t step) const {
    std::string digits = std::to_string(step);
    return path() + "/step_" + std::string(9 - digits.size(), '0') + digits;
  }

  // Returns the names in the directory, sorted, without the fence files.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path())) {
      const std::string name = entry.path().filename();
      if (name.rfind("ATTEMPT", 0) != 0) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Returns the writer options of an attempt that runs outside of a job.
  CheckpointWriterOptions Options(int64_t attempt_number = 1) const {
    return Options({0, attempt_number});
  }
  CheckpointWriterOptions Options(const AttemptKey& attempt) const {
    CheckpointWriterOptions options;
    options.directory = path();
    options.writer = {attempt};
    options.model_fingerprint = "tiny";
    options.peer_timeout_seconds = 20;
    options.absence_seconds = 0.5;
    return options;
  }

  // Saves unsplit tensors from one rank and waits until the checkpoint is complete.
  void SaveWhole(int64_t step, const std::vector<TensorChunk>& chunks,
                 int64_t attempt_number = 1) const {
    SaveWhole(step, chunks, AttemptKey{0, attempt_number});
  }
  void SaveWhole(int64_t step, const std::vector<TensorChunk>& chunks,
                 const AttemptKey& attempt) const {
    CheckpointWriter writer(Options(attempt));
    writer.Save(step, {{"samples", step * 8}}, chunks);
    writer.Finish();
  }

 private:
  TemporaryDirectory directory_;
};

// Returns two small tensors filled with `value`. ValueIn reads the value back.
inline std::vector<TensorChunk> Weights(float value) {
  return {WholeTensor("w", torch::full({64, 3}, value)), WholeTensor("b", torch::full({3}, value))};
}

inline float ValueIn(const std::string& checkpoint) {
  return ReadWhole(CheckpointReader(checkpoint), "w").mean().item<float>();
}

// True if dtype, shape and bytes are equal.
inline bool SameBytes(const torch::Tensor& a, const torch::Tensor& b) {
  const torch::Tensor x = a.contiguous();
  const torch::Tensor y = b.contiguous();
  return x.scalar_type() == y.scalar_type() && x.sizes() == y.sizes() &&
         std::memcmp(x.data_ptr(), y.data_ptr(), x.nbytes()) == 0;
}

// While the object exists, this process has no free file descriptor, so it cannot open any file.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &old_limit_);
    const rlimit limit = {0, old_limit_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &old_limit_); }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;

 private:
  rlimit old_limit_{};
};

inline void FlipByte(const std::string& path, int64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(offset);
  const int byte = file.get();
  file.seekp(offset);
  file.put(static_cast<char>(byte ^ 0x10));
}

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_CHECKPOINT_CHECKPOINT_DIRECTORY_H_
