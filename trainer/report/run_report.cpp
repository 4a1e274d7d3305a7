#include "trainer/report/run_report.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>

#include "proto/contract/token_format.h"
#include "proto/memory/memory_advice.h"
#include "proto/memory/memory_model.h"
#include "proto/model/model_size.h"
#include "proto/rules/attention_rules.h"
#include "proto/rules/batch_plan.h"
#include "proto/rules/context_exchange.h"
#include "proto/text/duration_text.h"

namespace trainyard::trainer {
namespace {

[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line, sizeof(line), format, arguments);
  va_end(arguments);
  return line;
}

const char* PrecisionName(Precision precision) {
  for (const auto& [name, value] : SettingNames<Precision>::kNames) {
    if (value == precision) return name.data();  // A literal, so it ends with a null byte.
  }
  return "";
}

std::string ModelLine(const RunConfig& config) {
  const ModelConfig& model = config.model;
  return Format(
      "model   %s parameters: %ld layers, hidden %ld, ffn %ld, %ld heads in %ld groups, "
      "vocabulary %ld, %s head, %s",
      GroupedDigits(ParameterCount(model)).c_str(), model.num_layers, model.hidden_size,
      model.ffn_hidden_size, model.num_attention_heads, model.num_query_groups, model.vocab_size,
      model.untie_embeddings_and_output_weights ? "untied" : "tied",
      PrecisionName(config.train.precision));
}

std::string AttentionLine(const RunConfig& config, const HeaderFacts& facts) {
  std::string line = "attention by " + facts.attention;
  const int64_t window = EffectiveWindow(config.model, config.train.seq_length);
  if (window > 0) line += Format(", window of %ld tokens", window);
  const std::string exchange(ContextExchangeText(config));
  if (!exchange.empty()) line += Format("; context parallel by %s", exchange.c_str());
  const DataConfig& data = config.data;
  if (!UsesDocuments(data)) return line;
  line += Format("; documents end with token %ld:", data.eod_token);
  if (data.reset_attention_mask) line += " attention within documents,";
  if (data.reset_position_ids) line += " positions restart in each document,";
  if (data.eod_mask_loss) line += " no loss after the end token,";
  line.pop_back();
  return line;
}

std::string BatchLine(const RunConfig& config, const HeaderFacts& facts) {
  const LayoutConfig& layout = config.layout;
  const int64_t rounds = config.train.global_batch / (layout.micro_batch * layout.dp);
  const std::string zero = layout.zero > 0 ? " zero " + std::to_string(layout.zero) : "";
  const TrainConfig& train = config.train;
  const std::string growth =
      !HasRampup(train) ? ""
                        : Format(" (from %ld by %ld over %ld samples)", train.rampup_batch_start,
                                 train.rampup_batch_increment, train.rampup_batch_samples);
  return Format(
      "layout  dp %ld%s on %s, %ld CPU thread(s) per rank; a step has %ld samples%s of %ld "
      "tokens: micro-batches of %ld samples, %ld micro-batch(es) per rank",
      layout.dp, zero.c_str(), facts.device.c_str(), facts.threads, train.global_batch,
      growth.c_str(), train.seq_length, layout.micro_batch, rounds);
}

std::string DataLine(const SourceFacts& source, int64_t shares) {
  const double percent = 100 * static_cast<double>(source.share) / static_cast<double>(shares);
  const std::string weight =
      source.share == shares ? "" : Format("%.4g %% of the samples; ", percent);
  return "data    " + source.path +
         Format(": %s tokens, %s samples; %sthis run reads them %.2f times",
                GroupedDigits(source.tokens).c_str(), GroupedDigits(source.samples).c_str(),
                weight.c_str(), source.passes);
}

std::string NameOfSet(const std::string& set) {
  return set == token_format::kValidationSplit ? "validation" : set;
}

std::string MemoryLine(const RunConfig& config) {
  return "memory  predicted peak per GPU " + MemoryText(PredictTrainingMemory(config));
}

std::string RunLine(const RunConfig& config, const RuntimeEnvironment& env) {
  return Format("trainyard-trainer %s   job %s   attempt %ld   %ld rank(s)", TRAINYARD_VERSION,
                config.name.empty() ? "-" : config.name.c_str(), env.attempt, env.world_size);
}

}  // namespace

void RunReport::EvaluationHeader(const RunConfig& config, const RuntimeEnvironment& env,
                                 const HeaderFacts& facts) {
  Print(RunLine(config, env));
  Print(ModelLine(config));
  Print(AttentionLine(config, facts));
  Print(
      Format("start   evaluation only, from %s at step %ld, on %s with %ld CPU thread(s) per rank",
             facts.resumed_from.c_str(), facts.first_step, facts.device.c_str(), facts.threads));
}

