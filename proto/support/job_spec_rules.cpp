#include "proto/support/job_spec_rules.h"

#include <cmath>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/duration.pb.h"
#include "proto/support/job_spec_defaults.h"
#include "proto/support/scalar_text.h"
#include "re2/re2.h"

namespace trainyard {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

using Problems = std::vector<SpecProblem>;

bool RunsOurTrainer(const v1::JobSpec& spec) { return spec.command().empty(); }

// ---- Rules of single fields

double NumberOf(const Message& message, const FieldDescriptor& field) {
  const auto& reflection = *message.GetReflection();
  switch (field.cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return reflection.GetInt32(message, &field);
    case FieldDescriptor::CPPTYPE_INT64:
      return static_cast<double>(reflection.GetInt64(message, &field));
    case FieldDescriptor::CPPTYPE_UINT64:
      return static_cast<double>(reflection.GetUInt64(message, &field));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return reflection.GetDouble(message, &field);
    default: {
      const auto& duration =
          static_cast<const google::protobuf::Duration&>(reflection.GetMessage(message, &field));
      return static_cast<double>(duration.seconds()) + duration.nanos() / 1e9;
    }
  }
}

void CheckRange(const Message& message, const FieldDescriptor& field, const std::string& key,
                Problems& problems) {
  const v1::FieldRule& rule = RuleOf(field);
  const double value = NumberOf(message, field);
  const char* unit = IsDuration(field) ? "s" : "";
  // Written this way so that NaN is refused.
  if (rule.has_min() && !(value >= rule.min())) {
    problems.push_back({key, absl::StrCat("`", key, "` must be at least ", rule.min(), unit,
                                          ", got ", value, unit)});
  } else if (rule.has_max() && !(value <= rule.max())) {
    problems.push_back({key, absl::StrCat("`", key, "` must be at most ", rule.max(), unit,
                                          ", got ", value, unit)});
  }
}

// Compiled once: that takes a hundred times as long as a match. Any thread; each keeps its own.
const RE2& CompiledPattern(const FieldDescriptor& field) {
  thread_local std::map<const FieldDescriptor*, RE2> patterns;
  return patterns.try_emplace(&field, RuleOf(field).pattern()).first->second;
}

void CheckText(const Message& message, const FieldDescriptor& field, const std::string& key,
               Problems& problems) {
  const v1::FieldRule& rule = RuleOf(field);
  const std::string text = message.GetReflection()->GetString(message, &field);
  if (!rule.pattern().empty() && !RE2::FullMatch(text, CompiledPattern(field))) {
    problems.push_back(
        {key, absl::StrCat("`", key, "` is \"", text, "\"; it must match ", rule.pattern())});
  }
  if (rule.path() && !text.empty() && text.front() != '/') {
    problems.push_back({key, absl::StrCat("`", key, "` must be an absolute path, got ", text)});
  }
}

void CheckEntries(const Message& message, const FieldDescriptor& field, const std::string& key,
                  Problems& problems) {
  const v1::FieldRule& rule = RuleOf(field);
  const google::protobuf::Reflection& reflection = *message.GetReflection();
  const int size = reflection.FieldSize(message, &field);
  if (rule.max_items() > 0 && size > rule.max_items()) {
    problems.push_back(
        {key, absl::StrCat("`", key, "` has ", size, " entries; at most ", rule.max_items())});
  }
  if (rule.pattern().empty() || field.is_map()) return;
  for (int i = 0; i < size; ++i) {
    const std::string entry = reflection.GetRepeatedString(message, &field, i);
    if (RE2::FullMatch(entry, CompiledPattern(field))) continue;
    problems.push_back({key, absl::StrCat("`", key, "` holds \"", entry, "\"; an entry must match ",
                                          rule.pattern())});
  }
}

void CheckFields(const Message& message, const std::string& prefix, Problems& problems) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const FieldDescriptor* field : fields) {
    const std::string key = prefix + field->name();
    if (field->is_repeated()) {
      CheckEntries(message, *field, key, problems);
    } else if (field->message_type() != nullptr && !IsDuration(*field)) {
      CheckFields(message.GetReflection()->GetMessage(message, field), key + ".", problems);
    } else if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) {
      CheckText(message, *field, key, problems);
    } else if (field->cpp_type() != FieldDescriptor::CPPTYPE_BOOL &&
               field->cpp_type() != FieldDescriptor::CPPTYPE_ENUM) {
      CheckRange(message, *field, key, problems);
    }
  }
}

// ---- Rules that span fields

