// The words of a PTX text. Comments are passed over.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace tbem::card {

struct Token {
  enum class Kind : std::uint8_t {
    Word,     ///< with its dots: "ld.global.nc.f32", "%tid.x", ".reg", "$L__BB0_1"
    Integer,  ///< `value`
    Real32,   ///< 0f3F800000: `value` holds the bits
    Real64,   ///< 0d..., and decimals such as 1.5
    String,
    Mark,  ///< one character
    End
  };
  Kind kind = Kind::End;
  std::string_view text;
  std::uint64_t value = 0;
  unsigned line = 0;  ///< from 1
};

/// The last one is an End. Throws PtxFailure. The tokens point into `text`.
std::vector<Token> tokensOf(std::string_view text);

}  // namespace tbem::card
