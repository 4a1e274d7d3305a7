#include "cli/commands/jobs/reading/parse.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <deque>
#include <fstream>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/output/terminal/readable.h"
#include "cli/output/terminal/table.h"
#include "proto/contract/telemetry_keys.h"
#include "proto/json/enum_text.h"
#include "proto/parsers/log_parser.h"
#include "proto/parsers/output_parser.h"
#include "proto/support/status_macros.h"
#include "proto/text/number_text.h"

namespace trainyard::cli {
namespace {

constexpr std::size_t kPieceBytes = 1 << 20;
// The part of the file by which the kind is detected.
constexpr std::size_t kDetectBytes = 4 << 20;

// Returns the kinds that need no pattern.
std::vector<v1::LogParserKind> DetectableKinds() {
  std::vector<v1::LogParserKind> kinds;
  const auto* type = v1::LogParserKind_descriptor();
  for (int i = 0; i < type->value_count(); ++i) {
    const auto kind = static_cast<v1::LogParserKind>(type->value(i)->number());
    const bool is_detectable = kind != v1::LOG_PARSER_KIND_UNSPECIFIED &&
                               kind != v1::LOG_PARSER_KIND_NONE &&
                               kind != v1::LOG_PARSER_KIND_REGEX;
    if (is_detectable) kinds.push_back(kind);
  }
  return kinds;
}

std::vector<std::string> KindNames() {
  std::vector<std::string> names = {EnumText(v1::LOG_PARSER_KIND_REGEX)};
  for (const v1::LogParserKind kind : DetectableKinds()) names.push_back(EnumText(kind));
  return names;
}

v1::LogParserSpec SpecOf(const ParseOptions& options, v1::LogParserKind kind) {
  v1::LogParserSpec spec;
  spec.set_kind(kind);
  spec.set_pattern(options.pattern);
  for (const std::string& entry : options.scale) spec.add_scale(entry);
  return spec;
}

// Counts the records of each kind at the start of the output. Kinds without a record are left out.
std::map<v1::LogParserKind, int64_t> CountKinds(const ParseOptions& options,
                                                std::string_view start) {
  std::map<v1::LogParserKind, int64_t> counts;
  for (const v1::LogParserKind kind : DetectableKinds()) {
    const auto parser = MakeLogParser(SpecOf(options, kind), options.ranks);
    if (!parser.ok()) continue;
    OutputParser reader(**parser, [](const v1::MetricsRecord&) {});
    reader.Add(start);
    reader.End();
    if (reader.records() > 0) counts[kind] = reader.records();
  }
  return counts;
}

v1::LogParserKind KindOf(const ParseOptions& options, std::string_view start) {
  if (!options.kind.empty()) {
    const auto* value = EnumValueByShortName(*v1::LogParserKind_descriptor(), options.kind);
    return static_cast<v1::LogParserKind>(value->number());
  }
  if (!options.pattern.empty()) return v1::LOG_PARSER_KIND_REGEX;
  const auto counts = CountKinds(options, start);
  const auto best =
      std::ranges::max_element(counts, {}, [](const auto& count) { return count.second; });
  return best == counts.end() ? v1::LOG_PARSER_KIND_NONE : best->first;
}

std::string ValueText(double value) {
  return std::isfinite(value) ? NumberText(value) : NotFiniteText(value);
}

// Prints records as they are found, or keeps the newest ones for a table.
class RecordPrinter {
 public:
  RecordPrinter(int limit, OutputFormat format, Console& console)
      : limit_(static_cast<std::size_t>(limit)), format_(format), console_(console) {}

  void Add(const v1::MetricsRecord& record) {
    if (!first_step_.has_value()) first_step_ = record.step();
    last_step_ = record.step();
    if (IsTable(format_)) {
      newest_.push_back(record);
      if (newest_.size() > limit_) newest_.pop_front();
    } else if (format_ == OutputFormat::kCsv) {
      PrintCsv(record);
    } else {
      *console_.out << DumpJson(DocumentOf(record), -1) << "\n";
    }
  }

  void End() {
    if (!IsTable(format_)) return;
    Listing listing;
    listing.columns = {{.title = "STEP", .right_aligned = true},
                       {.title = "TOTAL", .right_aligned = true},
                       {.title = "METRICS", .shrinks = true}};
    for (const v1::MetricsRecord& record : newest_) {
      std::vector<std::string> metrics;
      for (const auto& [name, value] : Sorted(record)) {
        metrics.push_back(absl::StrCat(name, " ", ValueText(value)));
      }
      Row row;
      row.cells = {absl::StrCat(record.step()), CountText(record.total_steps()),
                   absl::StrJoin(metrics, ", ")};
      listing.rows.push_back(std::move(row));
    }
    PrintListing(listing, format_, console_);
  }

  int64_t first_step() const { return first_step_.value_or(0); }
  int64_t last_step() const { return last_step_; }