void Require(bool present, const std::string& key, Problems& problems) {
  if (!present) problems.push_back({key, absl::StrCat("`", key, "` is missing")});
}

void CheckPresence(const v1::JobSpec& spec, Problems& problems) {
  Require(spec.has_name(), "name", problems);
  if (!RunsOurTrainer(spec)) return;
  Require(spec.model().has_num_layers(), "model.num_layers", problems);
  Require(spec.model().has_hidden_size(), "model.hidden_size", problems);
  Require(spec.model().has_ffn_hidden_size(), "model.ffn_hidden_size", problems);
  Require(spec.model().has_num_attention_heads(), "model.num_attention_heads", problems);
  Require(spec.model().has_vocab_size(), "model.vocab_size", problems);
  Require(spec.data().has_path(), "data.path", problems);
  Require(spec.train().has_seq_length(), "train.seq_length", problems);
  Require(spec.train().has_global_batch(), "train.global_batch", problems);
  if (!spec.train().has_steps() && !spec.train().has_tokens()) {
    problems.push_back({"train.steps", "`train.steps` or `train.tokens` is missing"});
  }
}

// `whole` must be a multiple of `part`; both are keys with their values.
struct Sized {
  const char* key;
  int64_t value;
};
void CheckMultiple(const Sized& whole, const Sized& part, Problems& problems) {
  if (part.value <= 0 || whole.value <= 0 || whole.value % part.value == 0) return;
  problems.push_back(
      {whole.key, absl::StrCat("`", whole.key, "` (", whole.value, ") must be a multiple of `",
                               part.key, "` (", part.value, ")")});
}

void CheckLayout(const v1::JobSpec& spec, Problems& problems) {
  const v1::LayoutSpec& layout = spec.layout();
  const int64_t product =
      int64_t{layout.tp()} * layout.cp() * layout.pp() * std::max(layout.dp(), 1);
  if (product != WorldSize(spec)) {
    problems.push_back(
        {"layout.dp", absl::StrCat("layout: tp ", layout.tp(), " * cp ", layout.cp(), " * pp ",
                                   layout.pp(), " * dp ", std::max(layout.dp(), 1), " = ", product,
                                   " ranks, but resources give ", spec.resources().nodes(),
                                   " nodes * ", spec.resources().slots_per_node(), " slots = ",
                                   WorldSize(spec), "; change `layout` or `resources`")});
  }
  CheckMultiple({"layout.dp", layout.dp()}, {"layout.ep", layout.ep()}, problems);
}

void CheckModel(const v1::JobSpec& spec, Problems& problems) {
  const v1::ModelSpec& model = spec.model();
  const Sized heads{"model.num_attention_heads", model.num_attention_heads()};
  CheckMultiple({"model.hidden_size", model.hidden_size()}, heads, problems);
  CheckMultiple(heads, {"model.num_query_groups", model.num_query_groups()}, problems);
  CheckMultiple(heads, {"layout.tp", spec.layout().tp()}, problems);
  if (heads.value > 0 && model.hidden_size() % heads.value == 0 &&
      model.hidden_size() / heads.value % 2 != 0) {
    problems.push_back(
        {"model.hidden_size",
         absl::StrCat("model: hidden_size / num_attention_heads = ",
                      model.hidden_size() / heads.value, " must be even for rotary positions")});
  }
}

void CheckBatch(const v1::JobSpec& spec, Problems& problems) {
  const v1::TrainSpec& train = spec.train();
  const int64_t per_pass = int64_t{spec.layout().micro_batch()} * std::max(spec.layout().dp(), 1);
  if (train.has_global_batch() && train.global_batch() % std::max<int64_t>(per_pass, 1) != 0) {
    problems.push_back({"train.global_batch",
                        absl::StrCat("`train.global_batch` (", train.global_batch(),
                                     ") must be a multiple of layout.micro_batch * dp (",
                                     spec.layout().micro_batch(), " * ",
                                     std::max(spec.layout().dp(), 1), " = ", per_pass, ")")});
  }
  const double tokens_per_step = static_cast<double>(train.global_batch()) * train.seq_length();
  if (train.has_tokens() && train.has_steps() && tokens_per_step > 0 &&
      train.steps() != static_cast<int64_t>(std::ceil(train.tokens() / tokens_per_step))) {
    problems.push_back(
        {"train.tokens", "`train.tokens` and `train.steps` are both given; keep one"});
  }
}

