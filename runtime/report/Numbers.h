// How numbers are written for people: the one home of it. JSON has plain numbers instead (cli.md).
#pragma once

#include <tl/expected.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbem::report {

/// Bytes with four digits in the largest unit of 1024 that is not below 1: "512 B", "1.500 KiB", "98.00 MiB", "1.000 GiB".
std::string bytes(std::uint64_t value);
std::string signedBytes(double value);  ///< the same with a sign, for differences: "-1.500 KiB"
/// FLOPs with four digits in powers of 1000: "4.089 GFLOP".
std::string flops(double value);
/// Seconds with four digits: "12.34 µs", "1.500 ms", "59.12 s", and from a minute on "2 min 5 s", "3 h 20 min", "2 d 4 h".
std::string seconds(double value);
std::string joules(double value);      ///< "1.234 mJ"
std::string percent(double fraction);  ///< "3.21 %": of 1, three digits
/// A whole number in groups of three, with narrow no-break spaces (U+202F) from five digits on: "269 722", "1024".
std::string grouped(std::int64_t value);
/// A number with `digits` significant digits, without exponent between 1e-4 and 1e7, without trailing zeros.
std::string number(double value, int digits = 4);

/// "inf", "-inf" or "nan" (whatever its sign); "" of a finite number.
std::string notFinite(double value);

/// "22GiB", "1.5 MiB", "4096", "512B", "24 GB" (powers of 1000). Errors: what is wrong with the text.
tl::expected<std::uint64_t, std::string> parseBytes(std::string_view text);
/// "90", "90s", "5min", "2h", "1d", "250ms", "1h30min". Errors as above.
tl::expected<double, std::string> parseSeconds(std::string_view text);

/// Columns that a UTF-8 text takes on a terminal: wide (East Asian, emoji) characters take two, combining ones none
/// (Unicode 15, UAX #11). Escape sequences of colour take none.
std::size_t displayWidth(std::string_view text);

}  // namespace tbem::report
