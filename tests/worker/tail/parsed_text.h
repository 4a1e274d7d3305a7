// Parses the whole text of an output, as the worker does.
#ifndef TRAINYARD_TESTS_WORKER_TAIL_PARSED_TEXT_H_
#define TRAINYARD_TESTS_WORKER_TAIL_PARSED_TEXT_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/worker/tail/growing_file.h"
#include "worker/tail/telemetry_tail.h"

namespace trainyard::worker {

inline std::unique_ptr<LogParser> MakeParser(v1::LogParserKind kind, int world_size = 1) {
  v1::LogParserSpec spec;
  spec.set_kind(kind);
  return *MakeLogParser(spec, world_size);
}

// Returns the records of the text. Writes the text in pieces of `piece_bytes` (0: one piece) and
// reads after each piece.
inline std::vector<v1::MetricsRecord> RecordsIn(const std::string& text, const LogParser& parser,
                                                std::size_t piece_bytes = 0) {
  const GrowingFile file;
  std::vector<v1::MetricsRecord> records;
  int64_t offset = 0;
  const auto read = [&](bool ended) {
    const auto batch = ReadParsedLog({file.path(), offset, ended, 1}, parser);
    ASSERT_TRUE(batch.ok()) << batch.status();
    for (const v1::TelemetryRecord& record : batch->records()) records.push_back(record.metrics());
    offset = batch->end_offset();
  };
  const std::size_t size = piece_bytes == 0 ? text.size() : piece_bytes;
  for (std::size_t begin = 0; begin < text.size(); begin += size) {
    file.Append(text.substr(begin, size));
    read(false);
  }
  read(true);
  return records;
}

// Returns the values of all records by step. As in the store, later values replace earlier values.
inline std::map<int64_t, std::map<std::string, double>> ValuesByStep(
    const std::vector<v1::MetricsRecord>& records) {
  std::map<int64_t, std::map<std::string, double>> values;
  for (const v1::MetricsRecord& record : records) {
    auto& of_step = values[record.step()];
    for (const auto& [name, value] : record.values()) of_step[name] = value;
  }
  return values;
}

}  // namespace trainyard::worker

#endif  // TRAINYARD_TESTS_WORKER_TAIL_PARSED_TEXT_H_
