#include "compiler/design/model/Wide.h"

#include <array>
#include <charconv>

namespace tbem::design {

Wide decimal(double value) {
  std::array<char, 32> text{};
  const char* const end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific).ptr;
  Wide digits = 0;
  int exponent = 0;
  bool isFraction = false;
  const char* at = text.data() + (text[0] == '-' ? 1 : 0);
  for (; at != end && *at != 'e'; ++at) {
    if (*at == '.') {
      isFraction = true;
      continue;
    }
    digits = digits * 10 + Wide(*at - '0');
    exponent -= isFraction ? 1 : 0;
  }
  int power = 0;
  at += at != end && at + 1 != end && at[1] == '+' ? 2 : 1;  // from_chars reads no plus
  std::from_chars(at, end, power);
  exponent += power;
  Wide scale = 1;  // exact up to 10^48 in 113 bits
  for (int i = 0; i < (exponent < 0 ? -exponent : exponent); ++i) scale *= 10;
  const Wide size = exponent < 0 ? digits / scale : digits * scale;
  return value < 0 ? -size : size;
}

}  // namespace tbem::design
