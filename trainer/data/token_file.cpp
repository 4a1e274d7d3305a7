#include "trainer/data/token_file.h"

#include <sys/mman.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include "trainer/config/trainer_error.h"

namespace trainyard::trainer {
namespace {

constexpr char kHowToFind[] =
    "; correct data.path, or make the data set with `trainyard data prepare`";

// Widens the tokens and writes them to `out`. Returns the smallest token if that is negative,
// otherwise the largest token.
template <typename Token>
int64_t Widen(const unsigned char* data, int64_t count, int64_t* out) {
  int64_t largest = 0, least = 0;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<int64_t>(LoadLittleEndian<Token>(data + i * sizeof(Token)));
    largest = std::max(largest, out[i]);
    least = std::min(least, out[i]);
  }
  return least < 0 ? least : largest;
}

int64_t WidenAs(TokenType type, const unsigned char* data, int64_t count, int64_t* out) {
  switch (type) {
    case TokenType::kUint8:
      return Widen<uint8_t>(data, count, out);
    case TokenType::kUint16:
      return Widen<uint16_t>(data, count, out);
    case TokenType::kInt16:
      return Widen<int16_t>(data, count, out);
    case TokenType::kInt32:
      return Widen<int32_t>(data, count, out);
    case TokenType::kUint32:
      return Widen<uint32_t>(data, count, out);
    case TokenType::kInt64:
      return Widen<int64_t>(data, count, out);
  }
  return 0;
}

DescribedTokens Describe(DataFormat format, const MappedFile& data, const std::string& stem) {
  switch (format) {
    case DataFormat::kMegatron:
      return ReadMegatronTokens(data, stem + ".idx");
    case DataFormat::kLlmc:
      return ReadLlmcTokens(data);
    case DataFormat::kNanogpt:
      return ReadNanogptTokens(data);
    default:
      return ReadTrainyardTokens(data, stem + ".json");
  }
}

// Asks the kernel to read exactly these pages. The kernel does not read ahead in a file that is
// mapped for random access.
void ReadSoon(const unsigned char* data, int64_t bytes) {
  const size_t in_page = reinterpret_cast<uintptr_t>(data) % static_cast<size_t>(getpagesize());
  madvise(const_cast<unsigned char*>(data) - in_page, in_page + static_cast<size_t>(bytes),
          MADV_WILLNEED);
}

}  // namespace

int64_t BytesOf(TokenType type) {
  switch (type) {
    case TokenType::kUint8:
      return 1;
    case TokenType::kUint16:
    case TokenType::kInt16:
      return 2;
    case TokenType::kInt32:
    case TokenType::kUint32:
      return 4;
    case TokenType::kInt64:
      return 8;
  }
  return 1;
}

TokenFile::TokenFile(const std::string& path, const std::string& split, DataFormat format) {
  const TokenFileNames names = FindTokenFiles(path, split, format);
  format_ = names.format;
  for (const std::string& stem : names.stems) AddPart(stem);
  if (parts_.size() > 1) header_.xxh64.clear();
}

void TokenFile::AddPart(const std::string& stem) {
  MappedFile file(stem + ".bin", ReadOrder::kRandom, kHowToFind);
  DescribedTokens read = Describe(format_, file, stem);
  if (!parts_.empty() && read.layout.type != parts_.front().layout.type) {
    throw TrainerError(ExitCode::kBadData,
                       file.path() + ": the type of its tokens differs from that of " + path() +
                           ", so the two files were made with different tokenizers; move this file "
                           "to its own directory");
  }
  const int64_t first = header_.tokens, documents = header_.documents;
  header_ = std::move(read.header);
  header_.tokens += first;
  header_.documents += documents;
  parts_.push_back({std::move(file), read.layout, first});
}

int64_t TokenFile::Copy(int64_t first, int64_t count, int64_t* out) const {
  if (first < 0 || count < 0 || first > header_.tokens - count) {
    throw TrainerError(ExitCode::kInternal, path() + ": tokens " + std::to_string(first) + " to " +
                                                std::to_string(first + count) +
                                                " are outside the file");
  }
  // Finds the last part that begins at or before `first`.
  auto part = std::upper_bound(parts_.begin(), parts_.end(), first,
                               [](int64_t token, const Part& p) { return token < p.first; }) -
              1;
  int64_t largest = 0;
  for (int64_t done = 0; done < count; ++part) {
    const int64_t inside = first + done - part->first;
    const int64_t now = std::min(count - done, part->layout.tokens - inside);
    const int64_t width = BytesOf(part->layout.type);
    const unsigned char* data = part->file.data() + part->layout.offset + inside * width;
    if (now > 0) ReadSoon(data, now * width);
    const int64_t found = WidenAs(part->layout.type, data, now, out + done);
    largest = found < 0 || largest < 0 ? std::min(found, largest) : std::max(found, largest);
    done += now;
  }
  return largest;
}

void TokenFile::VerifyChecksum() const {
  const MappedFile& file = parts_.front().file;
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(XXH64(file.data(), file.bytes(), 0)));
  if (header_.xxh64 != text) {
    throw TrainerError(ExitCode::kBadData,
                       path() + ": its checksum is " + text + ", but its header declares " +
                           (header_.xxh64.empty() ? "none" : header_.xxh64) +
                           ", so the file is damaged; prepare or copy the data again");
  }
}

}  // namespace trainyard::trainer
