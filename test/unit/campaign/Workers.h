// Workers of a campaign to whose file something happens before they read it.
#pragma once

#include <string>

namespace tbem::test {

/// Starts of `NAME worker FILE ...`; NAME says what happens to the file first: "plain" nothing, "cut" half of it is left,
/// "altered" a byte is another, "elsewhere" it is of a row for another device. False where the program was started as a test.
bool playWorker(int argc, char** argv);

/// This program under one of those names, in `folder`.
std::string workerCalled(const std::string& name, const std::string& folder);

}  // namespace tbem::test
