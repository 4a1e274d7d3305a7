// Arguments and columns of statements in PostgreSQL's binary format, which has no escapes and keeps
// every bit. Numbers are big-endian.
#ifndef TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_VALUE_H_
#define TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_VALUE_H_

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "controller/store/sql/sql_database.h"

namespace trainyard::controller {

// The type ids are fixed by PostgreSQL (pg_type.dat).
enum class PostgresType : unsigned {
  kBytes = 17,    // bytea
  kInt64 = 20,    // bigint
  kDouble = 701,  // double precision
  kBytesArray = 1001,
  kInt64Array = 1016,
};

struct PostgresArgument {
  PostgresType type = PostgresType::kBytes;
  std::string bytes;
  bool is_null = false;
};

PostgresArgument ToArgument(int64_t value);
PostgresArgument ToArgument(double value);
// Strings are stored as bytea, which accepts every byte and is ordered by bytes. The encoding and
// the collation of the database have no effect on them.
PostgresArgument ToArgument(std::string_view bytes);
PostgresArgument ToArgument(const std::vector<int64_t>& values);
PostgresArgument ToArgument(const std::vector<std::string_view>& values);
// NaN is NULL, as in sql_database.h.
PostgresArgument ToArgument(const SqlValue& value);

template <typename T>
PostgresArgument ArgumentOf(const T& value) {
  if constexpr (std::integral<T> || std::is_enum_v<T>) {
    return ToArgument(static_cast<int64_t>(value));
  } else if constexpr (std::floating_point<T>) {
    return ToArgument(static_cast<double>(value));
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return ToArgument(std::string_view(value));
  } else {
    return ToArgument(value);
  }
}

// Decodes an integer of 1 to 8 bytes.
int64_t DecodeInt64(std::string_view bytes);
double DecodeDouble(std::string_view bytes);

}  // namespace trainyard::controller

#endif  // TRAINYARD_CONTROLLER_STORE_POSTGRES_POSTGRES_VALUE_H_
