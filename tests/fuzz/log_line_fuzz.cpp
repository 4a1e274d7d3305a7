// Fuzzes the parsers of program output. The first byte of the input selects the parser.
#include <algorithm>
#include <string_view>

#include "proto/parsers/log_parser.h"
#include "proto/parsers/output_parser.h"
#include "tests/fuzz/fuzz_target.h"
#include "worker/tail/launcher_line.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace trainyard;
  constexpr v1::LogParserKind kKinds[] = {
      v1::LOG_PARSER_KIND_MEGATRON,  v1::LOG_PARSER_KIND_TORCHTITAN,
      v1::LOG_PARSER_KIND_NANOGPT,   v1::LOG_PARSER_KIND_HUGGING_FACE,
      v1::LOG_PARSER_KIND_OLMO,      v1::LOG_PARSER_KIND_LIGHTNING,
      v1::LOG_PARSER_KIND_DEEPSPEED, v1::LOG_PARSER_KIND_LLM_C,
      v1::LOG_PARSER_KIND_NANOCHAT};
  if (size == 0) return 0;
  v1::LogParserSpec spec;
  spec.set_kind(kKinds[data[0] % (sizeof(kKinds) / sizeof(*kKinds))]);
  const auto parser = MakeLogParser(spec, /*world_size=*/8);
  FUZZ_EXPECT(parser.ok());
  // A launcher prints the lines of several ranks.
  constexpr int kFirstRank = 4;
  (*parser)->ReadOnlyRank(kFirstRank + 1, kFirstRank);
  // The parser must find the same records however the output is divided into pieces.
  const auto records_in = [&](std::string_view output, std::size_t piece) {
    int64_t records = 0;
    OutputParser reader(**parser, [&](const v1::MetricsRecord&) { ++records; });
    for (; !output.empty(); output.remove_prefix(std::min(piece, output.size()))) {
      reader.Add(output.substr(0, piece));
    }
    reader.End();
    return records;
  };
  const std::string_view all(reinterpret_cast<const char*>(data + 1), size - 1);
  FUZZ_EXPECT(records_in(all, all.size() + 1) == records_in(all, 7));
  LineContext context;
  std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto record = (*parser)->Parse(text.substr(0, end), context)) {
      FUZZ_EXPECT(record->step() >= 0);
      // The record is later sent over the network, and protobuf rejects text that is not UTF-8.
      v1::MetricsRecord back;
      FUZZ_EXPECT(back.ParseFromString(record->SerializeAsString()));
    }
    if (const auto alert = worker::AlertOfLauncher(text.substr(0, end), kFirstRank)) {
      v1::AlertRecord back;
      FUZZ_EXPECT(back.ParseFromString(alert->SerializeAsString()));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}
