#include "cli/convert/expert_settings.h"

#include <cstdint>
#include <map>
#include <optional>

#include "absl/strings/str_cat.h"

namespace trainyard::cli {
namespace {

void Assume(JobDraft& draft, const std::map<std::string, std::string>& defaults) {
  for (const auto& [key, value] : defaults) draft.Assume(key, value);
}

// Removes the settings of experts from a model that has at most one expert per layer.
void EraseExperts(JobDraft& draft) {
  for (const char* key : {"model.num_experts", "model.moe_router_topk", "model.moe_aux_loss_coeff",
                          "model.moe_z_loss_coeff", "layout.ep", "layout.etp"}) {
    draft.Erase(key);
  }
}

}  // namespace

void TurnOffBiasesOfExperts(JobDraft& draft, int line, const std::string& cause) {
  const bool is_latent = draft.Value("model.multi_latent_attention") == "true";
  const bool has_biases = draft.Value("model.add_bias_linear") == "true";
  if (!has_biases || !(draft.Has("model.num_experts") || is_latent)) return;
  draft.Set("model.add_bias_linear", "false");
  draft.Note(line, absl::StrCat(cause,
                                "; trainyard-trainer does not support them with experts or latent "
                                "attention, so the job trains without them"));
}

void AddNeoxExperts(Translations& table) {
  table["num_experts"] = Whole("model.num_experts");  // The name in older releases.
  table["moe_num_experts"] = Whole("model.num_experts");
  table["moe_top_k"] = Whole("model.moe_router_topk");
  table["moe_loss_coeff"] = Number("model.moe_aux_loss_coeff");
  table["moe_expert_parallel_size"] = Whole("layout.ep");
  table["enable_expert_tensor_parallelism"] = Switch("layout.etp", "", "1");
  table["moe_expert_interval"] = Whole("");
  table["moe_router_type"] = Word("", {{"topk", ""}, {"sinkhorn", ""}});
  table["moe_token_dropping"] = Switch("");
  table["moe_train_capacity_factor"] = Number("");
  for (const char* name : {"moe_type", "moe_eval_capacity_factor", "moe_min_capacity",
                           "moe_lbl_in_fp32", "create_moe_param_group"}) {
    table[name] = Silent();
  }
  table["moe_glu"] = NoteUnlessOff("to give the experts a gate, set model.activation to swiglu");
  table["moe_use_residual"] = NoteUnlessOff(
      "a dense layer beside the experts is not supported; "
      "model.moe_shared_expert_intermediate_size adds a shared expert");
  table["moe_jitter_eps"] = NoteUnlessOff("the router's inputs get no noise");
}

void ReadNeoxExperts(const SourceTree& tree, JobDraft& draft) {
  if (draft.Whole("model.num_experts").value_or(0) <= 1) return EraseExperts(draft);
  Assume(draft, {{"model.moe_router_topk", "1"}, {"model.moe_aux_loss_coeff", "0.1"}});
  // GPT-NeoX multiplies by the softmax over all experts.
  draft.Set("model.moe_norm_topk_prob", "false");
  if (tree.IsTrue("moe_token_dropping")) {
    draft.Set("model.moe_expert_capacity_factor", tree.Text("moe_train_capacity_factor"));
  }
  const int64_t interval = tree.Whole("moe_expert_interval", 1);
  if (interval > 1) {
    draft.Note(tree.Line("moe_expert_interval"),
               absl::StrCat("moe_expert_interval: GPT-NeoX has experts in one of ", interval,
                            " layers; this is not supported, so every layer has experts"));
  }
  if (const std::string router = tree.Text("moe_router_type"); router != "topk") {
    draft.Note(
        tree.Line("moe_router_type"),
        absl::StrCat(router.empty() ? "moe_router_type: without this setting, the release of "
                                      "GPT-NeoX decides the routing"
                                    : "moe_router_type: Sinkhorn routing is not supported",
                     "; the job chooses the experts with the highest scores and balances "
                     "them by model.moe_aux_loss_coeff"));
  }
  TurnOffBiasesOfExperts(draft, tree.Line("use_bias_in_mlp"), "GPT-NeoX adds biases");
}

void AddOlmoExperts(Translations& table) {
  table["model.moe_num_experts"] = Whole("");
  table["model.moe_top_k"] = Whole("");
  table["model.moe_loss_weight"] = Number("");
  table["model.moe_zloss_weight"] = Number("");
  table["model.moe_dropless"] = Switch("");
  table["model.moe_capacity_factor"] = Number("");
  for (const char* name : {"moe_mlp_impl", "moe_lbl_in_fp32", "moe_log_expert_assignment"}) {
    table[absl::StrCat("model.", name)] = Silent();
  }
  table["model.moe_interleave"] =
      NoteUnlessOff("every layer has experts, except for the first model.moe_dense_layers layers");
  table["model.moe_shared_expert"] = NoteUnlessOff(
      "OLMo averages the shared expert and the others, which is not supported; "
      "model.moe_shared_expert_intermediate_size adds up the outputs");
}

void ReadOlmoExperts(const SourceTree& tree, JobDraft& draft) {
  if (tree.Text("model.block_type") != "moe") return;
  const auto value = [&](const char* name, const char* otherwise) {
    const std::string path = absl::StrCat("model.", name);
    return tree.Has(path) ? tree.Text(path) : otherwise;
  };
  draft.Set("model.num_experts", value("moe_num_experts", "8"));
  draft.Set("model.moe_router_topk", value("moe_top_k", "2"));
  draft.Set("model.moe_z_loss_coeff", value("moe_zloss_weight", ""));
  // OLMo multiplies by the softmax over all experts.
  draft.Set("model.moe_norm_topk_prob", "false");
  if (tree.Has("model.moe_dropless") && !tree.IsTrue("model.moe_dropless")) {
    draft.Set("model.moe_expert_capacity_factor", value("moe_capacity_factor", "1.25"));
  }
  const double weight = NumberOf(value("moe_loss_weight", "0.1")).value_or(0);
  const double layers = draft.Number("model.num_layers").value_or(0);
  if (weight > 0 && layers > 0) {
    draft.Set("model.moe_aux_loss_coeff", DraftNumber(weight / layers));
    draft.Note(tree.Line("model.moe_loss_weight"),
               "model.moe_loss_weight: OLMo averages the balance loss over the layers; "
               "model.moe_aux_loss_coeff applies to each layer, so it is the weight divided by the "
               "number of layers");
  }
  TurnOffBiasesOfExperts(draft, tree.Line("model.include_bias"), "OLMo adds biases");
}

}  // namespace trainyard::cli
