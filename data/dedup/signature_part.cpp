#include "data/dedup/signature_part.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

using LowBits = std::array<uint16_t, kMinHashes>;

absl::Status ReadSignature(BinaryPartReader* reader, std::string* bytes, StoredDocument* document,
                           std::vector<BandKey>* keys) {
  uint8_t count = 0;
  TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&document->file));
  TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&document->line));
  TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&count));
  keys->resize(count);
  for (BandKey& key : *keys) {
    TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&key.high));
    TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&key.low));
  }
  LowBits low;
  TRAINYARD_RETURN_IF_ERROR(reader->Read(sizeof(low), bytes));
  std::memcpy(low.data(), bytes->data(), sizeof(low));
  for (size_t i = 0; i < low.size(); ++i) document->signature[i] = low[i];
  return absl::OkStatus();
}

}  // namespace

absl::Status AppendSignature(const StoredDocument& document, const std::vector<BandKey>& keys,
                             BinaryPartWriter* part) {
  TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(document.file));
  TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(document.line));
  TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(static_cast<uint8_t>(keys.size())));
  for (const BandKey& key : keys) {
    TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(key.high));
    TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(key.low));
  }
  LowBits low;
  for (size_t i = 0; i < low.size(); ++i) low[i] = static_cast<uint16_t>(document.signature[i]);
  return part->Append({reinterpret_cast<const char*>(low.data()), sizeof(low)});
}

absl::Status ReadSignatures(const std::string& directory, const PartFile& part,
                            const TakeSignature& take) {
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<BinaryPartReader> reader,
                             BinaryPartReader::Open(directory, part));
  std::string bytes;
  StoredDocument document;
  std::vector<BandKey> keys;
  while (!reader->AtEnd()) {
    TRAINYARD_RETURN_IF_ERROR(ReadSignature(reader.get(), &bytes, &document, &keys));
    TRAINYARD_RETURN_IF_ERROR(take(document, keys));
  }
  return absl::OkStatus();
}

}  // namespace trainyard::data
