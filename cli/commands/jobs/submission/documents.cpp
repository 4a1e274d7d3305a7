#include "cli/commands/jobs/submission/documents.h"

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "cli/client/job_reference.h"
#include "cli/grammar/option_help.h"
#include "proto/jobspec/fields/run_config_of.h"
#include "proto/rules/data_sources.h"
#include "proto/samples/run_samples.h"
#include "proto/support/status_macros.h"

namespace trainyard::cli {
namespace {

// Each sample is an argument of trainyard-data.
constexpr int64_t kSamplesMax = 1000;

std::string JobText(const v1::Job& job) { return absl::StrCat(job.id(), " ", job.name()); }

int64_t FirstStepOf(const v1::Attempt& attempt) {
  return attempt.first_step() > 0 ? attempt.first_step() : attempt.resume_step() + 1;
}

absl::StatusOr<v1::Attempt> AttemptOf(const v1::Job& job, int64_t number, int64_t step) {
  for (auto attempt = job.attempts().rbegin(); attempt != job.attempts().rend(); ++attempt) {
    if (number > 0 && attempt->number() != number) continue;
    if (FirstStepOf(*attempt) <= step && step <= attempt->last_step()) return *attempt;
  }
  if (number > 0) {
    return absl::NotFoundError(absl::StrCat("attempt ", number, " of job ", JobText(job),
                                            " has not trained step ", step,
                                            "; omit the attempt to use one that has"));
  }
  int64_t newest = 0;
  for (const v1::Attempt& attempt : job.attempts()) {
    newest = std::max(newest, attempt.last_step());
  }
  return absl::NotFoundError(absl::StrCat("job ", JobText(job),
                                          " has no attempt that trained step ", step,
                                          "; its newest step is ", newest));
}

absl::Status CheckOrderIsKnown(const v1::Job& job, const v1::Attempt& attempt) {
  if (!RunsOurTrainer(job.spec())) {
    return absl::FailedPreconditionError(
        absl::StrCat("job ", JobText(job),
                     " does not run trainyard-trainer, so the order of its samples is unknown"));
  }
  const bool continues_other = attempt.resume_step() > 0 && attempt.resume_attempt() == 0;
  if (!continues_other && job.spec().checkpoint().resume_from().empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("job ", JobText(job), " continues a checkpoint of another job (",
                   continues_other ? attempt.resume_from() : job.spec().checkpoint().resume_from(),
                   "), which decides the order of its samples, so the documents cannot be "
                   "shown"));
}

absl::StatusOr<RunConfig> ConfigOf(const v1::Job& job, const v1::Attempt& attempt) {
  v1::JobSpec spec = job.spec();
  if (attempt.layout().has_layout()) *spec.mutable_layout() = attempt.layout().layout();
  RunConfig config = RunConfigOf(spec);
  if (config.layout.dp >= 1 && config.layout.micro_batch >= 1 && config.train.seq_length >= 1 &&
      config.train.global_batch >= config.layout.dp * config.layout.micro_batch) {
    return config;
  }
  return absl::FailedPreconditionError(absl::StrCat(
      "job ", JobText(job), " has no batch, layout or seq_length, so its samples are unknown"));
}

absl::Status CheckSample(const DocumentsOptions& options, int64_t batch) {
  if (options.sample <= batch) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--sample ", options.sample, ": step ",
                                                 options.step, " has ", batch, " samples"));
}

}  // namespace

absl::StatusOr<data::StepDocumentsOptions> StepOptionsOf(const v1::Job& job, int64_t attempt_number,
                                                         const DocumentsOptions& options) {
  TRAINYARD_ASSIGN_OR_RETURN(const v1::Attempt attempt,
                             AttemptOf(job, attempt_number, options.step));
  TRAINYARD_RETURN_IF_ERROR(CheckOrderIsKnown(job, attempt));
  TRAINYARD_ASSIGN_OR_RETURN(const RunConfig config, ConfigOf(job, attempt));
  const SkipRanges skip = ReadSkipRanges(attempt.skip_samples());
  if (!skip.problem.empty()) return absl::DataLossError("skipped samples: " + skip.problem);
  const RunSamples samples(config, {.skip = skip.ranges});
  data::StepDocumentsOptions step;
  step.job = absl::StrCat(JobText(job), ", attempt ", attempt.number());
  step.step = options.step;
  step.batch = samples.CountOf(options.step);
  step.seq_length = config.train.seq_length;
  step.seed = config.data.seed;
  step.trained_ms = attempt.placed_time_ms();
  step.accepts_changed = options.accepts_changed;
  step.max_bytes = options.max_bytes;
  for (const DataSource& source : BlendOf(config.data).sources) {
    step.sources.push_back(source.path);
  }
  TRAINYARD_RETURN_IF_ERROR(CheckSample(options, step.batch));
  const int64_t first = options.sample > 0 ? options.sample - 1 : 0;
  const int64_t end = options.sample > 0 ? options.sample : std::min(options.limit, step.batch);
  for (int64_t index = first; index < end; ++index) {
    const RunSample sample = samples.At(options.step, index);
    step.samples.push_back({index, sample.number, sample.position, sample.data_index,
                            sample.place.source, sample.place.index});
  }
  return step;
}

void AddDocuments(CLI::App& parent, Grammar& grammar) {
  const auto options = std::make_shared<DocumentsOptions>();
  CLI::App* command = parent.add_subcommand(
      "documents", "Show the documents that a step of a job reads; run it where the data is");
  command->add_option("job", options->job, kJobHelp)->required();
  command->add_option("--step", options->step, "training step")
      ->check(CLI::PositiveNumber)
      ->required();
  CLI::Option* limit =
      command->add_option("--limit", options->limit, "maximum number of samples to show")
          ->check(CLI::Range(int64_t{1}, kSamplesMax))
          ->capture_default_str();
  command->add_option("--sample", options->sample, "show only this sample of the step (from 1)")
      ->check(CLI::PositiveNumber)
      ->excludes(limit);
  command
      ->add_option("--max-bytes", options->max_bytes,
                   "maximum number of bytes of each text to show")
      ->check(CLI::Range(1, 1 << 28))
      ->capture_default_str();
  command->add_flag("--accept-changed", options->accepts_changed,
                    "use token files that were written after the attempt started");
  grammar.runners[command] = [options](Context& context) {
    return RunDocuments(*options, context);
  };
}

Outcome RunDocuments(const DocumentsOptions& options, Context& context) {
  if (!IsTable(context.format) && context.format != OutputFormat::kJson) {
    return absl::InvalidArgumentError("this command supports only -o table and json");
  }
  TRAINYARD_ASSIGN_OR_RETURN(const JobReference reference, ParseJobReference(options.job));
  v1::GetJobRequest request;
  request.set_job(reference.job);
  TRAINYARD_ASSIGN_OR_RETURN(const v1::GetJobResponse response, context.client.GetJob(request));
  TRAINYARD_ASSIGN_OR_RETURN(data::StepDocumentsOptions step,
                             StepOptionsOf(response.job(), reference.attempt, options));
  step.output = context.format == OutputFormat::kJson ? "json" : "text";
  context.console.out->flush();  // The program replaces this process.
  return static_cast<ExitCode>(RunStepDocuments(step));
}

}  // namespace trainyard::cli
