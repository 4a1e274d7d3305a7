#include "controller/store/transfer/table_copy.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "controller/store/support/block_codec.h"
#include "controller/store/support/checksum.h"

namespace trainyard::controller {
namespace {

// Bounds of one transaction of the target.
constexpr std::size_t kTransactionRows = 16'384;
constexpr std::size_t kTransactionBytes = std::size_t{16} << 20;

// One row with its own copy of the bytes.
struct Row {
  std::vector<int64_t> numbers;    // Columns of the kinds i and r; a real number as its bits.
  std::vector<std::string> texts;  // Columns of the kinds t and b.
};

// SQLite keeps neither the bits of a NaN nor the sign of a zero.
double Normalized(double value) {
  if (std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  return value == 0 ? 0.0 : value;
}

Row ReadRow(const TransferTable& table, const SqlRows& rows) {
  Row row;
  for (int column = 0; column < static_cast<int>(table.kinds.size()); ++column) {
    switch (table.kinds[static_cast<std::size_t>(column)]) {
      case 'i':
        row.numbers.push_back(rows.Int64(column));
        break;
      case 'r':
        row.numbers.push_back(std::bit_cast<int64_t>(Normalized(rows.Double(column))));
        break;
      default:
        row.texts.emplace_back(rows.Bytes(column));
    }
  }
  return row;
}

SqlArguments ArgumentsOf(const TransferTable& table, const Row& row, std::size_t columns) {
  SqlArguments arguments;
  std::size_t number = 0;
  std::size_t text = 0;
  for (std::size_t column = 0; column < columns; ++column) {
    switch (table.kinds[column]) {
      case 'i':
        arguments.emplace_back(row.numbers[number++]);
        break;
      case 'r':
        arguments.emplace_back(std::bit_cast<double>(row.numbers[number++]));
        break;
      case 't':
        arguments.emplace_back(std::string_view(row.texts[text++]));
        break;
      default:
        arguments.emplace_back(SqlBlob{row.texts[text++]});
    }
  }
  return arguments;
}

std::size_t BytesOf(const Row& row) {
  std::size_t bytes = row.numbers.size() * sizeof(int64_t);
  for (const std::string& text : row.texts) bytes += text.size();
  return bytes;
}

void AddToDigest(const Row& row, TableDigest& digest) {
  std::string bytes;
  for (const int64_t number : row.numbers) PutVarint(static_cast<uint64_t>(number), bytes);
  for (const std::string& text : row.texts) {
    PutVarint(text.size(), bytes);
    bytes += text;
  }
  controller::AddToDigest(bytes, digest);
}

// Returns "$1, $2, ..." for this many parameters.
std::string Parameters(std::size_t count) {
  std::string text;
  for (std::size_t i = 1; i <= count; ++i) absl::StrAppend(&text, i == 1 ? "" : ", ", "$", i);
  return text;
}

// Returns the names of the key columns.
std::string KeysOf(const TransferTable& table) {
  std::size_t end = 0;
  for (int i = 0; i < table.keys; ++i) end = table.columns.find(',', i == 0 ? 0 : end + 1);
  return table.columns.substr(0, end);
}

// Passes all rows to `visit`, in the order of the keys.
absl::Status ForEachRow(const TransferTable& table, SqlDatabase& database,
                        const std::function<absl::Status(Row)>& visit) {
  const std::string keys = KeysOf(table);
  const std::string select = absl::StrCat("SELECT ", table.columns, " FROM ", table.name);
  const std::string order = absl::StrCat(" ORDER BY ", keys, " LIMIT ", table.page_rows);
  const auto key_count = static_cast<std::size_t>(table.keys);
  const std::string next =
      absl::StrCat(select, " WHERE (", keys, ") > (", Parameters(key_count), ")", order);
  std::vector<Row> page;
  Row last;
  do {
    page.clear();
    const bool first = last.numbers.empty() && last.texts.empty();
    const std::vector<SqlArguments> arguments = {first ? SqlArguments()
                                                       : ArgumentsOf(table, last, key_count)};
    TRAINYARD_RETURN_IF_ERROR(database.RunForEach(
        first ? select + order : next, arguments, [&](std::size_t, SqlRows& rows) -> absl::Status {
          while (true) {
            TRAINYARD_ASSIGN_OR_RETURN(const bool found, rows.Next());
            if (!found) return absl::OkStatus();
            page.push_back(ReadRow(table, rows));
          }
        }));
    if (!page.empty()) last = page.back();
    const bool more = static_cast<int>(page.size()) == table.page_rows;
    for (Row& row : page) TRAINYARD_RETURN_IF_ERROR(visit(std::move(row)));
    if (!more) return absl::OkStatus();
  } while (true);
}

// Inserts rows in transactions of bounded size.
class RowWriter {
 public:
  RowWriter(const TransferTable& table, TransferSide& target)
      : table_(table),
        target_(target),
        insert_(absl::StrCat("INSERT INTO ", table.name, " (", table.columns, ") VALUES (",
                             Parameters(table.kinds.size()), ")")) {}

  absl::Status Add(Row row) {
    bytes_ += BytesOf(row);
    rows_.push_back(std::move(row));
    if (rows_.size() < kTransactionRows && bytes_ < kTransactionBytes) return absl::OkStatus();
    return Flush();
  }

  absl::Status Flush() {
    if (rows_.empty()) return absl::OkStatus();
    std::vector<SqlArguments> all;
    all.reserve(rows_.size());
    for (const Row& row : rows_) all.push_back(ArgumentsOf(table_, row, table_.kinds.size()));
    TRAINYARD_RETURN_IF_ERROR(target_.Write(table_.part, [&] {
      return target_.database(table_.part).RunForEach(insert_, all, nullptr);
    }));
    rows_.clear();
    bytes_ = 0;
    return absl::OkStatus();
  }

 private:
  const TransferTable& table_;
  TransferSide& target_;
  const std::string insert_;
  std::vector<Row> rows_;
  std::size_t bytes_ = 0;
};

}  // namespace

void AddToDigest(std::string_view row, TableDigest& digest) {
  ++digest.rows;
  digest.hash = Checksum(row, digest.hash);
}

absl::StatusOr<TableDigest> CopyTable(const TransferTable& table, TransferSide& source,
                                      TransferSide& target) {
  TableDigest digest;
  RowWriter writer(table, target);
  TRAINYARD_RETURN_IF_ERROR(
      ForEachRow(table, source.database(table.part), [&](Row row) -> absl::Status {
        AddToDigest(row, digest);
        return writer.Add(std::move(row));
      }));
  TRAINYARD_RETURN_IF_ERROR(writer.Flush());
  return digest;
}

absl::StatusOr<TableDigest> DigestTable(const TransferTable& table, TransferSide& side) {
  TableDigest digest;
  TRAINYARD_RETURN_IF_ERROR(
      ForEachRow(table, side.database(table.part), [&](const Row& row) -> absl::Status {
        AddToDigest(row, digest);
        return absl::OkStatus();
      }));
  return digest;
}

}  // namespace trainyard::controller
