// The inputs and the output of a small pipeline.
#ifndef TRAINYARD_TESTS_DATA_PIPELINE_PIPELINE_FILES_H_
#define TRAINYARD_TESTS_DATA_PIPELINE_PIPELINE_FILES_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "data/input/block_reader.h"
#include "tests/data/text_directory.h"

namespace trainyard::data {

class PipelineFiles {
 public:
  PipelineFiles() {
    AddInput("a.jsonl", 1);
    AddInput("b.jsonl", 2);
    files_.Write("reference/r.jsonl", Object(Prose(200, 1 * 1000 + 7)));
    // The text of a document of b.jsonl.
    files_.Write("eval/e.jsonl", Object(Prose(200 + 12, 2 * 1000 + 12)));
    files_.Write("rules.yaml", "rules:\n  - words: {min: 20}\n");
  }

  std::string operator/(const std::string& name) const { return files_ / name; }
  std::string pipeline() const { return files_ / "pipeline.yaml"; }
  std::string out() const { return files_ / "out"; }

  // 150 documents: short ones, copies, and near copies.
  void AddInput(const std::string& name, uint64_t seed) const {
    std::string lines;
    for (uint64_t i = 0; i < 150; ++i) {
      const uint64_t source = i % 5 == 0 ? i / 2 : i;
      lines += Object(Prose(i % 7 == 0 ? 50 : 200 + i, seed * 1000 + source) +
                      (i % 10 == 0 ? " engine" : ""));
    }
    files_.Write("in/" + name, lines);
  }
  void AddFile(const std::string& name, const std::string& text) const { files_.Write(name, text); }
  void Write(const std::string& yaml) const { files_.Write("pipeline.yaml", yaml); }

  // A pipeline of all steps, with blocks of a few documents.
  std::string Text() const {
    return R"(
inputs: in
out: out
block_bytes: 8000
steps:
  - filter: {rules: rules.yaml}
  - dedup
  - decontaminate: {against: eval}
  - train_tokenizer: {vocab_size: 400}
  - count: {tokenizers: [gpt2, byte]}
  - tokenize: {val_fraction: 0.2}
  - tokenize: {name: code, inputs: dedup, val_fraction: 0.1}
  - mix: {blend: [0.67 tokenize, 0.3 code], tokens: 20K}
)";
  }

  // The files of the output by path, without locks and logs, which contain times.
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(out())) {
      const std::string file = entry.path().filename().string();
      const bool varies = file == ".lock" || file == ".pipeline" || file == "records.log";
      if (varies || !entry.is_regular_file()) continue;
      contents[entry.path().string()] = ReadFile(entry.path().string());
    }
    return contents;
  }

  // The decompressed lines of the parts of a stream, in order.
  std::string Lines(const std::string& directory, const std::string& stream) const {
    std::map<std::string, InputFile> parts;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) {
      if (!entry.path().filename().string().starts_with(stream + "-")) continue;
      parts[entry.path().string()] = {entry.path().string(), InputKind::kJsonLines,
                                      static_cast<int64_t>(entry.file_size()), Compression::kZstd};
    }
    std::string text;
    for (const auto& [path, file] : parts) {
      const std::vector<InputFile> files = {file};
      BlockReader reader(files);
      for (RawBlock block;;) {
        const auto more = reader.Next(&block);
        EXPECT_TRUE(more.ok()) << more.status();
        if (!more.ok() || !*more) break;
        text += block.bytes;
      }
    }
    return text;
  }

 private:
  static std::string Object(std::string text) {
    for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos;) text.replace(at, 1, " ");
    return "{\"text\": \"" + text + "\"}\n";
  }

  const TextDirectory files_;
};

}  // namespace trainyard::data

#endif  // TRAINYARD_TESTS_DATA_PIPELINE_PIPELINE_FILES_H_
