// Standard output and standard error. Nothing here throws: that something could not be written is kept in mind until the command
// ends, so that what else the command makes (a campaign's rows, a file) is made.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string_view>
#include <utility>

namespace tbem {

/// Text for people: controls are escaped (Unicode.h), but for line ends and tabs.
void writeText(std::FILE* stream, std::string_view text);
/// What programs read (CSV, DOT, a program's source): as it is, on a terminal escaped.
void writeData(std::string_view text);
/// Text whose controls are escaped already or are meant: JSON, tables with colours, bars of progress.
void writeStyled(std::FILE* stream, std::string_view text);

template <class... T>
void printOut(fmt::format_string<T...> format, T&&... values) {
  writeText(stdout, fmt::format(format, std::forward<T>(values)...));
}
template <class... T>
void printErr(fmt::format_string<T...> format, T&&... values) {
  writeText(stderr, fmt::format(format, std::forward<T>(values)...));
}

void flushOutput();
/// Whether a write to standard output has said that nobody reads it any more.
bool outputHasNoReader();
/// After a flush: why the first write to the stream failed, as `errno` says it; 0 where all was written.
int writeFailure(std::FILE* stream);

}  // namespace tbem
