#include "trainer/data/token_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "proto/contract/token_format.h"
#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

namespace format = token_format;

constexpr size_t kHeaderBytesMax = 1 << 20;
constexpr char kHowToMake[] = "; make the data set with `trainyard data prepare`";

[[noreturn]] void Missing(const std::string& path, const std::string& why) {
  throw TrainerError(ExitCode::kNoInput, path + ": " + why);
}

[[noreturn]] void Bad(const std::string& path, const std::string& why) {
  throw TrainerError(ExitCode::kBadData, path + ": " + why);
}

nlohmann::json ReadJsonFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) Missing(path, std::string("cannot open: ") + std::strerror(errno) + kHowToMake);
  std::string text(kHeaderBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) Missing(path, std::string("cannot read: ") + std::strerror(errno));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kHeaderBytesMax) Bad(path, "larger than 1 MiB: not a header of tokens");
  nlohmann::json header = nlohmann::json::parse(text, nullptr, false);
  if (!header.is_object()) Bad(path, std::string("not a JSON object") + kHowToMake);
  return header;
}

int64_t Integer(const nlohmann::json& header, const char* key, const std::string& path) {
  const auto found = header.find(key);
  if (found == header.end()) Bad(path, std::string("has no \"") + key + "\"");
  if (!found->is_number_integer() || found->get<double>() < 0 || found->get<double>() > 9e18) {
    Bad(path, std::string("\"") + key + "\" must be a whole number, 0 or more");
  }
  return found->get<int64_t>();
}

int64_t IntegerOr(const nlohmann::json& header, const char* key, int64_t otherwise,
                  const std::string& path) {
  return header.contains(key) ? Integer(header, key, path) : otherwise;
}

std::string TextOr(const nlohmann::json& header, const char* key, const std::string& path) {
  if (!header.contains(key)) return "";
  if (!header[key].is_string()) Bad(path, std::string("\"") + key + "\" must be a string");
  return header[key].get<std::string>();
}

int BytesPerToken(const nlohmann::json& header, const std::string& path) {
  const std::string dtype = TextOr(header, format::kTypeKey, path);
  if (dtype == format::kTwoBytes) return 2;
  if (dtype == format::kFourBytes) return 4;
  Bad(path, "\"dtype\" must be \"uint16\" or \"uint32\", not \"" + dtype + "\"");
}

// Little-endian load, whatever the machine: the file has no other byte order.
template <typename Token>
int64_t Widen(const unsigned char* data, int64_t count, int64_t* out) {
  int64_t largest = 0;
  for (int64_t i = 0; i < count; ++i) {
    Token token;
    std::memcpy(&token, data + i * sizeof(Token), sizeof(Token));
    if constexpr (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
      token = sizeof(Token) == 2 ? static_cast<Token>(__builtin_bswap16(token))
                                 : static_cast<Token>(__builtin_bswap32(token));
    }
    out[i] = token;
    largest = out[i] > largest ? out[i] : largest;
  }
  return largest;
}

}  // namespace

TokenFile::TokenFile(const std::string& directory, const std::string& split)
    : path_(directory + "/" + split + ".bin") {
  ReadHeader(directory + "/" + split + ".json");
  Map();
}

TokenFile::~TokenFile() {
  if (data_ != nullptr) munmap(const_cast<unsigned char*>(data_), bytes_);
}

void TokenFile::ReadHeader(const std::string& header_path) {
  const nlohmann::json header = ReadJsonFile(header_path);
  if (TextOr(header, format::kFormatKey, header_path) != format::kFormat) {
    Bad(header_path, std::string("\"format\" is not \"") + format::kFormat + "\"" + kHowToMake);
  }
  const int64_t version = Integer(header, format::kVersionKey, header_path);
  if (version < 1 || version > format::kVersion) {
    Bad(header_path, "version " + std::to_string(version) + " of the format; this program reads " +
                         std::to_string(format::kVersion) +
                         "; update it or prepare the data again");
  }
  header_.bytes_per_token = BytesPerToken(header, header_path);
  header_.tokens = Integer(header, format::kTokens, header_path);
  header_.vocab_size = Integer(header, format::kVocabSize, header_path);
  header_.documents = IntegerOr(header, format::kDocuments, 0, header_path);
  header_.source_bytes = IntegerOr(header, format::kSourceBytes, 0, header_path);
  header_.end_of_document = IntegerOr(header, format::kEndOfDocument, -1, header_path);
  header_.xxh64 = TextOr(header, format::kChecksum, header_path);
  const auto entropy = header.find(format::kUnigramEntropy);
  if (entropy != header.end() && entropy->is_number()) header_.unigram_entropy = *entropy;
}

void TokenFile::Map() {
  const int file = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) Missing(path_, std::string("cannot open: ") + std::strerror(errno) + kHowToMake);
  struct stat status {};
  const bool is_file = fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  bytes_ = is_file ? static_cast<size_t>(status.st_size) : 0;
  void* mapped = bytes_ > 0 ? mmap(nullptr, bytes_, PROT_READ, MAP_SHARED, file, 0) : nullptr;
  const int map_error = errno;
  close(file);
  if (!is_file) Missing(path_, "not a regular file");
  if (mapped == MAP_FAILED) {
    Missing(path_, std::string("cannot map: ") + std::strerror(map_error));
  }
  data_ = static_cast<const unsigned char*>(mapped);
  const uint64_t width = static_cast<uint64_t>(header_.bytes_per_token);
  if (bytes_ % width != 0 || bytes_ / width != static_cast<uint64_t>(header_.tokens)) {
    const size_t bytes = bytes_;
    if (data_ != nullptr) munmap(const_cast<unsigned char*>(data_), bytes_);
    Bad(path_, "has " + std::to_string(bytes) + " bytes, but its header promises " +
                   std::to_string(header_.tokens) + " tokens of " + std::to_string(width) +
                   " bytes: cut short or replaced; prepare or copy the data again");
  }
  // Windows are read in random order, so the kernel must not read ahead of one; Copy asks for
  // exactly its own pages.
  if (data_ != nullptr) madvise(mapped, bytes_, MADV_RANDOM);
}

int64_t TokenFile::Copy(int64_t first, int64_t count, int64_t* out) const {
  if (first < 0 || count < 0 || first > header_.tokens - count) {
    throw TrainerError(ExitCode::kInternal, path_ + ": tokens " + std::to_string(first) + " to " +
                                                std::to_string(first + count) +
                                                " are outside the file");
  }
  const unsigned char* data = data_ + first * header_.bytes_per_token;
  const size_t in_page = reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(getpagesize());
  madvise(const_cast<unsigned char*>(data) - in_page, in_page + count * header_.bytes_per_token,
          MADV_WILLNEED);
  return header_.bytes_per_token == 2 ? Widen<uint16_t>(data, count, out)
                                      : Widen<uint32_t>(data, count, out);
}

void TokenFile::VerifyChecksum() const {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(XXH64(data_, bytes_, 0)));
  if (header_.xxh64 != text) {
    Bad(path_, "its checksum is " + std::string(text) + ", but its header promises " +
                   (header_.xxh64.empty() ? "none" : header_.xxh64) +
                   ": damaged; prepare or copy the data again");
  }
}

}  // namespace trainyard::trainer
