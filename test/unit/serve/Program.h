// A program in memory as an editor asks of it, with places named by the text that stands there.
#pragma once

#include "compiler/serve/Reading.h"
#include "compiler/session/CompileSession.h"

#include <gtest/gtest.h>

#include <string>

namespace tbem::serve {

struct Program {
  session::CompileSession session;
  const Reading reading;

  explicit Program(const std::string& text) : reading(session.read("test.tbem", text)) {}

  /// Where `context` begins, moved on by `offset`; it stands there once.
  Loc at(const std::string& context, std::size_t offset = 0) const {
    return static_cast<Loc>(reading.source.base + byteAt(context, offset));
  }
  std::size_t byteAt(const std::string& context, std::size_t offset = 0) const {
    const std::size_t place = reading.source.text.find(context);
    EXPECT_NE(place, std::string::npos) << context;
    EXPECT_EQ(reading.source.text.find(context, place + 1), std::string::npos) << context << " stands twice";
    return place + offset;
  }
  std::string word(SrcRange range) const { return std::string(reading.sources().text(range)); }
};

}  // namespace tbem::serve
