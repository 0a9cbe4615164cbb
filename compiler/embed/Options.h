// Options of the C interface: those of the command line, but for what is of a terminal, of files or of this machine's records.
// Internal to this folder.
#pragma once

#include "compiler/driver/Embedded.h"
#include "compiler/embed/include/tbem/tbem.h"

#include <tl/expected.hpp>

#include <span>
#include <string>
#include <vector>

namespace tbem::embed {

/// What a command is asked for.
enum class Question { Check, Estimate, Fit, WhatIf, Spec, Step };

/// The question's command with these options. Errors: why an option is refused. A null name is the caller's to look for.
tl::expected<std::unique_ptr<driver::Invocation>, std::string> invocationOf(Question question,
                                                                            std::span<const tbem_option> options);

}  // namespace tbem::embed