void CheckSchedule(const v1::JobSpec& spec, Problems& problems) {
  const v1::ScheduleSpec& schedule = spec.schedule();
  const bool wsd = schedule.kind() == v1::SCHEDULE_KIND_WSD;
  if (wsd && !schedule.has_decay_steps()) {
    problems.push_back({"schedule.decay_steps", "`schedule.decay_steps` is missing; wsd needs it"});
  }
  const int64_t needed = schedule.warmup_steps() + (wsd ? schedule.decay_steps() : 0);
  if (spec.train().has_steps() && needed > spec.train().steps()) {
    problems.push_back({"schedule.warmup_steps",
                        absl::StrCat("schedule: warm-up", wsd ? " and decay take " : " takes ",
                                     needed, " steps, but the run has ", spec.train().steps())});
  }
  if (spec.optimizer().min_lr() > spec.optimizer().lr()) {
    problems.push_back(
        {"optimizer.min_lr",
         absl::StrCat("`optimizer.min_lr` (", spec.optimizer().min_lr(),
                      ") must not be above `optimizer.lr` (", spec.optimizer().lr(), ")")});
  }
}

bool IsReservedVariable(const std::string& name) {
  static const std::set<std::string> kReserved = {
      "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "NODE_RANK",
      "GROUP_WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
      // The slots that the job was given: another list takes the GPUs of other jobs.
      "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"};
  return absl::StartsWith(name, "TRAINYARD_") || kReserved.contains(name);
}

// Forms in which services give out keys, and addresses with a password in them.
bool HoldsSecret(const std::string& text) {
  static const RE2 kForms(
      "\\bsk-[A-Za-z0-9_-]{16}|\\bgh[pousr]_[A-Za-z0-9]{20}|\\bgithub_pat_[A-Za-z0-9_]{20}|"
      "\\bhf_[A-Za-z0-9]{20}|\\bxox[abpr]-[A-Za-z0-9-]{10}|\\bAKIA[0-9A-Z]{16}\\b|"
      "hooks\\.slack\\.com/services/|://[^/\\s:@]+:[^/\\s@]+@|-----BEGIN [A-Z ]*PRIVATE KEY");
  return RE2::PartialMatch(text, kForms);
}

// A job file, the event log and `describe` hold `env` and `command` in clear: what is known to be
// secret belongs into `secrets`. Short values are none, such as EOS_TOKEN: </s>.
bool LooksSecret(const std::string& name, const std::string& value) {
  static const RE2 kSecretName(
      "(?i)(.*_)?(TOKEN|PASSWORD|PASSWD|PASS|SECRET|CREDENTIALS?|AUTHORIZATION|WEBHOOK(_URL)?|"
      "(API|APP|ACCESS|AUTH|SECRET|PRIVATE|SIGNING|ENCRYPTION|WEBHOOK)_?KEY)");
  constexpr std::size_t kShortestSecret = 8;
  if (HoldsSecret(value)) return true;
  return value.size() >= kShortestSecret && RE2::FullMatch(name, kSecretName);
}

void CheckSecrets(const v1::JobSpec& spec, Problems& problems) {
  std::set<std::string> seen;
  for (const std::string& name : spec.secrets()) {
    if (IsReservedVariable(name)) {
      problems.push_back({"secrets", absl::StrCat("`secrets` holds ", name,
                                                  ", which the worker sets; remove it")});
    } else if (spec.env().contains(name)) {
      problems.push_back(
          {"secrets", absl::StrCat(name, " stands in `secrets` and in `env`; keep one of them")});
    } else if (!seen.insert(name).second) {
      problems.push_back({"secrets", absl::StrCat("`secrets` holds ", name, " twice")});
    }
  }
}

void CheckProgram(const v1::JobSpec& spec, Problems& problems) {
  static const RE2 kVariable("[A-Za-z_][A-Za-z0-9_]*");
  for (const auto& [name, value] : spec.env()) {
    const std::string key = absl::StrCat("env.", name);
    if (!RE2::FullMatch(name, kVariable)) {
      problems.push_back({key, absl::StrCat("`", key, "` is no name of an environment variable")});
    } else if (IsReservedVariable(name)) {
      problems.push_back({key, absl::StrCat("`", key, "` is set by the worker; remove it")});
    } else if (absl::StrContains(value, '\0')) {
      problems.push_back({key, absl::StrCat("`", key, "` holds a NUL byte")});
    } else if (LooksSecret(name, value)) {
      problems.push_back(
          {key, absl::StrCat("`", key,
                             "` looks like a secret, and `env` is stored and shown in clear; "
                             "write `secrets: [",
                             name,
                             "]` and put its value into a file of that "
                             "name in the secrets directory of each node")});
    }
  }
  CheckSecrets(spec, problems);
  for (const std::string& argument : spec.command()) {
    if (absl::StrContains(argument, '\0')) {
      problems.push_back({"command", "`command` holds a NUL byte"});
    } else if (HoldsSecret(argument)) {
      problems.push_back({"command",
                          "a word of `command` looks like a secret, and `command` is stored and "
                          "shown in clear; name a variable in `secrets`, which the program reads "
                          "from its environment"});
    }
  }
  if (!RunsOurTrainer(spec) && spec.command(0).empty()) {
    problems.push_back({"command", "`command` begins with an empty word; name a program"});
  }
}

