#include "trainer/report/training_report.h"

#include <utility>

#include "proto/contract/telemetry_keys.h"
#include "proto/model/model_size.h"
#include "proto/text/number_text.h"
#include "trainer/parallel/device/device.h"
#include "trainer/report/expert_values.h"
#include "trainer/report/metric_values.h"
#include "trainer/report/source_facts.h"
#include "trainer/report/step_time_values.h"

namespace trainyard::trainer {
namespace {

void Append(const MetricValues& more, MetricValues& values) {
  values.insert(values.end(), more.begin(), more.end());
}

}  // namespace

TrainingReport::TrainingReport(const Parts& parts) : parts_(parts) {}

void TrainingReport::Header(const HeaderFacts& facts, const std::string& memory_warning) {
  parts_.console.Header(parts_.config, parts_.env, facts);
  if (memory_warning.empty()) return;
  parts_.console.Note(memory_warning);
  parts_.telemetry.WriteAlert(facts.first_step, "memory_tight", memory_warning);
}

void TrainingReport::DataSets() {
  if (parts_.env.rank != 0) return;
  parts_.telemetry.WriteDataReport(DataUseReport(parts_.config, parts_.samples.source()));
}

void TrainingReport::AddStep(const StepResult& result, int64_t samples) {
  interval_.samples += samples;
  ++interval_.steps;
  interval_.seconds += result.seconds;
  if (!result.times.has_value()) return;
  interval_.step_times = StepTimeValues(*result.times);
  parts_.progress.NoteStepTimes(interval_.step_times);
}

std::string TrainingReport::PositionsOfInterval(const TrainingState& state) const {
  return parts_.samples.PositionsOf(state.samples - interval_.samples, state.samples);
}

void TrainingReport::SkippedStep(int64_t step, double loss_scale) {
  parts_.console.Note("step " + std::to_string(step) +
                      " changed no weights, because its gradients overflowed with loss scale " +
                      NumberText(loss_scale));
}

void TrainingReport::FinishStep(const TrainingState& state, const StepResult& result,
                                double stall_seconds) {
  parts_.progress.Step(state.step, result.seconds, stall_seconds);
  if (parts_.progress.IsDue()) parts_.progress.Write(PeakMemoryBytes(parts_.device));
  WritePartNorms(state.step, result);
}

// Part norms have separate records, because they may be due at other steps than metrics and their
// number grows with the model.
void TrainingReport::WritePartNorms(int64_t step, const StepResult& result) {
  if (parts_.env.rank != 0 || result.part_norms.empty()) return;
  for (const MetricValues& values : PartNormRecords(parts_.config.model, result.part_norms)) {
    parts_.telemetry.WriteMetrics(step, parts_.config.train.steps, values);
  }
}

// Telemetry records of experts are large, so most steps have none. The last step always has one.
void TrainingReport::WriteExperts(int64_t step, const StepResult& result) {
  if (parts_.env.rank != 0 || result.experts.empty()) return;
  const auto now = std::chrono::steady_clock::now();
  const auto loads = result.experts.size() * result.experts.front().load.size();
  const bool is_due = !experts_written_.has_value() || step == parts_.config.train.steps ||
                      now - *experts_written_ >= PauseBetweenExpertRecords(loads);
  if (!is_due) return;
  experts_written_ = now;
  parts_.telemetry.WriteExperts(ExpertsReportOf(step, parts_.config.model, result.experts));
}

void TrainingReport::EndInterval(const TrainingState& state, const StepResult& result,
                                 double stall_seconds, const MetricValues& more) {
  const StepReport report = ReportOf(state, result);
  MetricValues values = ValuesOf(state, result, report, stall_seconds);
  Append(more, values);
  Append(interval_.step_times, values);
  Append(PassValues(parts_.config, parts_.samples.source(), state.samples), values);
  Append(NoiseValues(result.batches, state.noise), values);
  Append(ExpertValues(parts_.config.model, result.experts), values);
  has_attention_ = true;
  if (parts_.env.rank == 0) {
    parts_.telemetry.WriteMetrics(state.step, parts_.config.train.steps, values,
                                  PositionsOfInterval(state));
  }
  WriteExperts(state.step, result);
  parts_.console.Step(report, parts_.config.train.steps);
  interval_ = {.stall_seconds_before = stall_seconds};
}

MetricValues TrainingReport::ValuesOf(const TrainingState& state, const StepResult& result,
                                      const StepReport& report, double stall_seconds) const {
  const RunConfig& config = parts_.config;
  MetricValues values = MainValues(report);
  Append({{telemetry::kDataStallSeconds, stall_seconds - interval_.stall_seconds_before},
          {telemetry::kTokens, static_cast<double>(state.tokens)},
          {telemetry::kMemoryBytes, static_cast<double>(PeakMemoryBytes(parts_.device))}},
         values);
  if (!has_attention_) {
    values.emplace_back(telemetry::kAttentionBackend,
                        static_cast<double>(config.train.attention_backend));
  }
  if (config.model.mtp_num_layers > 0) values.emplace_back(telemetry::kMtpLoss, result.mtp_loss);
  if (config.optimizer.adaptive_clip > 0) {
    values.emplace_back(telemetry::kClippedUnits, static_cast<double>(result.clipped_units));
  }
  Append(LossScaleValues(config.train, state.loss_scale), values);
  return values;
}

StepReport TrainingReport::ReportOf(const TrainingState& state, const StepResult& result) const {
  const RunConfig& config = parts_.config;
  StepReport report;
  report.step = state.step;
  report.loss = result.loss;
  report.grad_norm = result.grad_norm;
  report.learning_rate = result.learning_rate;
  report.step_seconds = interval_.seconds / static_cast<double>(interval_.steps);
  report.samples_per_second = static_cast<double>(interval_.samples) / interval_.seconds;
  report.tokens_per_second =
      report.samples_per_second * static_cast<double>(config.train.seq_length);
  const BatchPlan& plan = parts_.samples.plan();
  const int64_t samples_left =
      plan.SamplesThrough(config.train.steps) - plan.SamplesThrough(state.step);
  report.seconds_left = static_cast<double>(samples_left) / report.samples_per_second;
  const double peak = PeakFlops(DeviceName(parts_.device), config.train.precision);
  if (peak > 0) {
    const double rate =
        report.tokens_per_second / (peak * static_cast<double>(parts_.env.world_size));
    const int64_t length = config.train.seq_length;
    report.mfu = rate * TrainingFlopsPerToken(config.model, length);
    report.mfu_causal = rate * CausalTrainingFlopsPerToken(config.model, length);
  }
  return report;
}

void TrainingReport::Repeat(const ReportedStep& step) {
  const TrainConfig& train = parts_.config.train;
  const int64_t every = train.log_every_steps;
  const bool is_reported = every > 0 && (step.step % every == 0 || step.step == train.steps);
  if (!is_reported) return;
  parts_.telemetry.WriteMetrics(step.step, train.steps,
                                LossValues(step.loss, step.grad_norm, step.learning_rate),
                                step.samples);
}

void TrainingReport::Evaluation(int64_t step, const std::string& set, double loss, int64_t tokens) {
  if (parts_.env.rank == 0) parts_.telemetry.WriteEvaluation(step, set, loss, tokens);
  parts_.console.Evaluation(step, set, loss, tokens);
}

}  // namespace trainyard::trainer
