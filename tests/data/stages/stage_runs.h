// A small stage and its runs, for the tests of this folder.
#ifndef TRAINYARD_TESTS_DATA_STAGES_STAGE_RUNS_H_
#define TRAINYARD_TESTS_DATA_STAGES_STAGE_RUNS_H_

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/input/block_reader.h"
#include "data/input/input_files.h"
#include "data/stages/run_stage.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {

// Called with the number of documents, of all blocks, that the stage has received before.
using Fault = std::function<absl::Status(int64_t documents)>;

// Drops texts that contain "red", and keeps the others.
inline Stage DropRed(const Fault& fault = nullptr) {
  auto documents = std::make_shared<std::atomic<int64_t>>(0);
  Stage stage;
  stage.name = "red";
  stage.settings = {{"word", "red"}};
  stage.begin_block = [fault, documents]() -> ProcessDocument {
    return [fault, documents](const Document& document, BlockOutput* output) {
      if (fault) {
        const absl::Status status = fault((*documents)++);
        if (!status.ok()) return status;
      }
      if (document.text.find("red") == std::string_view::npos) {
        return output->Keep(document.json, document.text.size());
      }
      return output->Drop(document, "red", document.json);
    };
  };
  return stage;
}

// JSON lines with a key besides the text.
inline std::string Lines(int count, int first) {
  std::string lines;
  for (int i = first; i < first + count; ++i) {
    lines += "{\"id\": " + std::to_string(i) + ", \"text\": \"wagon " + std::to_string(i * 7919) +
             (i % 5 == 0 ? " red" : " blue") + "\"}\n";
  }
  return lines;
}

struct RunOptions {
  int threads = 2;
  bool replace = false;
  int64_t block_bytes = 2000;
  int64_t memory_bytes = int64_t{4} << 30;
  BadLinePolicy bad_lines;
};

class StageRuns {
 public:
  // Inputs of each kind.
  StageRuns() {
    files_.Write("in/a.jsonl", Lines(200, 0));
    files_.Write("in/b.txt", "A red text\nwith \"quotes\"\n");
    files_.Write("in/c.md", "# A blue text\n");
    files_.Write("in/d.jsonl", Lines(10, 1000));
    files_.Write("in/empty.jsonl", "");
    files_.Write("in/f.jsonl", Lines(100, 2000));
  }

  const TextDirectory& files() const { return files_; }
  std::string out(const std::string& name) const { return files_ / name; }

  absl::StatusOr<Plan> MakePlan(const Stage& stage, const RunOptions& options = {}) const {
    const auto inputs = FindInputFiles({files_ / "in"});
    if (!inputs.ok()) return inputs.status();
    PlanLimits limits;
    limits.block_bytes = options.block_bytes;
    limits.files_per_block = 3;
    return PlanStage(stage, {}, *inputs, limits);
  }

  absl::Status Run(const Stage& stage, const std::string& name,
                   const RunOptions& options = {}) const {
    const auto plan = MakePlan(stage, options);
    if (!plan.ok()) return plan.status();
    RunSettings settings;
    settings.out = out(name);
    settings.replace = options.replace;
    settings.threads = options.threads;
    settings.memory_bytes = options.memory_bytes;
    settings.bad_lines = options.bad_lines;
    recorded_ = 0;
    read_bytes_ = 0;
    const RunObserver observer = {[&](size_t blocks, size_t recorded, int64_t bytes) {
                                    blocks_ = blocks;
                                    recorded_ = recorded;
                                    left_bytes_ = bytes;
                                  },
                                  [&](int64_t bytes) { read_bytes_ += bytes; }};
    return RunStage(stage, *plan, settings, observer, cancelled_).status();
  }

  // The files of a directory by name, without the lock and the log, which contains times.
  std::map<std::string, std::string> Contents(const std::string& name) const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::directory_iterator(out(name))) {
      const std::string file = entry.path().filename().string();
      if (file == ".lock" || file == "records.log") continue;
      contents[file] = ReadFile(entry.path().string());
    }
    return contents;
  }

  // The decompressed lines of the parts of a stream, in order.
  std::string Text(const std::string& name, const std::string& stream) const {
    std::string text;
    for (const auto& [file, ignored] : Contents(name)) {
      if (!file.starts_with(stream + "-")) continue;
      const auto inputs = FindInputFiles({out(name) + "/" + file});
      EXPECT_TRUE(inputs.ok()) << inputs.status();
      BlockReader reader(*inputs);
      for (RawBlock block;;) {
        const auto more = reader.Next(&block);
        EXPECT_TRUE(more.ok()) << more.status();
        if (!more.ok() || !*more) break;
        text += block.bytes;
      }
    }
    return text;
  }

  size_t blocks() const { return blocks_; }
  size_t recorded() const { return recorded_; }
  int64_t left_bytes() const { return left_bytes_; }
  int64_t read_bytes() const { return read_bytes_; }
  std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  TextDirectory files_;
  // The numbers describe the last run.
  mutable size_t blocks_ = 0;
  mutable size_t recorded_ = 0;
  mutable int64_t left_bytes_ = 0;
  mutable int64_t read_bytes_ = 0;
  mutable std::atomic<bool> cancelled_ = false;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_STAGES_STAGE_RUNS_H_
