#include "data/parquet/text_page.h"

#include <zlib.h>

#include <utility>

#include "data/parquet/hybrid_reader.h"
#include "data/parquet/page_codec.h"
#include "proto/support/status_macros.h"

namespace trainyard::data {
namespace {

absl::Status Damaged(const std::string& what) {
  return absl::InvalidArgumentError("damaged page: " + what + "; copy or write the file again");
}

absl::Status Unsupported(const std::string& what) {
  return absl::InvalidArgumentError(what + kHowToRewrite);
}

bool Is(int64_t encoding, Encoding expected) { return encoding == static_cast<int64_t>(expected); }

bool IsDictionaryIndex(int64_t encoding) {
  return Is(encoding, Encoding::kPlainDictionary) || Is(encoding, Encoding::kRleDictionary);
}

std::string EncodingName(int64_t encoding) {
  switch (encoding) {
    case 4:
      return "BIT_PACKED";
    case 5:
      return "DELTA_BINARY_PACKED";
    case 6:
      return "DELTA_LENGTH_BYTE_ARRAY";
    case 7:
      return "DELTA_BYTE_ARRAY";
    case 9:
      return "BYTE_STREAM_SPLIT";
    default:
      return std::to_string(encoding);
  }
}

absl::Status CheckPage(const PageSource& source, std::string_view bytes) {
  const PageHeader& header = source.header;
  if (header.values < 0 || header.values > kPageValuesMax) {
    return Unsupported("a page has " + std::to_string(header.values) + " values, more than " +
                       std::to_string(kPageValuesMax));
  }
  if (header.crc &&
      *header.crc != crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size())) {
    return Damaged("its checksum is wrong");
  }
  return absl::OkStatus();
}

std::optional<uint32_t> LittleEndian32(std::string_view bytes) {
  if (bytes.size() < 4) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) {
    value |= static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  }
  return value;
}

// Removes the next value from the start of `bytes`: its length in 4 bytes, then the value.
std::optional<std::string_view> TakePlain(std::string_view* bytes) {
  const std::optional<uint32_t> length = LittleEndian32(*bytes);
  if (!length || bytes->size() - 4 < *length) return std::nullopt;
  const std::string_view value = bytes->substr(4, *length);
  bytes->remove_prefix(4 + size_t{*length});
  return value;
}

// Decodes the values of a data page.
class PageDecoder {
 public:
  PageDecoder(const PageSource& source, TextPage* page)
      : header_(source.header),
        codec_(source.codec),
        is_optional_(source.is_optional),
        page_(*page) {}

  absl::Status Decode(std::string_view bytes) {
    const bool is_v2 = header_.type == static_cast<int64_t>(PageType::kDataV2);
    TRAINYARD_RETURN_IF_ERROR(is_v2 ? UnpackV2(bytes) : UnpackV1(bytes));
    TRAINYARD_RETURN_IF_ERROR(ReadNulls());
    if (Is(header_.encoding, Encoding::kPlain)) return ReadPlain();
    if (IsDictionaryIndex(header_.encoding)) return ReadIndices();
    return Unsupported("the encoding " + EncodingName(header_.encoding) + " is not supported");
  }

 private:
  // The whole page is compressed: the length of the levels in 4 bytes, the levels, the values.
  absl::Status UnpackV1(std::string_view bytes) {
    if (!DecompressPage(codec_, bytes, static_cast<size_t>(header_.uncompressed_bytes),
                        &page_.bytes)) {
      return Damaged("its " + CodecName(codec_) + " data");
    }
    values_ = page_.bytes;
    if (!is_optional_) return absl::OkStatus();
    if (!Is(header_.definition_encoding, Encoding::kRle)) {
      return Unsupported("definition levels in the encoding " +
                         EncodingName(header_.definition_encoding) + " are not supported");
    }
    const std::optional<std::string_view> levels = TakePlain(&values_);
    if (!levels) return Damaged("its definition levels");
    levels_ = *levels;
    return absl::OkStatus();
  }

