// Job files: YAML (or JSON) text -> JobSpec, by reflection over the proto and its FieldRules.
//
// Scalars are read by the field's type and not by YAML's guess: `lr: 3e-4` is a number, `name: no`
// a string, `steps: 1e6` an integer when exact, `30m` a duration, `20B` a token count, `64KiB`
// bytes. Unknown keys are refused with the nearest name; duplicate keys, tags, and more than
// kMaxJobFileBytes are refused. All errors of a file are returned at once, each with
// file:line:column.
#ifndef TRAINYARD_PROTO_SUPPORT_JOB_SPEC_LOADER_H_
#define TRAINYARD_PROTO_SUPPORT_JOB_SPEC_LOADER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "trainyard/v1/job.pb.h"
#include "trainyard/v1/job_spec.pb.h"

namespace trainyard {

inline constexpr std::size_t kMaxJobFileBytes = 1 << 20;

// Where a value came from, for each dotted key that is set.
using Origins = std::map<std::string, std::string>;
// Origins of values that nobody wrote.
inline constexpr char kDefaultOrigin[] = "default";
inline constexpr char kDerivedOrigin[] = "derived";

struct ResolvedSpec {
  v1::JobSpec spec;
  Origins origins;
};

// Finds the text of a job file or recipe. `reference` is what stood after `extends:`; `from` is the
// path of the file that said it, empty for the command line. Returns the text and the path or name
// to show in messages. NOT_FOUND when there is none; the message lists the places searched.
struct JobFileText {
  std::string display_name;
  std::string text;
  // The text came without a folder: relative paths in it, and in overrides of it, are refused.
  bool sent = false;
};
using JobFileReader = std::function<absl::StatusOr<JobFileText>(const std::string& reference,
                                                                const std::string& from)>;

// Reads files by path and recipes by name ("llama-tiny-cpu" -> DIR/llama-tiny-cpu.yaml) from the
// given directories.
JobFileReader FileSystemReader(std::vector<std::string> recipe_directories);

// The folders of recipes that come with a program: BUILD/bin/PROGRAM of a source tree has
// SOURCE/recipes above it; PREFIX/bin/PROGRAM has PREFIX/share/trainyard/recipes.
std::vector<std::string> RecipeDirectoriesOf(const std::string& program_directory);

// What a job file is called that was sent as text.
inline constexpr char kSentJobFile[] = "job file";

// Reads kSentJobFile as this text. It may extend recipes of the given directories by name, and no
// file by its path: a client must not read what it could not read itself.
JobFileReader SentJobFileReader(std::string text, std::vector<std::string> recipe_directories);

// Resolves a job file: reads it, its `extends` chain (maps merge, lists replace, later wins),
// applies `overrides` ("train.steps=200" each), fills in defaults and derived values, and checks
// every rule (CheckJobSpec). INVALID_ARGUMENT: the message holds all errors, one a line, in the
// form "job.yaml:7:3: unknown key `leraning_rate`; did you mean `lr`?".
absl::StatusOr<ResolvedSpec> ResolveJobFile(const std::string& reference,
                                            const std::vector<std::string>& overrides,
                                            const JobFileReader& reader);

// Fills in what is not written: FieldRule defaults ("default") and values that follow from others
// ("derived": layout.dp, model.num_query_groups, train.steps from train.tokens).
void FillDefaults(v1::JobSpec& spec, Origins& origins);

// The second half of it: what follows from other values.
void FillDerived(v1::JobSpec& spec, Origins& origins);

// Rules that span fields, and every FieldRule, on a spec with defaults filled in. The controller
// calls this too: it trusts no client. Returns one line for each broken rule; empty when all hold.
std::vector<std::string> CheckJobSpec(const v1::JobSpec& spec, const Origins& origins);

// Ranks of the job: nodes * slots_per_node.
int WorldSize(const v1::JobSpec& spec);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_SUPPORT_JOB_SPEC_LOADER_H_
