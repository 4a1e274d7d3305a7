#include "data/pipeline/encoded_parts.h"

#include <cstdint>
#include <memory>

#include "data/prepare/splits/split_hash.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {

absl::Status AppendEncoded(const Document& document, bool has_special_text, std::string_view packed,
                           BinaryPartWriter* part) {
  TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(HashOf(document.text, 0)));
  TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(static_cast<int64_t>(document.text.size())));
  TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(document.line));
  TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(static_cast<uint64_t>(packed.size())));
  TRAINYARD_RETURN_IF_ERROR(part->AppendNumber(static_cast<uint8_t>(has_special_text)));
  return part->Append(packed);
}

absl::Status ReadEncoded(const std::string& directory, const std::vector<PartFile>& parts,
                         const TakeEncoded& take) {
  std::string packed;
  for (const PartFile& part : parts) {
    TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<BinaryPartReader> reader,
                               BinaryPartReader::Open(directory, part));
    while (!reader->AtEnd()) {
      EncodedPart document;
      document.ends_document = true;
      uint64_t bytes = 0;
      uint8_t has_special_text = 0;
      TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&document.hash));
      TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&document.source_bytes));
      TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&document.position));
      TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&bytes));
      TRAINYARD_RETURN_IF_ERROR(reader->ReadNumber(&has_special_text));
      TRAINYARD_RETURN_IF_ERROR(reader->Read(bytes, &packed));
      document.has_special_text = has_special_text != 0;
      document.packed_bytes = packed.size();
      TRAINYARD_RETURN_IF_ERROR(take(document, packed));
    }
  }
  return absl::OkStatus();
}

}  // namespace trainyard::data
