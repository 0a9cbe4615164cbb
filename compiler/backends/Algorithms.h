// This machine's choices of algorithms: kept in a file, read by every command that lowers, added to by those that measure.
//
// One file for each backend, library, processor and instruction set: ~/.cache/tbemc/algorithms/HASH.txt, a line an operator. It
// is replaced as a whole under a lock, what is there is never changed, and a file that does not fit its checksum counts as
// absent.
#pragma once

#include "compiler/backends/Backends.h"
#include "compiler/backends/Tuning.h"
#include "compiler/lower/program/Program.h"
#include "compiler/support/Events.h"

#include <tl/expected.hpp>

#include <string>

namespace tbem::driver {

/// The choices kept for this device; empty without a file, and of one that is damaged. `refused`: as of readText (CacheFile.h).
estimate::Choices readChoices(const std::string& backend, const tbem_device_info& device, std::string& refused);

/// Adds `fresh` to the file. What another process put there meanwhile stands. Returns all that is there now, or why the file
/// cannot be written.
tl::expected<estimate::Choices, std::string> addChoices(const std::string& backend, const tbem_device_info& device,
                                                        const estimate::Choices& fresh);

/// Times every algorithm of the operators of `program` whose choice is assumed, one after the other in turn, and adds the results
/// to the file and to `opened`. True where there was something to time: lower again. False too where results cannot be kept:
/// the processes of one measurement would not agree. Errors: in words.
tl::expected<bool, std::string> tune(const estimate::Program& program, Opened& opened, Events& events);

/// What chose the algorithms of a program, for its row's identity: `tune` but where it is off, and a line for each call that
/// takes another than the default.
std::string algorithmsText(const estimate::Program& program, const Tuning& tuning);

}  // namespace tbem::driver
