// Prints lists and documents in all formats of -o.
#ifndef TRAINYARD_CLI_OUTPUT_TABLE_H_
#define TRAINYARD_CLI_OUTPUT_TABLE_H_

#include <string>
#include <vector>

#include "cli/output/console.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

enum class OutputFormat { kTable, kWide, kJson, kYaml, kName, kCsv };

// True for the formats that are meant for people instead of programs.
inline bool IsTable(OutputFormat format) {
  return format == OutputFormat::kTable || format == OutputFormat::kWide;
}

struct Column {
  std::string title;
  bool right_aligned = false;
  // True if only -o wide and -o csv show it.
  bool wide = false;
  // True if this column shrinks first on a narrow terminal.
  bool shrinks = false;
  // Minimum width as long as other columns can still shrink or be hidden. 0: kLeastWidth.
  int kept_width = 0;
  // Order in which columns are hidden on a narrow terminal: first those with 1, then those with 2,
  // and so on. Columns with 0 are never hidden. -o wide hides no columns.
  int hides = 0;
};

// Wide enough to show what a sentence is about.
inline constexpr int kReasonWidth = 24;

struct Row {
  std::vector<std::string> cells;
  // Output of -o name: an id that other commands accept.
  std::string name;
  // Output of -o json and -o yaml.
  nlohmann::json document;
  // Cells for -o csv if they differ from `cells`: plain numbers, seconds, ISO-8601 times.
  std::vector<std::string> exact_cells;
};

struct Listing {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// Prints a list. JSON and YAML output is one array of the documents. A table is cut to the width of
// the terminal.
void PrintListing(const Listing& listing, OutputFormat format, Console& console);

// Returns the table, without wide columns unless `wide` is set. `width` 0 means no limit. Otherwise
// columns first shrink to their kept widths, then some columns are hidden, then all columns shrink
// further.
std::string RenderTable(const Listing& listing, bool wide, int width);

// RFC 4180, with a header line.
std::string RenderCsv(const Listing& listing);

// Returns the text, converted by OneLine, as a field of a CSV line. It is quoted if it contains a
// comma or a quote.
std::string CsvField(const std::string& text);

// Prints one document as JSON, YAML, name or flat CSV (key,value). Table formats are not allowed.
void PrintDocument(const nlohmann::json& document, const std::string& name, OutputFormat format,
                   Console& console);

// Returns JSON text. Never fails, because invalid UTF-8 is replaced.
std::string DumpJson(const nlohmann::json& document, int indent);

std::string DumpYaml(const nlohmann::json& document);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TABLE_H_
