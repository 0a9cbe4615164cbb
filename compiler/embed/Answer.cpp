#include "compiler/embed/Answer.h"

#include "compiler/support/Failed.h"

#include <fmt/format.h>

#include <utility>

namespace tbem::embed {

namespace {

tbem_outcome outcomeOf(int status) {
  switch (status) {
    case kOk:
      return TBEM_DONE;
    case kProgramErrors:
      return TBEM_PROGRAM_ERRORS;
    case kUsage:
      return TBEM_USAGE;
    case kEnvironment:
      return TBEM_ENVIRONMENT;
    case kRunFailed:
      return TBEM_RUN_FAILED;
    case kVerdictAgainst:
      return TBEM_VERDICT_AGAINST;
    default:
      return TBEM_INTERNAL;  // kInterrupted too: nobody interrupts
  }
}

std::string joined(const std::vector<std::string>& sentences) { return fmt::format("{}", fmt::join(sentences, "\n")); }

}  // namespace

Answer answerOf(const show::JsonOut& out, int status) {
  return {outcomeOf(status), out.lines(), joined(out.failures()), joined(out.notes())};
}

Answer refusal(std::string why) { return {TBEM_USAGE, {}, std::move(why), {}}; }

}  // namespace tbem::embed
