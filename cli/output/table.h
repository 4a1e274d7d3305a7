// Lists and documents in every format of -o.
#ifndef TRAINYARD_CLI_OUTPUT_TABLE_H_
#define TRAINYARD_CLI_OUTPUT_TABLE_H_

#include <string>
#include <vector>

#include "cli/output/console.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

enum class OutputFormat { kTable, kWide, kJson, kYaml, kName, kCsv };

// For people, not for programs.
inline bool IsTable(OutputFormat format) {
  return format == OutputFormat::kTable || format == OutputFormat::kWide;
}

struct Column {
  std::string title;
  bool right_aligned = false;
  // Shown by -o wide and -o csv only.
  bool wide = false;
  // Loses width first when the terminal is narrow.
  bool shrinks = false;
  // A shrinking column keeps this much as long as others can shrink or be hidden; 0 means little.
  int kept_width = 0;
  // Columns with 1 are hidden first when the terminal is narrow, then those with 2, and so on; one
  // with 0 is never hidden. -o wide hides none.
  int hides = 0;
};

// Enough of a sentence to tell what it is about.
inline constexpr int kReasonWidth = 24;

struct Row {
  std::vector<std::string> cells;
  // Text of -o name: an id that other commands accept.
  std::string name;
  // Output of -o json and -o yaml.
  nlohmann::json document;
  // Cells of -o csv, where they differ from `cells`: plain numbers, seconds, ISO-8601 times.
  std::vector<std::string> exact_cells;
};

struct Listing {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// JSON and YAML print one array of the documents. A table is cut to the terminal's width.
void PrintListing(const Listing& listing, OutputFormat format, Console& console);

// The table of `columns` that are not wide, or all with `wide`. `width` 0 means no limit; else
// columns shrink to their kept widths, then some are hidden, then all shrink further.
std::string RenderTable(const Listing& listing, bool wide, int width);

// RFC 4180, with a header line.
std::string RenderCsv(const Listing& listing);

// A field of a CSV line, as OneLine gives it: quoted when it has a comma or a quote.
std::string CsvField(const std::string& text);

// JSON, YAML, name or flattened CSV (key,value) of one thing; not for table formats.
void PrintDocument(const nlohmann::json& document, const std::string& name, OutputFormat format,
                   Console& console);

// Never fails: bytes that are not UTF-8 are replaced.
std::string DumpJson(const nlohmann::json& document, int indent);

std::string DumpYaml(const nlohmann::json& document);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TABLE_H_
