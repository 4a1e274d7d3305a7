// Rules for the attention backend and for the separation of documents within a sample.
#ifndef TRAINYARD_PROTO_RULES_ATTENTION_RULES_H_
#define TRAINYARD_PROTO_RULES_ATTENTION_RULES_H_

#include <string>
#include <string_view>
#include <vector>

#include "proto/contract/run_config.h"
#include "proto/contract/setting_rule.h"

namespace trainyard {

// Returns train.attention_backend, but replaces `auto`: by kCudnn if cuDNN may be able to compute
// the run's attention, otherwise by kManual. Only cuDNN, on the GPU, knows whether it has a plan
// for the sizes.
AttentionBackend AttentionBackendOf(const RunConfig& config);

// "cudnn".
std::string_view NameOf(AttentionBackend backend);

// True if a setting depends on the documents within a sample. The run then needs the token that
// ends a document.
bool UsesDocuments(const DataConfig& data);

// Reports a backend that cannot compute the run's attention.
std::vector<SettingProblem> FindAttentionProblems(const RunConfig& config);

// Reports contradictory settings for documents within a sample.
std::vector<SettingProblem> FindDocumentProblems(const RunConfig& config);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_RULES_ATTENTION_RULES_H_
