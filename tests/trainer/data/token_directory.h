// A temporary data set for tests.
#ifndef TRAINYARD_TESTS_TRAINER_DATA_TOKEN_DIRECTORY_H_
#define TRAINYARD_TESTS_TRAINER_DATA_TOKEN_DIRECTORY_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/fakes/temporary_directory.h"

namespace trainyard::trainer {

class TokenDirectory {
 public:
  const std::string& path() const { return directory_.path(); }

  void WriteText(const std::string& name, const std::string& text) const {
    WriteFile(directory_.File(name), text);
  }

  static nlohmann::json Header(int64_t tokens, int64_t vocab_size) {
    return {{"format", "trainyard-tokens"},
            {"version", 1},
            {"dtype", "uint16"},
            {"tokens", tokens},
            {"vocab_size", vocab_size},
            {"documents", 2},
            {"source_bytes", 100},
            {"unigram_entropy", 2.5},
            {"end_of_document", 0}};
  }

  // Writes train.bin with these tokens and a matching header.
  void WriteTrain(const std::vector<uint16_t>& tokens, int64_t vocab_size) const {
    std::string bytes;
    for (const uint16_t token : tokens) {
      bytes += static_cast<char>(token & 0xff);
      bytes += static_cast<char>(token >> 8);
    }
    WriteText("train.bin", bytes);
    WriteText("train.json", Header(static_cast<int64_t>(tokens.size()), vocab_size).dump());
  }

  // Writes the tokens 0, 1, 2, and so on, so that a window's values show its position.
  void WriteCounting(int64_t tokens) const {
    std::vector<uint16_t> values;
    for (int64_t i = 0; i < tokens; ++i) values.push_back(static_cast<uint16_t>(i));
    WriteTrain(values, 65536);
  }

 private:
  TemporaryDirectory directory_;
};

}  // namespace trainyard::trainer

#endif  // TRAINYARD_TESTS_TRAINER_DATA_TOKEN_DIRECTORY_H_
