#include "cli/output/terminal/table.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <ostream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "cli/output/terminal/readable.h"
#include "yaml-cpp/yaml.h"

namespace trainyard::cli {
namespace {

// Columns of space between two cells.
constexpr int kGap = 2;
// Minimum width of every column.
constexpr int kLeastWidth = 8;

std::vector<std::size_t> ShownColumns(const Listing& listing, bool wide) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < listing.columns.size(); ++i) {
    if (wide || !listing.columns[i].wide) shown.push_back(i);
  }
  return shown;
}

std::vector<int> NaturalWidths(const Listing& listing, const std::vector<std::size_t>& shown) {
  std::vector<int> widths;
  for (const std::size_t column : shown) {
    int widest = DisplayWidth(listing.columns[column].title);
    for (const Row& row : listing.rows) {
      widest = std::max(widest, DisplayWidth(OneLine(row.cells[column])));
    }
    widths.push_back(widest);
  }
  return widths;
}

int TotalWidth(const std::vector<int>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 0) +
         kGap * (static_cast<int>(widths.size()) - 1);
}

int KeptWidth(const Column& column) { return std::max(column.kept_width, kLeastWidth); }

// Repeatedly narrows the widest column that can shrink, until the line fits or no column can
// shrink. `least_of` returns the minimum width of a column.
template <typename LeastOf>
void ShrinkToFit(const std::vector<Column>& columns, const LeastOf& least_of, int width,
                 std::vector<int>& widths) {
  for (int total = TotalWidth(widths); total > width; --total) {
    int* widest = nullptr;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool can = columns[i].shrinks && widths[i] > least_of(columns[i]);
      if (can && (widest == nullptr || widths[i] > *widest)) widest = &widths[i];
    }
    if (widest == nullptr) return;
    --*widest;
  }
}

// Returns the index in `shown` of the column to hide next; nullopt if no column may be hidden.
std::optional<std::size_t> NextHidden(const std::vector<Column>& columns) {
  std::optional<std::size_t> next;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const int hides = columns[i].hides;
    if (hides > 0 && (!next.has_value() || hides < columns[*next].hides)) next = i;
  }
  return next;
}

// Fits the columns into `width` in three stages: shrinks columns to their kept widths, hides
// columns, then shrinks columns to the minimum width.
std::vector<int> FitWidths(const Listing& listing, bool may_hide, int width,
                           std::vector<std::size_t>& shown) {
  for (;;) {
    std::vector<Column> columns;
    for (const std::size_t column : shown) columns.push_back(listing.columns[column]);
    std::vector<int> widths = NaturalWidths(listing, shown);
    ShrinkToFit(columns, KeptWidth, width, widths);
    const std::optional<std::size_t> hidden = may_hide ? NextHidden(columns) : std::nullopt;
    if (TotalWidth(widths) <= width || !hidden.has_value()) {
      ShrinkToFit(
          columns, [](const Column&) { return kLeastWidth; }, width, widths);
      return widths;
    }
    shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(*hidden));
  }
}

std::string Padding(int columns) { return std::string(std::max(columns, 0), ' '); }

struct CellPlace {
  std::size_t offset = 0;
  std::string text;  // Empty: no cell.
};

// Returns the line with the cell in red, unless the cell was cut.
std::string WithRed(const std::string& line, const CellPlace& cell) {
  const bool is_whole =
      !cell.text.empty() && line.compare(cell.offset, cell.text.size(), cell.text) == 0;
  if (!is_whole) return line;
  return absl::StrCat(line.substr(0, cell.offset), "\033[31m", cell.text, "\033[0m",
                      line.substr(cell.offset + cell.text.size()));
}

// Adds the scalar values under flat keys such as "a.b[0]".
void Flatten(const nlohmann::json& value, const std::string& key,
             std::vector<std::pair<std::string, std::string>>& lines) {
  if (value.is_object()) {
    for (const auto& [name, child] : value.items()) {
      Flatten(child, key.empty() ? name : absl::StrCat(key, ".", name), lines);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      Flatten(value[i], absl::StrCat(key, "[", i, "]"), lines);
    }
  } else {
    lines.emplace_back(key, value.is_string() ? value.get<std::string>()
                            : value.is_null() ? ""
                                              : DumpJson(value, -1));
  }
}

