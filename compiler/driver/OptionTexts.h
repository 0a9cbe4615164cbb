// What `--help` says of an option where that differs from command to command.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace tbem::driver {

inline bool isOneOf(std::string_view command, std::initializer_list<std::string_view> list) {
  return std::ranges::find(list, command) != list.end();
}

/// Of FILE, --on, --out, --seed and --device.
const char* whatFiles(std::string_view command);
std::string whatBackends(std::string_view command);
const char* whatOut(std::string_view command);
const char* whatSeed(std::string_view command);
const char* whatDevice(std::string_view command);
/// A text on planned steps, of commands that plan none where nothing else is asked for.
std::string ofPlans(std::string_view command, const std::string& text);

}  // namespace tbem::driver
