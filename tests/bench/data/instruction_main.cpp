// trainyard-bench-instructions: work of a fixed size, for counting its instructions.
//   trainyard-bench-instructions config       prints the build and the libraries that matter
//   trainyard-bench-instructions NAME PASSES  repeats one of the works, and prints its bytes per
//   pass
#include <gnu/libc-version.h>
#include <simdjson.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/documents/block_decoder.h"
#include "data/split/piece_scanner.h"
#include "data/tokenizer/load_tokenizer.h"

namespace trainyard::data {
namespace {

constexpr size_t kTextBytes = 200'000;
constexpr size_t kLineBytes = 2'000;
constexpr int kPassesMax = 3;

// Words of syllables with few repetitions, punctuation, and letters of two and three bytes.
std::string TextOf(uint64_t seed) {
  const char* const syllables[] = {"ta", "ri",  "no", "lem", "so",      "ka", "ur",     "en",
                                   "st", "ing", "Re", "th",  "\u00E9t", "42", "\u65E5", "qu"};
  uint64_t state = seed;
  const auto random = [&state](uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
  };
  std::string text;
  while (text.size() < kTextBytes) {
    for (uint64_t length = 1 + random(4); length > 0; --length) {
      text += syllables[random(random(8) == 0 ? 16 : 11)];
    }
    text += random(12) == 0 ? ".\n" : random(40) == 0 ? " (it's) " : random(9) == 0 ? ", " : " ";
  }
  return text;
}

// The texts of all passes, so that the instructions that make them do not depend on the passes.
std::vector<std::string> AllTexts() {
  std::vector<std::string> texts;
  for (int pass = 0; pass < kPassesMax; ++pass) texts.push_back(TextOf(1 + pass));
  return texts;
}

size_t Scan(SplitRule rule, int passes) {
  const std::vector<std::string> texts = AllTexts();
  std::array<uint32_t, 1024> ends;
  size_t pieces = 0;
  for (int pass = 0; pass < passes; ++pass) {
    PieceScanner scanner(rule, texts[pass]);
    while (const size_t count = scanner.Next(ends.data(), ends.size())) pieces += count;
  }
  std::fprintf(stderr, "%zu pieces\n", pieces);
  return texts[0].size();
}

// Most words of a pass are new, so that their pieces are merged and not found in the cache.
size_t Merge(int passes) {
  const std::vector<std::string> texts = AllTexts();
  const std::unique_ptr<Tokenizer> tokenizer = std::move(LoadTokenizer("gpt2", {}).value());
  std::vector<uint32_t> ids;
  ids.reserve(kPassesMax * kTextBytes);
  for (int pass = 0; pass < passes; ++pass) tokenizer->Encode(texts[pass], &ids);
  std::fprintf(stderr, "%zu tokens\n", ids.size());
  return texts[0].size();
}

std::string JsonLines(const std::string& text) {
  std::string lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find(' ', at + kLineBytes), text.size());
    lines += R"({"id": 17, "text": ")";
    for (; at < end; ++at) lines += text[at] == '\n' ? std::string("\\n") : text.substr(at, 1);
    lines += R"(", "meta": {"source": "x", "score": 0.25}})"
             "\n";
  }
  return lines;
}

size_t ReadJson(int passes) {
  const InputFile file = {"lines.jsonl", InputKind::kJsonLines, 0, Compression::kNone};
  std::vector<RawBlock> blocks;
  for (const std::string& text : AllTexts()) {
    RawBlock block;
    block.file = &file;
    block.begins_file = block.ends_file = block.loaded = true;
    block.bytes = JsonLines(text);
    blocks.push_back(std::move(block));
  }
  const size_t bytes = blocks[0].bytes.size();
  PodTexts pods;
  BlockDecoder decoder({}, &pods);
  size_t read = 0;
  for (int pass = 0; pass < passes; ++pass) {
    const auto lines =
        decoder.Decode(&blocks[pass], [&read](const TextPart& part) { read += part.text.size(); });
    if (!lines.ok()) return 0;
  }
  std::fprintf(stderr, "%zu bytes of text\n", read);
  return bytes;
}

void PrintConfig() {
  std::printf("g++ %s, %s, glibc %s, simdjson %d.%d.%d with %s\n", __VERSION__, BENCH_BUILD,
              gnu_get_libc_version(), simdjson::SIMDJSON_VERSION_MAJOR,
              simdjson::SIMDJSON_VERSION_MINOR, simdjson::SIMDJSON_VERSION_REVISION,
              simdjson::get_active_implementation()->name().c_str());
}

}  // namespace
}  // namespace trainyard::data

int main(int argc, char** argv) {
  using namespace trainyard::data;
  const std::map<std::string, std::function<size_t(int)>> works = {
      {"scan_gpt2", [](int passes) { return Scan(SplitRule::kGpt2, passes); }},
      {"scan_llama3", [](int passes) { return Scan(SplitRule::kLlama3, passes); }},
      {"merge", Merge},
      {"json", ReadJson},
  };
  const std::string name = argc > 1 ? argv[1] : "";
  if (name == "config") {
    PrintConfig();
    return 0;
  }
  const int passes = argc > 2 ? std::atoi(argv[2]) : 0;
  if (!works.contains(name) || passes < 1 || passes > kPassesMax) {
    std::fprintf(stderr, "usage: %s config | NAME PASSES, 1 to %d passes; names:", argv[0],
                 kPassesMax);
    for (const auto& [known, work] : works) std::fprintf(stderr, " %s", known.c_str());
    std::fprintf(stderr, "\n");
    return 2;
  }
  const size_t bytes = works.at(name)(passes);
  std::printf("%zu\n", bytes);
  return bytes > 0 ? 0 : 1;
}
