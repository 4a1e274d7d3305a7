// Labels of nodes: the settings of workers by which jobs select nodes.
#ifndef TRAINYARD_PROTO_TEXT_NODE_LABEL_H_
#define TRAINYARD_PROTO_TEXT_NODE_LABEL_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard {

// The label that every node with GPUs has: the model of its GPUs. Workers cannot set it.
inline constexpr char kDeviceLabel[] = "device";
// Maximum number of labels of a node.
inline constexpr std::size_t kMaxLabels = 50;

// Returns the reason why a label is not valid, as the end of a sentence, or "" if it is valid.
// Names have 1 to 63 letters, digits, `.`, `_`, `-` and `/`. Values have 1 to 128 bytes of
// printable text.
std::string LabelProblem(std::string_view name, std::string_view value);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_NODE_LABEL_H_
