#include "controller/store/postgres/postgres_value.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <variant>

namespace trainyard::controller {
namespace {

void PutBigEndian(uint64_t value, int bytes, std::string& out) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<char>(value >> shift & 0xff));
  }
}

// The header of an array with one dimension and without NULLs.
std::string ArrayHeader(PostgresType element, std::size_t size) {
  std::string bytes;
  PutBigEndian(1, 4, bytes);  // Dimensions.
  PutBigEndian(0, 4, bytes);  // No NULLs.
  PutBigEndian(static_cast<uint64_t>(element), 4, bytes);
  PutBigEndian(size, 4, bytes);
  PutBigEndian(1, 4, bytes);  // Index of the first element.
  return bytes;
}

}  // namespace

PostgresArgument ToArgument(int64_t value) {
  PostgresArgument argument{.type = PostgresType::kInt64};
  PutBigEndian(static_cast<uint64_t>(value), 8, argument.bytes);
  return argument;
}

PostgresArgument ToArgument(double value) {
  PostgresArgument argument{.type = PostgresType::kDouble};
  PutBigEndian(std::bit_cast<uint64_t>(value), 8, argument.bytes);
  return argument;
}

PostgresArgument ToArgument(std::string_view bytes) {
  return {.type = PostgresType::kBytes, .bytes = std::string(bytes)};
}

PostgresArgument ToArgument(const std::vector<int64_t>& values) {
  PostgresArgument argument{.type = PostgresType::kInt64Array,
                            .bytes = ArrayHeader(PostgresType::kInt64, values.size())};
  for (const int64_t value : values) {
    PutBigEndian(8, 4, argument.bytes);
    PutBigEndian(static_cast<uint64_t>(value), 8, argument.bytes);
  }
  return argument;
}

PostgresArgument ToArgument(const std::vector<std::string_view>& values) {
  PostgresArgument argument{.type = PostgresType::kBytesArray,
                            .bytes = ArrayHeader(PostgresType::kBytes, values.size())};
  for (const std::string_view value : values) {
    PutBigEndian(value.size(), 4, argument.bytes);
    argument.bytes += value;
  }
  return argument;
}

PostgresArgument ToArgument(const SqlValue& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return ToArgument(*number);
  if (const auto* text = std::get_if<std::string_view>(&value)) return ToArgument(*text);
  if (const auto* blob = std::get_if<SqlBlob>(&value)) return ToArgument(blob->bytes);
  PostgresArgument argument = ToArgument(std::get<double>(value));
  argument.is_null = std::isnan(std::get<double>(value));
  return argument;
}

int64_t DecodeInt64(std::string_view bytes) {
  if (bytes.empty()) return 0;
  // The sign of the first byte extends to all higher bits.
  auto value = static_cast<uint64_t>(static_cast<int64_t>(static_cast<signed char>(bytes[0])));
  for (const char byte : bytes.substr(1)) value = value << 8 | static_cast<unsigned char>(byte);
  return static_cast<int64_t>(value);
}

double DecodeDouble(std::string_view bytes) {
  return std::bit_cast<double>(static_cast<uint64_t>(DecodeInt64(bytes)));
}

}  // namespace trainyard::controller
