// The design of one row that the command line describes: a network by -e or of a file, with --input, --task, --at and --vary.
#pragma once

#include "compiler/experiment/Request.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

/// Whether the text of -e is a network's expression, and no program.
bool isExpression(const std::string& text);

/// Whether it is the path of a block or weight, or a pattern, as --freeze takes it.
bool isPlaceText(const std::string& text);

/// The text of a design of `network`, an expression, as a program would have it. A dimension of --input that is a name, and a
/// name in the network or the task that --at or --vary gives, is a factor. Its level is the one that --at says; else, of `fit`
/// and `what-if`, it is 1. Errors: why the command line says no such design.
tl::expected<std::string, std::string> oneRowDesign(const Request& request, const std::string& network);

}  // namespace tbem::driver
