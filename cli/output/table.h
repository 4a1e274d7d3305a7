// Lists and documents in all formats of -o.
#ifndef TRAINYARD_CLI_OUTPUT_TABLE_H_
#define TRAINYARD_CLI_OUTPUT_TABLE_H_

#include <string>
#include <vector>

#include "cli/output/console.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

enum class OutputFormat { kTable, kWide, kJson, kYaml, kName, kCsv };

// True for formats for people, not programs.
inline bool IsTable(OutputFormat format) {
  return format == OutputFormat::kTable || format == OutputFormat::kWide;
}

struct Column {
  std::string title;
  bool right_aligned = false;
  // Shown only by -o wide and -o csv.
  bool wide = false;
  // Shrinks first on a narrow terminal.
  bool shrinks = false;
  // Minimum width of this column while other columns can still shrink or be hidden. 0: kLeastWidth.
  int kept_width = 0;
  // On a narrow terminal, columns with 1 are hidden first, then those with 2, and so on; columns
  // with 0 are never hidden. -o wide hides none.
  int hides = 0;
};

// Enough of a sentence to recognise its subject.
inline constexpr int kReasonWidth = 24;

struct Row {
  std::vector<std::string> cells;
  // Text of -o name: an id accepted by other commands.
  std::string name;
  // Output of -o json and -o yaml.
  nlohmann::json document;
  // Cells of -o csv, if different from `cells`: plain numbers, seconds, ISO-8601 times.
  std::vector<std::string> exact_cells;
};

struct Listing {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// JSON and YAML print one array of the documents. A table is truncated to the terminal's width.
void PrintListing(const Listing& listing, OutputFormat format, Console& console);

// The table of the columns that are not wide, or of all with `wide`. `width` 0 means no limit.
// Otherwise columns shrink to their kept widths, then some are hidden, then all shrink further.
std::string RenderTable(const Listing& listing, bool wide, int width);

// RFC 4180, with a header line.
std::string RenderCsv(const Listing& listing);

// A field of a CSV line, as OneLine returns it, quoted if it contains a comma or a quote.
std::string CsvField(const std::string& text);

// Prints one document as JSON, YAML, name or flattened CSV (key,value); not for table formats.
void PrintDocument(const nlohmann::json& document, const std::string& name, OutputFormat format,
                   Console& console);

// Never fails: invalid UTF-8 is replaced.
std::string DumpJson(const nlohmann::json& document, int indent);

std::string DumpYaml(const nlohmann::json& document);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TABLE_H_
