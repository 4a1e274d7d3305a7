#include "cli/commands/jobs/reading/array.h"

#include <memory>
#include <ostream>
#include <vector>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "cli/output/jobs/array_view.h"
#include "cli/output/terminal/readable.h"
#include "proto/jobspec/matrix/matrix.h"
#include "proto/json/enum_text.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {

void AddArray(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<ArrayOptions>();
  CLI::App* command =
      parent.add_subcommand("array", "Elements of an array, with their settings and results");
  command->add_option("job", options->job, kJobHelp)->required();
  command
      ->add_option("--sort", options->sort,
                   "index (default), state, step (most first), loss or validation_loss (lowest "
                   "first)")
      ->check(CLI::IsMember(
          std::vector<std::string>{"index", "state", "step", "loss", "validation_loss"}));
  command->add_flag("--reverse", options->reverse, "reverse the order");
  command->add_option("--limit", options->limit, "maximum number of elements (default: 100)")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--offset", options->offset, "number of elements to skip (default: 0)")
      ->check(CLI::NonNegativeNumber);
  grammar.runners[command] = [options](Context& context) { return RunArray(*options, context); };
}

Outcome RunArray(const ArrayOptions& options, Context& context) {
  v1::GetArrayRequest request;
  TRAINYARD_ASSIGN_OR_RETURN(*request.mutable_job(), ParseWholeJob(options.job));
  const auto* order = EnumValueByShortName(*v1::ArrayOrder_descriptor(), options.sort);
  if (order != nullptr) request.set_order(static_cast<v1::ArrayOrder>(order->number()));
  request.set_reverse(options.reverse);
  request.set_limit(options.limit);
  request.set_offset(options.offset);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetArrayResponse response, context.client.GetArray(request));
  if (IsTable(context.format)) *context.console.out << OneLine(ArraySummary(response)) << "\n";
  PrintListing(ArrayListing(response), context.format, context.console);
  if (response.total() > response.rows_size()) {
    PrintNote(context.console,
              absl::StrCat("showing ", response.rows_size(), " of ", response.total(),
                           " elements; --limit shows more, and --offset the next ones"));
  }
  if (response.total() < response.counts().created()) {
    PrintNote(context.console,
              absl::StrCat("the archive keeps the ", response.total(),
                           " elements with the lowest losses; `trainyard describe ",
                           ElementName(OneLine(response.name()), 0), "` shows any other one"));
  }
  return ExitCode::kOk;
}

}  // namespace trainyard::cli
