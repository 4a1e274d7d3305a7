// Help texts of arguments that several commands have.
#ifndef TRAINYARD_CLI_GRAMMAR_OPTION_HELP_H_
#define TRAINYARD_CLI_GRAMMAR_OPTION_HELP_H_

namespace trainyard::cli {

inline constexpr char kJobHelp[] = "number, name or @last";
inline constexpr char kJobOrAttemptHelp[] = "number, name, NAME@ATTEMPT or @last";
inline constexpr char kNodeHelp[] = "a node's name or id";

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_OPTION_HELP_H_
