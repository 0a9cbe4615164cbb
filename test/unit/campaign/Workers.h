// Workers of a campaign to whose file something happens before they read it.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tbem::test {

/// What `NAME FILE IDENTITY CACHE_FOLDER` does as a worker, and its exit status; NAME says what happens to the file first:
/// "plain" nothing, "cut" half of it is left, "altered" a byte is another, "elsewhere" it is of a row for another device. Nothing
/// where the program was started as a test.
std::optional<int> playWorker(const std::vector<std::string>& command);

/// This program under one of those names, in `folder`.
std::string workerCalled(const std::string& name, const std::string& folder);

}  // namespace tbem::test