void RunReport::Header(const RunConfig& config, const RuntimeEnvironment& env,
                       const HeaderFacts& facts) {
  Print(RunLine(config, env));
  Print(ModelLine(config));
  Print(AttentionLine(config, facts));
  for (const std::string& line : facts.fp8) Print("fp8     " + line);
  Print(BatchLine(config, facts));
  if (!facts.tensor_exchange.empty()) {
    Print("tensor  tensor-parallel ranks exchange rows by " + facts.tensor_exchange);
  }
  if (!facts.context_exchange.empty()) {
    Print("context context-parallel ranks exchange heads by " + facts.context_exchange);
  }
  if (config.resources.device == DeviceKind::kGpu) Print(MemoryLine(config));
  int64_t shares = 0;
  for (const SourceFacts& source : facts.sources) shares += source.share;
  for (const SourceFacts& source : facts.sources) Print(DataLine(source, shares));
  Print(facts.resumed_from.empty()
            ? Format("start   from new weights, %ld steps in total", config.train.steps)
            : Format("start   from %s at step %ld of %ld", facts.resumed_from.c_str(),
                     facts.first_step, config.train.steps));
}

void RunReport::Step(const StepReport& report, int64_t total_steps) {
  std::string line = Format(
      "step %ld/%ld   loss %.4f   grad norm %.3f   lr %.2e   %s tokens/s   "
      "%.3f s/step",
      report.step, total_steps, report.loss, report.grad_norm, report.learning_rate,
      GroupedDigits(static_cast<int64_t>(report.tokens_per_second)).c_str(), report.step_seconds);
  if (report.mfu > 0) line += Format("   MFU %.1f %%", 100 * report.mfu);
  line += "   " + ShortDuration(std::llround(report.seconds_left * 1000)) + " left";
  Print(line);
  const std::lock_guard lock(mutex_);
  if (!has_loss_) first_loss_ = report.loss;
  last_loss_ = report.loss;
  has_loss_ = true;
}

void RunReport::Evaluation(int64_t step, const std::string& set, double loss, int64_t tokens) {
  Print(Format("eval at step %ld   %s loss %.4f   perplexity %.4g over %s tokens", step,
               NameOfSet(set).c_str(), loss, std::exp(loss), GroupedDigits(tokens).c_str()));
  const std::lock_guard lock(mutex_);
  evaluation_losses_[set] = loss;
}

void RunReport::Checkpoint(const CheckpointEvent& event) {
  switch (event.kind) {
    case CheckpointEvent::Kind::kPublished:
      Print(Format("checkpoint at step %ld   %s   %.1f MB in %.2f s, blocking training for %.3f s",
                   event.step, event.path.c_str(), static_cast<double>(event.bytes) / 1e6,
                   event.total_seconds, event.blocking_seconds));
      break;
    case CheckpointEvent::Kind::kDeleted:
      Print(Format("checkpoint of step %ld removed by retention", event.step));
      break;
    case CheckpointEvent::Kind::kFailed:
      Print(Format("checkpoint at step %ld FAILED: ", event.step) + event.message);
      break;
    case CheckpointEvent::Kind::kBlocked:
      Print(Format("checkpoint at step %ld BLOCKED: ", event.step) + BlockedSaveText(event));
      break;
    case CheckpointEvent::Kind::kUnlocked:
      Note(event.message);
      break;
  }
}

void RunReport::Note(const std::string& text) { Print("note    " + text); }

void RunReport::Summary(int64_t step, double seconds) {
  std::string line = Format("done at step %ld after %s", step,
                            ShortDuration(std::llround(seconds * 1000)).c_str());
  if (has_loss_) line += Format("   loss %.4f -> %.4f", first_loss_, last_loss_);
  for (const auto& [set, set_loss] : evaluation_losses_) {
    line += Format("   %s loss %.4f", NameOfSet(set).c_str(), set_loss);
  }
  Print(line);
}

void RunReport::Print(const std::string& line) {
  if (!enabled_) return;
  const std::lock_guard lock(mutex_);
  std::fprintf(stdout, "%s\n", line.c_str());
  std::fflush(stdout);
}

std::string GroupedDigits(int64_t number) {
  std::string digits = std::to_string(number);
  const size_t first = digits.front() == '-' ? 1 : 0;
  for (size_t end = digits.size(); end > first + 3; end -= 3) digits.insert(end - 3, ",");
  return digits;
}

}  // namespace trainyard::trainer
