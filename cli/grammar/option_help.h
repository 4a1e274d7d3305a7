// Help texts of arguments that several commands share.
#ifndef TRAINYARD_CLI_GRAMMAR_OPTION_HELP_H_
#define TRAINYARD_CLI_GRAMMAR_OPTION_HELP_H_

namespace trainyard::cli {

inline constexpr char kJobHelp[] = "job number, job name or @last";
inline constexpr char kJobOrAttemptHelp[] = "job number, job name, NAME@ATTEMPT or @last";
inline constexpr char kNodeHelp[] = "node name or id";

}  // namespace trainyard::cli

#endif  // TRAINYARD_CLI_GRAMMAR_OPTION_HELP_H_