void CheckLogParser(const v1::JobSpec& spec, Problems& problems) {
  const v1::LogParserSpec& parser = spec.log_parser();
  if (parser.kind() != v1::LOG_PARSER_KIND_REGEX) return;
  if (!parser.has_pattern()) {
    problems.push_back(
        {"log_parser.pattern", "`log_parser.pattern` is missing; kind regex needs it"});
    return;
  }
  const RE2 pattern(parser.pattern(), RE2::Quiet);
  if (!pattern.ok()) {
    problems.push_back({"log_parser.pattern",
                        absl::StrCat("`log_parser.pattern` is not valid: ", pattern.error())});
  } else if (!pattern.NamedCapturingGroups().contains("step")) {
    problems.push_back(
        {"log_parser.pattern", "`log_parser.pattern` needs a named group (?P<step>...)"});
  }
}

}  // namespace

void FillDerived(v1::JobSpec& spec, Origins& origins) {
  v1::LayoutSpec& layout = *spec.mutable_layout();
  const int64_t model_ranks = int64_t{layout.tp()} * layout.cp() * layout.pp();
  if (!layout.has_dp() && model_ranks > 0 && WorldSize(spec) > 0 &&
      WorldSize(spec) % model_ranks == 0) {
    layout.set_dp(static_cast<int32_t>(WorldSize(spec) / model_ranks));
    origins["layout.dp"] = kDerivedOrigin;
  }
  v1::ModelSpec& model = *spec.mutable_model();
  if (!model.has_num_query_groups() && model.has_num_attention_heads()) {
    model.set_num_query_groups(model.num_attention_heads());
    origins["model.num_query_groups"] = kDerivedOrigin;
  }
  v1::TrainSpec& train = *spec.mutable_train();
  const double tokens_per_step = static_cast<double>(train.global_batch()) * train.seq_length();
  if (!train.has_steps() && train.has_tokens() && tokens_per_step > 0) {
    train.set_steps(static_cast<int64_t>(std::ceil(train.tokens() / tokens_per_step)));
    origins["train.steps"] = kDerivedOrigin;
  }
}

int WorldSize(const v1::JobSpec& spec) {
  return spec.resources().nodes() * spec.resources().slots_per_node();
}

void FillDefaults(v1::JobSpec& spec, Origins& origins) {
  for (const SpecFieldNumber number : FillDefaultFields(spec)) {
    origins[*KeyOfSpecField(number)] = kDefaultOrigin;
  }
  FillDerived(spec, origins);
}

std::vector<SpecProblem> FindProblems(const v1::JobSpec& spec) {
  Problems problems;
  CheckPresence(spec, problems);
  CheckFields(spec, "", problems);
  // Rules that span fields would only repeat what is wrong with single ones.
  if (!problems.empty()) return problems;
  CheckLayout(spec, problems);
  CheckProgram(spec, problems);
  CheckLogParser(spec, problems);
  if (RunsOurTrainer(spec)) {
    CheckModel(spec, problems);
    CheckBatch(spec, problems);
    CheckSchedule(spec, problems);
  }
  return problems;
}

std::string Describe(const SpecProblem& problem, const Origins& origins) {
  const auto origin = origins.find(problem.key);
  const bool says_where = origin != origins.end() && origin->second != kDefaultOrigin &&
                          origin->second != kDerivedOrigin && !origin->second.empty();
  return says_where ? absl::StrCat(origin->second, ": ", problem.message) : problem.message;
}

std::vector<std::string> CheckJobSpec(const v1::JobSpec& spec, const Origins& origins) {
  std::vector<std::string> lines;
  for (const SpecProblem& problem : FindProblems(spec)) lines.push_back(Describe(problem, origins));
  return lines;
}

}  // namespace trainyard
