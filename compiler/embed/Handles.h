// What the pointers of tbem.h point to. Internal to this folder.
#pragma once

#include "compiler/embed/Answer.h"
#include "compiler/embed/Session.h"
#include "compiler/embed/Step.h"

#include <memory>
#include <string>
#include <utility>

struct tbem_session {
  explicit tbem_session(tbem::driver::Places places) : session(std::move(places)) {}
  tbem::embed::Session session;
  std::string error;
};

struct tbem_result {
  explicit tbem_result(tbem::embed::Answer given);
  tbem::embed::Answer answer;
  std::string json;  ///< all lines
};

struct tbem_step {
  std::shared_ptr<tbem::embed::Step> step;  ///< shared with the tensors that it gave
  std::string error;
};

namespace tbem::embed {

/// Why these options cannot be read, or "".
const char* wrongOptions(const tbem_option* options, std::size_t count);
/// Makes the result of an answer, if it is wanted; the reason goes to `error` too.
tbem_outcome hand(Answer answer, std::string& error, tbem_result** out);

}  // namespace tbem::embed
