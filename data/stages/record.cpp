#include "data/stages/record.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/stages/bit_text.h"
#include "data/stages/hash_text.h"

namespace trainyard::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kHashDigits = 16;

Json DroppedJson(const std::map<std::string, DroppedDocuments>& dropped) {
  Json json = Json::object();
  for (const auto& [reason, documents] : dropped) {
    Json samples = Json::array();
    for (const DocumentPlace& place : documents.samples) {
      samples.push_back({place.file, place.line});
    }
    json[reason] = {{"documents", documents.documents},
                    {"bytes", documents.bytes},
                    {"samples", std::move(samples)}};
  }
  return json;
}

std::map<std::string, DroppedDocuments> DroppedOf(const Json& json) {
  std::map<std::string, DroppedDocuments> dropped;
  for (const auto& [reason, value] : json.items()) {
    DroppedDocuments& documents = dropped[reason];
    documents.documents = value.at("documents");
    documents.bytes = value.at("bytes");
    for (const Json& place : value.at("samples")) {
      documents.samples.push_back({place.at(0), place.at(1)});
    }
  }
  return dropped;
}

Json LinesJson(const FileLines& file) {
  Json bad = Json::array();
  for (const BadLine& line : file.lines.bad) {
    bad.push_back({line.line, static_cast<int>(line.kind), line.cause});
  }
  return {{"file", file.file},         {"line_ends", file.lines.line_ends},
          {"lines", file.lines.lines}, {"repaired", file.lines.repaired},
          {"bad", std::move(bad)},     {"unlisted", file.lines.unlisted}};
}

FileLines LinesOf(const Json& json) {
  FileLines file;
  file.file = json.at("file");
  file.lines.line_ends = json.at("line_ends");
  file.lines.lines = json.at("lines");
  file.lines.repaired = json.at("repaired");
  for (const Json& line : json.at("bad")) {
    file.lines.bad.push_back(
        {line.at(0), static_cast<BadLineKind>(line.at(1).get<int>()), line.at(2)});
  }
  json.at("unlisted").get_to(file.lines.unlisted);
  return file;
}

Json FilesJson(const std::vector<FileCounts>& files) {
  Json json = Json::array();
  for (const FileCounts& file : files) {
    json.push_back(
        {file.file, file.documents_in, file.documents_out, file.bytes_in, file.bytes_out});
  }
  return json;
}

std::vector<FileCounts> FilesOf(const Json& json) {
  std::vector<FileCounts> files;
  for (const Json& file : json) {
    files.push_back({file.at(0), file.at(1), file.at(2), file.at(3), file.at(4)});
  }
  return files;
}

Json LengthsJson(const std::map<int, int64_t>& lengths) {
  Json json = Json::array();
  for (const auto& [bits, documents] : lengths) json.push_back({bits, documents});
  return json;
}

std::map<int, int64_t> LengthsOf(const Json& json) {
  std::map<int, int64_t> lengths;
  for (const Json& entry : json) lengths[entry.at(0)] = entry.at(1);
  return lengths;
}

BlockRecord RecordOf(const Json& json) {
  BlockRecord record;
  record.block = json.at("block");
  record.counts.documents_in = json.at("documents_in");
  record.counts.documents_out = json.at("documents_out");
  record.counts.bytes_in = json.at("bytes_in");
  record.counts.bytes_out = json.at("bytes_out");
  record.counts.dropped = DroppedOf(json.at("dropped"));
  record.counts.files = FilesOf(json.at("files"));
  record.counts.lengths = LengthsOf(json.at("lengths"));
  const std::string bits = json.at("is_dropped");
  if (!bits.empty()) {
    record.counts.is_dropped = BitsOf(bits, static_cast<size_t>(record.counts.documents_in));
  }
  if (const auto sums = json.find("sums"); sums != json.end()) {
    for (const auto& [name, sum] : sums->items()) record.counts.sums[name] = sum;
  }
  for (const Json& file : json.at("lines")) record.lines.push_back(LinesOf(file));
  for (const Json& part : json.at("parts")) {
    record.parts.push_back({part.at("name"), part.at("bytes"),
                            std::stoull(part.at("xxh64").get<std::string>(), nullptr, 16)});
  }
  record.seconds = json.at("seconds");
  return record;
}

}  // namespace

std::string RecordLine(const BlockRecord& record, const std::string& plan_hash) {
  Json lines = Json::array();
  for (const FileLines& file : record.lines) lines.push_back(LinesJson(file));
  Json parts = Json::array();
  for (const PartFile& part : record.parts) {
    parts.push_back({{"name", part.name}, {"bytes", part.bytes}, {"xxh64", HashText(part.xxh64)}});
  }
  Json json = {{"plan", plan_hash},
               {"block", record.block},
               {"documents_in", record.counts.documents_in},
               {"documents_out", record.counts.documents_out},
               {"bytes_in", record.counts.bytes_in},
               {"bytes_out", record.counts.bytes_out},
               {"dropped", DroppedJson(record.counts.dropped)},
               {"files", FilesJson(record.counts.files)},
               {"lengths", LengthsJson(record.counts.lengths)},
               {"is_dropped", BitText(record.counts.is_dropped)},
               {"lines", std::move(lines)},
               {"parts", std::move(parts)},
               {"seconds", record.seconds}};
  if (!record.counts.sums.empty()) json["sums"] = record.counts.sums;
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return HashText(HashOf(text)) + " " + text + "\n";
}

std::optional<BlockRecord> ParseRecord(std::string_view line, const std::string& plan_hash) {
  if (line.size() <= kHashDigits || line[kHashDigits] != ' ') return std::nullopt;
  const std::string_view text = line.substr(kHashDigits + 1);
  if (line.substr(0, kHashDigits) != HashText(HashOf(text))) return std::nullopt;
  // The checksum shows that this program wrote the text. An earlier version may have used other
  // keys, but its plan would differ.
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded() || json.value("plan", "") != plan_hash) return std::nullopt;
  try {
    return RecordOf(json);
  } catch (const std::exception&) {
    // The record of another process, received from a network, may be of another version.
    return std::nullopt;
  }
}

}  // namespace trainyard::data
