// Prints lists and documents in all formats that -o accepts.
#ifndef TRAINYARD_CLI_OUTPUT_TERMINAL_TABLE_H_
#define TRAINYARD_CLI_OUTPUT_TERMINAL_TABLE_H_

#include <string>
#include <vector>

#include "cli/output/terminal/console.h"
#include "nlohmann/json.hpp"

namespace trainyard::cli {

enum class OutputFormat { kTable, kWide, kJson, kYaml, kName, kCsv };

// True for the formats meant for people, not for programs.
inline bool IsTable(OutputFormat format) {
  return format == OutputFormat::kTable || format == OutputFormat::kWide;
}

struct Column {
  std::string title;
  bool right_aligned = false;
  // Shown only by -o wide and -o csv.
  bool wide = false;
  // Shrinks before other columns on a narrow terminal.
  bool shrinks = false;
  // Minimum width while other columns can still shrink or be hidden. 0: kLeastWidth.
  int kept_width = 0;
  // Order in which columns are hidden on a narrow terminal: 1 first, then 2, and so on. 0: never
  // hidden.
  // -o wide hides no columns.
  int hides = 0;
};

// Wide enough to show the subject of a sentence.
inline constexpr int kReasonWidth = 24;

struct Row {
  std::vector<std::string> cells;
  // Printed by -o name: an id that other commands accept.
  std::string name;
  // Printed by -o json and -o yaml.
  nlohmann::json document;
  // Cells for -o csv, if they differ from `cells`: plain numbers, seconds, ISO-8601 times.
  std::vector<std::string> exact_cells;
  // Index of the cell that a terminal shows in red; -1: none.
  int red_cell = -1;
};

struct Listing {
  std::vector<Column> columns;
  std::vector<Row> rows;
};

// Prints a list. JSON and YAML output is one array of documents. A table is cut to the width of the
// terminal.
void PrintListing(const Listing& listing, OutputFormat format, Console& console);

// `wide`: include the columns of -o wide. `width` 0: no limit. To fit into `width`, columns first
// shrink to their kept widths. Then some columns are hidden, and the other columns shrink further.
// `color`: show red cells in red.
std::string RenderTable(const Listing& listing, bool wide, int width, bool color = false);

// RFC 4180, with a header line.
std::string RenderCsv(const Listing& listing);

// Returns the text as a CSV field: converted by OneLine, and quoted if it contains a comma or a
// quote.
std::string CsvField(const std::string& text);

// Prints one document as JSON, YAML, name or flat CSV (key,value). `format` must not be a table
// format.
void PrintDocument(const nlohmann::json& document, const std::string& name, OutputFormat format,
                   Console& console);

// Never fails, because invalid UTF-8 is replaced.
std::string DumpJson(const nlohmann::json& document, int indent);

std::string DumpYaml(const nlohmann::json& document);

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_OUTPUT_TERMINAL_TABLE_H_
