#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proto/contract/token_format.h"
#include "trainer/data/token_layout.h"

namespace trainyard::trainer {
namespace {

namespace format = token_format;

constexpr size_t kHeaderBytesMax = 1 << 20;
constexpr char kHowToPrepare[] = "; make the data set with `trainyard data prepare`";

nlohmann::json ReadJsonFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) ThrowNoInput(path, std::string("cannot open: ") + std::strerror(errno) + kHowToPrepare);
  std::string text(kHeaderBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) ThrowNoInput(path, std::string("cannot read: ") + std::strerror(errno));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kHeaderBytesMax)
    ThrowBadData(path, "larger than 1 MiB, so it is not the header of a token file");
  nlohmann::json header = nlohmann::json::parse(text, nullptr, false);
  if (!header.is_object()) ThrowBadData(path, std::string("not a JSON object") + kHowToPrepare);
  return header;
}

int64_t Integer(const nlohmann::json& header, const char* key, const std::string& path) {
  const auto found = header.find(key);
  if (found == header.end()) ThrowBadData(path, std::string("has no \"") + key + "\"");
  if (!found->is_number_integer() || found->get<double>() < 0 || found->get<double>() > 9e18) {
    ThrowBadData(path, std::string("\"") + key + "\" must be a whole number, 0 or more");
  }
  return found->get<int64_t>();
}

int64_t IntegerOr(const nlohmann::json& header, const char* key, int64_t otherwise,
                  const std::string& path) {
  return header.contains(key) ? Integer(header, key, path) : otherwise;
}

std::string TextOr(const nlohmann::json& header, const char* key, const std::string& path) {
  if (!header.contains(key)) return "";
  if (!header[key].is_string()) ThrowBadData(path, std::string("\"") + key + "\" must be a string");
  return header[key].get<std::string>();
}

TokenType TypeOf(const nlohmann::json& header, const std::string& path) {
  const std::string dtype = TextOr(header, format::kTypeKey, path);
  if (dtype == format::kTwoBytes) return TokenType::kUint16;
  if (dtype == format::kFourBytes) return TokenType::kUint32;
  ThrowBadData(path, "\"dtype\" must be \"uint16\" or \"uint32\", not \"" + dtype + "\"");
}

void CheckFormat(const nlohmann::json& header, const std::string& path) {
  if (TextOr(header, format::kFormatKey, path) != format::kFormat) {
    ThrowBadData(path,
                 std::string("\"format\" is not \"") + format::kFormat + "\"" + kHowToPrepare);
  }
  const int64_t version = Integer(header, format::kVersionKey, path);
  if (version >= 1 && version <= format::kVersion) return;
  ThrowBadData(path, "has version " + std::to_string(version) +
                         " of the format, but this program reads only versions up to " +
                         std::to_string(format::kVersion) +
                         "; update this program, or prepare the data again");
}

TokenFileHeader ReadFacts(const nlohmann::json& header, const std::string& path) {
  TokenFileHeader facts;
  facts.tokens = Integer(header, format::kTokens, path);
  facts.vocab_size = Integer(header, format::kVocabSize, path);
  facts.documents = IntegerOr(header, format::kDocuments, 0, path);
  facts.source_bytes = IntegerOr(header, format::kSourceBytes, 0, path);
  facts.end_of_document = IntegerOr(header, format::kEndOfDocument, -1, path);
  facts.xxh64 = TextOr(header, format::kChecksum, path);
  const auto entropy = header.find(format::kUnigramEntropy);
  if (entropy != header.end() && entropy->is_number()) facts.unigram_entropy = *entropy;
  return facts;
}

}  // namespace

DescribedTokens ReadTrainyardTokens(const MappedFile& data, const std::string& header_path) {
  const nlohmann::json json = ReadJsonFile(header_path);
  CheckFormat(json, header_path);
  DescribedTokens read;
  read.layout.type = TypeOf(json, header_path);
  read.header = ReadFacts(json, header_path);
  read.layout.tokens = read.header.tokens;
  const auto width = static_cast<uint64_t>(BytesOf(read.layout.type));
  const auto tokens = static_cast<uint64_t>(read.layout.tokens);
  if (data.bytes() % width != 0 || data.bytes() / width != tokens) {
    ThrowBadData(
        data.path(),
        "has " + std::to_string(data.bytes()) + " bytes, but its header declares " +
            std::to_string(tokens) + " tokens of " + std::to_string(width) +
            " bytes; the file is truncated or was replaced, so prepare or copy the data again");
  }
  return read;
}

}  // namespace trainyard::trainer
