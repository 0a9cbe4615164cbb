// What there is to say of a question: the C interface's results. Internal to this folder.
#pragma once

#include "compiler/embed/include/tbem/tbem.h"
#include "compiler/show/JsonOut.h"

#include <string>
#include <vector>

namespace tbem::embed {

struct Answer {
  tbem_outcome outcome = TBEM_DONE;
  std::vector<std::string> lines;  ///< JSON objects
  std::string error, notes;        ///< sentences, each on a line
};

/// `status`: of a command (support/Failed.h).
Answer answerOf(const show::JsonOut& out, int status);
/// A reason without a command: the caller's mistake.
Answer refusal(std::string why);

}  // namespace tbem::embed
