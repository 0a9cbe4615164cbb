// What a check says, as text that can be compared, and a check that keeps nothing: what a session is held against.
#pragma once

#include "compiler/diagnostics/Session.h"

#include "test/prop/syntax/Mutants.h"

#include <string>

namespace tbem::test {

/// Everything there is to say, in order: codes, places as file and bytes in it, messages, labels, notes, fixes, levels.
std::string allOf(const Session& checked);

/// What the stages of `tbemc check` say of this text as contents of the file `path`.
std::string freshCheck(const std::string& path, const std::string& text);

/// The text with one word or number replaced by another of the text, so that it mostly stays a program, if a wrong one.
std::string editAlike(const std::string& text, Numbers& numbers);
/// The text with one whole number one larger, as when a size is tried out.
std::string editNumber(const std::string& text, Numbers& numbers);

}  // namespace tbem::test
