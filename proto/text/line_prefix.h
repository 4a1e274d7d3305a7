// Removes the text that launchers and loggers put before each line of a program's output.
#ifndef TRAINYARD_PROTO_TEXT_LINE_PREFIX_H_
#define TRAINYARD_PROTO_TEXT_LINE_PREFIX_H_

#include <optional>
#include <string_view>

namespace trainyard {

// Returns the line without its prefixes, and without the blanks after them. Prefixes are labels of
// ranks and nodes (srun, mpirun, torchrun, pdsh, Ray), dates and times, and the names and levels of
// loggers. Levels of errors are kept, because they are part of the message. Returns a line without
// a prefix unchanged. The line must be valid UTF-8.
std::string_view WithoutLinePrefixes(std::string_view line);

// The label of a rank before a line.
struct LineLabel {
  int number = 0;
  // True if the number counts the ranks of one launcher, as in torchrun's label "[default1]:".
  // False if the number counts the ranks of the job, as in "[rank1]:", PyTorch's label of errors.
  bool is_local = false;
};

// Returns the label at the start of the line; nullopt if there is none.
std::optional<LineLabel> LineLabelOf(std::string_view line);

}  // namespace trainyard

#endif  // TRAINYARD_PROTO_TEXT_LINE_PREFIX_H_