 private:
  static std::map<std::string, double> Sorted(const v1::MetricsRecord& record) {
    return {record.values().begin(), record.values().end()};
  }

  static nlohmann::json DocumentOf(const v1::MetricsRecord& record) {
    nlohmann::json values = nlohmann::json::object();
    // JSON has no NaN.
    for (const auto& [name, value] : Sorted(record)) {
      if (std::isfinite(value)) {
        values[name] = value;
      } else {
        values[name] = NotFiniteText(value);
      }
    }
    nlohmann::json total;
    if (record.total_steps() > 0) total = record.total_steps();
    return {{telemetry::kStep, record.step()},
            {telemetry::kTotalSteps, total},
            {telemetry::kMetrics, values}};
  }

  void PrintCsv(const v1::MetricsRecord& record) {
    if (!std::exchange(has_header_, true)) *console_.out << "step,metric,value\n";
    for (const auto& [name, value] : Sorted(record)) {
      *console_.out << record.step() << "," << CsvField(name) << "," << ValueText(value) << "\n";
    }
  }

  const std::size_t limit_;
  const OutputFormat format_;
  Console& console_;
  std::deque<v1::MetricsRecord> newest_;
  std::optional<int64_t> first_step_;
  int64_t last_step_ = 0;
  bool has_header_ = false;
};

std::string ReadPiece(std::istream& in, std::size_t max_bytes) {
  std::string piece(max_bytes, '\0');
  in.read(piece.data(), static_cast<std::streamsize>(piece.size()));
  piece.resize(static_cast<std::size_t>(in.gcount()));
  return piece;
}

std::string Advice(const ParseOptions& options, v1::LogParserKind kind, std::string_view start) {
  std::vector<std::string> others;
  for (const auto& [other, records] : CountKinds(options, start)) {
    if (other != kind) others.push_back(EnumText(other));
  }
  if (others.empty()) {
    return "no other kind finds a step either; set --kind regex and --pattern, or let the program "
           "write telemetry (worker/README.md)";
  }
  return absl::StrCat("try --kind ", absl::StrJoin(others, " or --kind "));
}

}  // namespace

void AddParse(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ParseOptions>();
  CLI::App* command = parent.add_subcommand(
      "parse", "Show the metrics that log_parser reads from a file of a program's output");
  command->add_option("file", options->file, "output of a program; - reads stdin")->required();
  command
      ->add_option("--kind", options->kind,
                   "log_parser.kind (default: the kind that finds most records)")
      ->check(CLI::IsMember(KindNames()));
  command->add_option("--pattern", options->pattern, "log_parser.pattern, for --kind regex");
  command
      ->add_option("--scale", options->scale,
                   "entry of log_parser.scale, as METRIC=FACTOR; repeat for several")
      ->allow_extra_args(false);
  command
      ->add_option("--ranks", options->ranks,
                   "number of ranks of the job, for programs that print rates per device")
      ->check(CLI::Range(1, 16384));
  command->add_option("--limit", options->limit, "maximum number of newest records in a table")
      ->check(CLI::Range(1, 100000));
  grammar.runners[command] = [options](Context& context) { return RunParse(*options, context); };
}

Outcome RunParse(const ParseOptions& options, Context& context) {
  std::ifstream opened;
  if (options.file != "-") {
    opened.open(options.file, std::ios::binary);
    if (!opened) {
      return absl::NotFoundError(
          absl::StrCat(options.file, ": cannot be opened: ", strerror(errno)));
    }
  }
  std::istream& in = options.file == "-" ? *context.console.in : opened;
  const std::string start = ReadPiece(in, kDetectBytes);
  const v1::LogParserKind kind = KindOf(options, start);
  if (kind == v1::LOG_PARSER_KIND_NONE) {
    PrintError(context.console, absl::StrCat(options.file, ": ", Advice(options, kind, start)));
    return ExitCode::kFailed;
  }
  TRAINYARD_ASSIGN_OR_RETURN(const std::unique_ptr<LogParser> parser,
                             MakeLogParser(SpecOf(options, kind), options.ranks));
  RecordPrinter printer(options.limit, context.format, context.console);
  OutputParser reader(*parser, [&](const v1::MetricsRecord& record) { printer.Add(record); });
  reader.Add(start);
  for (std::string piece; !(piece = ReadPiece(in, kPieceBytes)).empty();) reader.Add(piece);
  reader.End();
  if (reader.records() == 0) {
    PrintError(context.console, absl::StrCat(options.file, ": none of ", reader.lines(),
                                             " lines contains a step in the format ",
                                             EnumText(kind), "; ", Advice(options, kind, start)));
    return ExitCode::kFailed;
  }
  printer.End();
  PrintNote(context.console, absl::StrCat(reader.records(), " records in ", reader.lines(),
                                          " lines of kind ", EnumText(kind), ", from step ",
                                          printer.first_step(), " to ", printer.last_step()));
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