  // Only the values are compressed, and may also be stored without compression.
  absl::Status UnpackV2(std::string_view bytes) {
    const int64_t levels = header_.definition_bytes;
    const bool fits = levels >= 0 && levels <= static_cast<int64_t>(bytes.size()) &&
                      levels <= header_.uncompressed_bytes && header_.repetition_bytes == 0;
    if (!fits) return Damaged("the lengths of its levels");
    const int64_t codec = header_.is_compressed ? codec_ : static_cast<int64_t>(Codec::kNone);
    const auto split = static_cast<size_t>(levels);
    page_.bytes.assign(bytes.substr(0, split));
    if (!DecompressPage(codec, bytes.substr(split),
                        static_cast<size_t>(header_.uncompressed_bytes - levels), &page_.bytes)) {
      return Damaged("its " + CodecName(codec) + " data");
    }
    levels_ = std::string_view(page_.bytes).substr(0, split);
    values_ = std::string_view(page_.bytes).substr(split);
    return absl::OkStatus();
  }

  // Adds an empty value or null for each row.
  absl::Status ReadNulls() {
    page_.values.assign(static_cast<size_t>(header_.values), std::string_view());
    if (!is_optional_) return absl::OkStatus();
    HybridReader levels(levels_, 1);
    for (std::optional<std::string_view>& value : page_.values) {
      uint32_t level = 0;
      if (!levels.Next(&level)) return Damaged("its definition levels");
      if (level == 0) value.reset();
    }
    return absl::OkStatus();
  }

  absl::Status ReadPlain() {
    for (std::optional<std::string_view>& value : page_.values) {
      if (!value) continue;
      value = TakePlain(&values_);
      if (!value) return Damaged("the lengths of its values");
    }
    return absl::OkStatus();
  }

  absl::Status ReadIndices() {
    if (page_.dictionary == nullptr) return Damaged("its dictionary is missing");
    // A page of nulls may have no bytes.
    const int bit_width = values_.empty() ? 0 : static_cast<uint8_t>(values_.front());
    if (bit_width > 32) return Damaged("the width of its dictionary indices");
    HybridReader indices(values_.substr(values_.empty() ? 0 : 1), bit_width);
    const std::vector<std::string_view>& dictionary = page_.dictionary->values;
    int64_t text = 0;
    for (std::optional<std::string_view>& value : page_.values) {
      if (!value) continue;
      uint32_t index = 0;
      if (!indices.Next(&index) || index >= dictionary.size()) {
        return Damaged("its dictionary indices");
      }
      value = dictionary[index];
      text += static_cast<int64_t>(value->size());
      if (text > kPageBytesMax) return Unsupported("a page has more than 256 MiB of text");
    }
    return absl::OkStatus();
  }

  const PageHeader& header_;
  const int64_t codec_;
  const bool is_optional_;
  TextPage& page_;
  std::string_view levels_;  // in page_.bytes
  std::string_view values_;  // in page_.bytes
};

}  // namespace

absl::StatusOr<std::shared_ptr<const TextDictionary>> DecodeDictionary(const PageSource& source,
                                                                       std::string_view bytes) {
  TRAINYARD_RETURN_IF_ERROR(CheckPage(source, bytes));
  const PageHeader& header = source.header;
  if (!Is(header.encoding, Encoding::kPlain) && !Is(header.encoding, Encoding::kPlainDictionary)) {
    return Unsupported("a dictionary in the encoding " + EncodingName(header.encoding) +
                       " is not supported");
  }
  auto dictionary = std::make_shared<TextDictionary>();
  if (!DecompressPage(source.codec, bytes, static_cast<size_t>(header.uncompressed_bytes),
                      &dictionary->bytes)) {
    return Damaged("its " + CodecName(source.codec) + " data");
  }
  std::string_view rest = dictionary->bytes;
  for (int64_t i = 0; i < header.values; ++i) {
    const std::optional<std::string_view> value = TakePlain(&rest);
    if (!value) return Damaged("the lengths of its dictionary");
    dictionary->values.push_back(*value);
  }
  return dictionary;
}

absl::StatusOr<std::shared_ptr<const TextPage>> DecodeDataPage(
    const PageSource& source, std::string_view bytes,
    std::shared_ptr<const TextDictionary> dictionary) {
  TRAINYARD_RETURN_IF_ERROR(CheckPage(source, bytes));
  auto page = std::make_shared<TextPage>();
  page->dictionary = std::move(dictionary);
  TRAINYARD_RETURN_IF_ERROR(PageDecoder(source, page.get()).Decode(bytes));
  return page;
}

}  // namespace trainyard::data
