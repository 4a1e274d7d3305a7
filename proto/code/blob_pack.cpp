#include "proto/code/blob_pack.h"

#include <zstd.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "proto/proof/digest.h"
#include "proto/support/status_macros.h"

namespace trainyard::code {
namespace {

// A pack consists of this text, the number of blobs (4 bytes, little-endian), a digest (32 bytes)
// and a size (4 bytes) per blob, and one zstd frame with the blobs in the same order.
constexpr absl::string_view kMagic = "TYP1";
constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kEntryBytes = 36;
constexpr std::size_t kDigestBytes = 32;
// Source code shrinks to a quarter at this level. Level 3 takes twice as long for 5 % less.
constexpr int kLevel = 1;

void AppendNumber(uint32_t number, std::string& out) {
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(number >> shift));
}

uint32_t NumberAt(absl::string_view text, std::size_t position) {
  uint32_t number = 0;
  for (std::size_t byte = 0; byte < 4; ++byte) {
    number |= uint32_t{static_cast<unsigned char>(text[position + byte])} << (8 * byte);
  }
  return number;
}

absl::Status BadPack(absl::string_view reason) {
  return absl::InvalidArgumentError(absl::StrCat("the pack of code is not valid: ", reason));
}

std::size_t IndexBytes(std::size_t blobs) { return kHeaderBytes + blobs * kEntryBytes; }

struct OpenedPack {
  std::vector<PackEntry> entries;
  std::unique_ptr<char[]> contents;  // The blobs in the order of the entries.
};

// Decompresses the pack, and checks each blob.
absl::StatusOr<OpenedPack> OpenPack(absl::string_view pack) {
  if (pack.size() > kMaxPackBytes + kMaxIndexBytes) return BadPack("it is too large");
  OpenedPack opened;
  TRAINYARD_ASSIGN_OR_RETURN(opened.entries, ReadPackIndex(pack));
  std::size_t bytes = 0;
  for (const PackEntry& entry : opened.entries) bytes += entry.bytes;
  opened.contents = std::make_unique_for_overwrite<char[]>(bytes);
  const absl::string_view frame = pack.substr(IndexBytes(opened.entries.size()));
  const std::size_t got = ZSTD_decompress(opened.contents.get(), bytes, frame.data(), frame.size());
  if (ZSTD_isError(got) != 0 || got != bytes) return BadPack("its blobs cannot be decompressed");
  const char* position = opened.contents.get();
  for (const PackEntry& entry : opened.entries) {
    if (DigestOf(absl::string_view(position, entry.bytes)) != entry.digest) {
      return BadPack("a blob does not have its digest");
    }
    position += entry.bytes;
  }
  return opened;
}

}  // namespace

std::string DigestOf(absl::string_view content) { return HashOf(content); }

bool IsDigest(absl::string_view text) {
  return text.size() == 2 * kDigestBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool PackBuilder::Add(absl::string_view digest, absl::string_view content) {
  if (entries_.size() >= kMaxPackBlobs) return false;
  // A frame may be slightly larger than its contents.
  const std::size_t bytes = contents_.size() + content.size();
  if (ZSTD_compressBound(bytes) > kMaxPackBytes) return false;
  if (contents_.empty()) contents_.reserve(kMaxPackBytes);
  entries_.push_back({std::string(digest), static_cast<uint32_t>(content.size())});
  contents_.append(content.data(), content.size());
  return true;
}

std::string PackBuilder::Finish() {
  std::string pack(kMagic);
  AppendNumber(static_cast<uint32_t>(entries_.size()), pack);
  for (const PackEntry& entry : entries_) {
    pack += absl::HexStringToBytes(entry.digest);
    AppendNumber(entry.bytes, pack);
  }
  const std::size_t index_bytes = pack.size();
  pack.resize(index_bytes + ZSTD_compressBound(contents_.size()));
  const std::size_t bytes = ZSTD_compress(pack.data() + index_bytes, pack.size() - index_bytes,
                                          contents_.data(), contents_.size(), kLevel);
  pack.resize(index_bytes + bytes);
  entries_.clear();
  contents_.clear();
  return pack;
}

absl::StatusOr<std::vector<PackEntry>> ReadPackIndex(absl::string_view start) {
  if (start.size() < kHeaderBytes || start.substr(0, kMagic.size()) != kMagic) {
    return BadPack("it does not begin as a pack");
  }
  const std::size_t count = NumberAt(start, kMagic.size());
  if (count == 0 || count > kMaxPackBlobs) return BadPack("its number of blobs is out of range");
  if (start.size() < IndexBytes(count)) return BadPack("it is cut off");
  std::vector<PackEntry> entries;
  std::set<absl::string_view> digests;
  std::size_t total = 0;
  for (std::size_t position = kHeaderBytes; position < IndexBytes(count); position += kEntryBytes) {
    const absl::string_view digest = start.substr(position, kDigestBytes);
    const uint32_t bytes = NumberAt(start, position + kDigestBytes);
    if (bytes == 0 || bytes > kMaxBlobBytes) return BadPack("the size of a blob is out of range");
    if (!digests.insert(digest).second) return BadPack("it contains a blob twice");
    total += bytes;
    if (ZSTD_compressBound(total) > kMaxPackBytes) return BadPack("it is too large");
    entries.push_back({absl::BytesToHexString(digest), bytes});
  }
  return entries;
}

absl::StatusOr<std::vector<Blob>> ReadPack(absl::string_view pack) {
  TRAINYARD_ASSIGN_OR_RETURN(OpenedPack opened, OpenPack(pack));
  std::vector<Blob> blobs;
  blobs.reserve(opened.entries.size());
  const char* position = opened.contents.get();
  for (PackEntry& entry : opened.entries) {
    blobs.push_back({std::move(entry.digest), std::string(position, entry.bytes)});
    position += entry.bytes;
  }
  return blobs;
}

absl::StatusOr<std::vector<PackEntry>> CheckPack(absl::string_view pack) {
  TRAINYARD_ASSIGN_OR_RETURN(OpenedPack opened, OpenPack(pack));
  return std::move(opened.entries);
}

}  // namespace trainyard::code
