// Comma-separated values, RFC 4180: fields in `"` may hold commas, line ends and `""`; LF or CRLF; blank lines are passed over.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tbem {

struct CsvField {
  std::string text;                ///< without quotes, and without blanks around it
  std::size_t begin = 0, end = 0;  ///< bytes of the file
};

/// Why a text cannot be read, and where.
struct CsvFault {
  std::size_t begin = 0, end = 0;  ///< bytes of the text
  std::string cause;               ///< one sentence, lower case, no full stop
  std::string wayOut;              ///< the same
};

/// Takes a text apart, line by line. The text must outlive it.
class CsvReader {
public:
  explicit CsvReader(std::string_view text);
  /// The fields of the next line that is not blank. False at the end and at a fault.
  bool next(std::vector<CsvField>& fields);
  std::optional<CsvFault> fault;

private:
  bool fail(std::size_t begin, std::size_t end, std::string cause, std::string wayOut);
  void skipBlanks();
  bool endLine();
  CsvField field();
  CsvField plain();
  CsvField quoted();

  std::string_view text;
  std::size_t at = 0;
};

/// One line with its LF; fields stand in `"` where they must to read back as they are.
std::string csvLine(std::span<const std::string> fields);
/// The same; nothing is an empty field without quotes.
std::string csvLine(std::span<const std::optional<std::string>> fields);

}  // namespace tbem
