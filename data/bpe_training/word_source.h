// A sequence of words with counts.
#ifndef TRAINYARD_DATA_BPE_TRAINING_WORD_SOURCE_H_
#define TRAINYARD_DATA_BPE_TRAINING_WORD_SOURCE_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace trainyard::data {

// Distinct words, in ascending order of their bytes.
class WordSource {
 public:
  virtual ~WordSource() = default;

  // Proceeds to the next word, or to the first one. Returns false at the end. Must not be called
  // after the end or an error.
  virtual absl::StatusOr<bool> Next() = 0;

  // The current word, valid until Next is called, and its count.
  virtual std::string_view word() const = 0;
  virtual uint64_t count() const = 0;
};

using TakeWord = std::function<absl::Status(std::string_view word, uint64_t count)>;

}  // namespace trainyard::data

#endif  // TRAINYARD_DATA_BPE_TRAINING_WORD_SOURCE_H_
