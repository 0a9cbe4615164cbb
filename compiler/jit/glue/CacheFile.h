// Small text files in the folder of caches (~/.cache/tbemc), each for what one line of text identifies.
#pragma once

#include <functional>
#include <string>

namespace tbem::driver {

/// FOLDER/HASH.txt in the folder of caches, HASH of `line`; "" where there is no such folder (HOME and XDG_CACHE_HOME unset).
std::string cacheFilePath(const std::string& folder, const std::string& line);
/// "FILE: REASON" for the user of a file that `readText` refused.
std::string notBelieved(const std::string& refused);
/// All of such a file; "" where it is not there. One that others can write, or that another user put there, counts as not there:
/// `refused` says why then, else "".
std::string readText(const std::string& path, std::string& refused);
/// Replaces the file as a whole by what `change` makes of its text ("" where it is not there, or counts as that), while other
/// processes that do so wait. "" or why it cannot be written.
std::string updateText(const std::string& path, const std::function<std::string(const std::string& text)>& change);

}  // namespace tbem::driver
