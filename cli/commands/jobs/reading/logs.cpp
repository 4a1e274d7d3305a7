#include "cli/commands/jobs/reading/logs.h"

#include <memory>
#include <ostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/files/stable_json.h"
#include "cli/output/terminal/readable.h"
#include "proto/contract/limits.h"
#include "proto/support/status_macros.h"
#include "proto/text/printable.h"

namespace trainyard::cli {
namespace {

absl::Status WrongRanks(const std::string& text) {
  return absl::InvalidArgumentError(
      absl::StrCat("--rank ", text, ": must be ranks and ranges, such as 0 or 0,8-15"));
}

// Parses the ranks of --rank, such as "0,8-15". An empty text gives an empty list, which means all
// ranks.
absl::StatusOr<std::vector<int>> ParseRanks(const std::string& text) {
  std::vector<int> ranks;
  if (text.empty()) return ranks;
  for (const absl::string_view part : absl::StrSplit(text, ',')) {
    const std::vector<std::string> ends = absl::StrSplit(part, '-');
    // A single rank is a range whose ends are equal.
    int first = 0;
    int last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || first < 0 || last < first || last >= kMaxRanks ||
        ranks.size() + static_cast<std::size_t>(last - first) >= kMaxRanks) {
      return WrongRanks(text);
    }
    for (int rank = first; rank <= last; ++rank) ranks.push_back(rank);
  }
  return ranks;
}

absl::StatusOr<v1::ReadLogsRequest> MakeRequest(const LogsOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(const JobReference reference, ParseJobReference(options.job));
  TRAINYARD_ASSIGN_OR_RETURN(const std::vector<int> ranks, ParseRanks(options.ranks));
  if (reference.attempt != 0 && options.attempt != 0 && reference.attempt != options.attempt) {
    return absl::InvalidArgumentError(absl::StrCat("`", options.job, "` and --attempt ",
                                                   options.attempt, " name different attempts"));
  }
  if (options.tail == 0 && !options.follow) {
    return absl::InvalidArgumentError(
        "--tail 0 prints nothing; pass a number of lines, or add -f to print only new lines");
  }
  v1::ReadLogsRequest request;
  request.set_job(reference.job);
  request.mutable_ranks()->Add(ranks.begin(), ranks.end());
  request.set_attempt(reference.attempt != 0 ? reference.attempt : options.attempt);
  request.set_grep(options.grep);
  request.set_ignore_case(options.ignore_case);
  request.set_regex(options.regex);
  request.set_min_level(options.errors ? v1::LOG_LEVEL_ERROR : v1::LOG_LEVEL_UNSPECIFIED);
  // In the request, tail 0 means all lines. `--tail 0`, which means no old lines, is therefore sent
  // as new_only.
  request.set_tail(options.tail.value_or(0));
  request.set_new_only(options.tail == 0);
  request.set_follow(options.follow);
  return request;
}

// Writes log lines in the output format chosen with -o.
class LogPrinter {
 public:
  LogPrinter(const LogsOptions& options, const v1::ReadLogsRequest& request, Context& context)
      : out_(*context.console.out),
        format_(context.format),
        timestamps_(options.timestamps),
        colors_(context.console.out_is_tty),
        // Lines have a rank prefix unless the user chose a single rank.
        prefix_(request.ranks_size() != 1) {
    if (format_ == OutputFormat::kCsv) out_ << "attempt,rank,time,offset,text\n";
  }

  // Returns false if writing has failed, for example because the reader of a pipe has exited.
  bool Print(const v1::LogLine& line) {
    if (format_ == OutputFormat::kJson) {
      // Indent -1 prints an object on one line.
      out_ << DumpJson(StableJson(line), -1) << "\n";
    } else if (format_ == OutputFormat::kCsv) {
      out_ << line.attempt() << "," << line.rank() << "," << IsoTime(line.time_ms()) << ","
           << line.offset() << "," << CsvField(line.text()) << "\n";
    } else {
      if (timestamps_ || format_ == OutputFormat::kWide) out_ << IsoTime(line.time_ms()) << " ";
      if (prefix_) out_ << "[" << line.attempt() << "." << line.rank() << "] ";
      out_ << PrintableLine(line.text(), colors_) << "\n";
    }
    return out_.good();
  }

 private:
  std::ostream& out_;
  const OutputFormat format_;
  const bool timestamps_;
  // True if the ranks' color codes are kept: in a terminal, but not in a file.
  const bool colors_;
  const bool prefix_;
};

// After Ctrl-C in `logs -f`: reports that the job continues, and returns the exit code.
absl::StatusOr<ExitCode> Detached(const std::string& job, Console& console) {
  PrintNote(console,
            absl::StrCat("detached; the job continues\n  output  trainyard logs -f ", job));
  return ExitCode::kInterrupted;
}

}  // namespace

void AddLogs(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<LogsOptions>();
  CLI::App* command =
      parent.add_subcommand("logs", "Print the ranks' output, as `[ATTEMPT.RANK] line`");
  command->add_option("job", options->job, kJobOrAttemptHelp)->required();
  command->add_flag("-f,--follow", options->follow, "also print new lines until the job ends");
  command
      ->add_option("--rank", options->ranks,
                   "print only the output of these ranks, such as 0 or 0,8-15")
      ->type_name("RANKS");
  command->add_option("--attempt", options->attempt, "print only the output of this attempt")
      ->check(CLI::PositiveNumber);
  command->add_option("--grep", options->grep, "print only lines that contain this text");
  command->add_flag("-i,--ignore-case", options->ignore_case,
                    "--grep ignores upper and lower case");
  command->add_flag("-E,--regex", options->regex, "--grep is a regular expression in RE2 syntax");
  command->add_flag("--errors", options->errors, "print only lines that state an error");
  command
      ->add_option("--tail", options->tail,
                   "print only the last N lines; `--tail 0 -f` prints only new lines")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("-t,--timestamps", options->timestamps, "prefix each line with its time");
  grammar.runners[command] = [options](Context& context) { return RunLogs(*options, context); };
}

Outcome RunLogs(const LogsOptions& options, Context& context) {
  if (context.format == OutputFormat::kYaml || context.format == OutputFormat::kName) {
    return absl::InvalidArgumentError("logs supports only -o table, wide, json and csv");
  }
  TRAINYARD_ASSIGN_OR_RETURN(const v1::ReadLogsRequest request, MakeRequest(options));
  Interrupt& interrupt = *context.environment.interrupt;
  if (options.follow && context.environment.listen_to_signals) interrupt.Listen();
  Console& console = context.console;
  const StreamControl control{
      &interrupt, std::nullopt,
      [&console] { PrintNote(console, "connection to the controller lost; reconnecting"); }};
  LogPrinter printer(options, request, context);
  int64_t lines = 0;
  const absl::Status status =
      context.client.ReadLogs(request, control, [&](const v1::LogLine& line) {
        ++lines;
        const bool go_on = printer.Print(line);
        if (options.follow) console.out->flush();
        return go_on;
      });
  if (status.code() == absl::StatusCode::kCancelled) return Detached(options.job, console);
  TRAINYARD_RETURN_IF_ERROR(status);
  if (lines == 0 && !console.out->bad()) {
    PrintNote(console, !options.grep.empty() ? "no line contains that text"
                       : options.errors      ? "no line states an error"
                       : request.new_only()  ? "no new output"
                                             : "no output yet");
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