void EmitYaml(const nlohmann::json& value, YAML::Emitter& emitter) {
  if (value.is_object() && !value.empty()) {
    emitter << YAML::BeginMap;
    for (const auto& [name, child] : value.items()) {
      emitter << YAML::Key << name << YAML::Value;
      EmitYaml(child, emitter);
    }
    emitter << YAML::EndMap;
  } else if (value.is_array() && !value.empty()) {
    emitter << YAML::BeginSeq;
    for (const nlohmann::json& child : value) EmitYaml(child, emitter);
    emitter << YAML::EndSeq;
  } else if (value.is_object()) {
    emitter << YAML::Flow << YAML::BeginMap << YAML::EndMap;
  } else if (value.is_array()) {
    emitter << YAML::Flow << YAML::BeginSeq << YAML::EndSeq;
  } else if (value.is_string()) {
    // Quote the text, so that every YAML reader treats "no", "1e3" and times as text.
    emitter << YAML::DoubleQuoted << value.get<std::string>();
  } else if (value.is_null()) {
    emitter << YAML::Null;
  } else {
    emitter << DumpJson(value, -1);
  }
}

}  // namespace

std::string RenderTable(const Listing& listing, bool wide, int width, bool color) {
  std::vector<std::size_t> shown = ShownColumns(listing, wide);
  const std::vector<int> widths =
      width > 0 ? FitWidths(listing, !wide, width, shown) : NaturalWidths(listing, shown);
  std::string text;
  const auto add_line = [&](int red_cell, const auto& cell_of) {
    std::string line;
    CellPlace red;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::string cell = CutToWidth(cell_of(shown[i]), widths[i]);
      const std::string space = Padding(widths[i] - DisplayWidth(cell));
      const bool right = listing.columns[shown[i]].right_aligned;
      if (i > 0) line += Padding(kGap);
      if (right) line += space;
      if (static_cast<int>(shown[i]) == red_cell) red = {line.size(), cell};
      absl::StrAppend(&line, cell, right ? "" : space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    if (width > 0) line = CutToWidth(line, width);
    absl::StrAppend(&text, color ? WithRed(line, red) : line, "\n");
  };
  add_line(-1, [&](std::size_t column) { return listing.columns[column].title; });
  for (const Row& row : listing.rows) {
    add_line(row.red_cell, [&](std::size_t column) { return OneLine(row.cells[column]); });
  }
  return text;
}

std::string CsvField(const std::string& text) {
  // Replace control characters, because the file may later be printed on a terminal.
  const std::string field = OneLine(text);
  if (field.find_first_of(",\"") == std::string::npos) return field;
  return absl::StrCat("\"", absl::StrReplaceAll(field, {{"\"", "\"\""}}), "\"");
}

std::string RenderCsv(const Listing& listing) {
  std::string text;
  const auto append_field = [](std::string* out, const std::string& field) {
    out->append(CsvField(field));
  };
  std::vector<std::string> titles;
  for (const Column& column : listing.columns) titles.push_back(column.title);
  absl::StrAppend(&text, absl::StrJoin(titles, ",", append_field), "\n");
  for (const Row& row : listing.rows) {
    absl::StrAppend(
        &text,
        absl::StrJoin(row.exact_cells.empty() ? row.cells : row.exact_cells, ",", append_field),
        "\n");
  }
  return text;
}

void PrintListing(const Listing& listing, OutputFormat format, Console& console) {
  std::ostream& out = *console.out;
  if (format == OutputFormat::kCsv) {
    out << RenderCsv(listing);
  } else if (format == OutputFormat::kName) {
    for (const Row& row : listing.rows) out << OneLine(row.name) << "\n";
  } else if (format == OutputFormat::kJson || format == OutputFormat::kYaml) {
    nlohmann::json documents = nlohmann::json::array();
    for (const Row& row : listing.rows) documents.push_back(row.document);
    PrintDocument(documents, "", format, console);
  } else {
    out << RenderTable(listing, format == OutputFormat::kWide,
                       console.out_is_tty ? console.width : 0, console.out_color);
  }
}

std::string DumpJson(const nlohmann::json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string DumpYaml(const nlohmann::json& document) {
  YAML::Emitter emitter;
  EmitYaml(document, emitter);
  return absl::StrCat(emitter.c_str(), "\n");
}

void PrintDocument(const nlohmann::json& document, const std::string& name, OutputFormat format,
                   Console& console) {
  std::ostream& out = *console.out;
  switch (format) {
    case OutputFormat::kJson:
      out << DumpJson(document, 2) << "\n";
      return;
    case OutputFormat::kYaml:
      out << DumpYaml(document);
      return;
    case OutputFormat::kCsv: {
      std::vector<std::pair<std::string, std::string>> lines;
      Flatten(document, "", lines);
      out << "key,value\n";
      for (const auto& [key, value] : lines) {
        out << CsvField(key) << "," << CsvField(value) << "\n";
      }
      return;
    }
    case OutputFormat::kName:
    case OutputFormat::kTable:
    case OutputFormat::kWide:
      out << name << "\n";
      return;
  }
}

}  // namespace trainyard::cli
