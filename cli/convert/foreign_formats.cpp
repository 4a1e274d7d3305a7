#include "cli/convert/foreign_formats.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

struct Foreign {
  std::string system;
  std::vector<std::string> keys;  // The file has all of them.
  std::string advice;
};

const std::vector<Foreign>& ForeignFormats() {
  static const std::string kCommand =
      "convert the command that it runs: save the command as a script and pass the script";
  static const std::string kLaunch =
      "convert the line that starts the training, and set the values of this file there";
  static const std::vector<Foreign> formats = {
      {"SkyPilot", {"run", "resources.accelerators"}, kCommand},
      {"SkyPilot", {"run", "num_nodes"}, kCommand},
      {"Kubernetes", {"apiVersion", "kind"}, kCommand},
      {"Hugging Face Accelerate", {"distributed_type", "num_processes"}, kLaunch},
      {"Hugging Face Accelerate", {"compute_environment"}, kLaunch},
      {"llm-foundry", {"model.attn_config"}, kLaunch},
      {"llm-foundry", {"train_loader"}, kLaunch},
      {"llm-foundry", {"model.expansion_ratio"}, kLaunch},
      {"Axolotl", {"base_model", "datasets"}, kLaunch},
      {"LLaMA-Factory", {"model_name_or_path", "stage"}, kLaunch},
      {"nanotron", {"tokens.micro_batch_size", "parallelism.dp"}, kLaunch},
      {"torchtune", {"model._component_"}, kLaunch}};
  return formats;
}

}  // namespace

std::string ForeignFormat(const SourceTree& tree) {
  for (const Foreign& format : ForeignFormats()) {
    const bool has_all = std::all_of(format.keys.begin(), format.keys.end(),
                                     [&](const std::string& key) { return tree.Has(key); });
    if (!has_all) continue;
    return absl::StrCat("is a file of ", format.system, " (it has the key ", format.keys.front(),
                        "), which is not converted; ", format.advice);
  }
  return "";
}

}  // namespace trainyard::cli
