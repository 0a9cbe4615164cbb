// The body of a block as text: what it makes, then its steps. Internal to compiler/import/text.
#pragma once

#include "compiler/import/text/MadeText.h"

#include <map>
#include <set>
#include <string>

namespace tbem::imports {

/// An expression as text, as a call and as the end of a pipe.
struct Text {
  std::string call;
  std::string pipe;  ///< "x |> conv1 |> relu"; empty: as `call`
  Binding binding = Binding::Atom;
  int depth = 0;  ///< of pipes

  bool isPiped() const { return depth > 1; }
  std::string as(Binding least) const {
    const std::string& text = isPiped() ? pipe : call;
    return (isPiped() ? kPipe : binding) < least ? "(" + text + ")" : text;
  }
};

/// Names of values in a block.
struct ValueNames {
  std::map<ValueId, std::string> names;
  std::set<std::string> taken;

  std::string fresh(const std::string& wanted) { return emit::freshName(taken, wanted); }
};

class BodyText {
public:
  /// `values` has the names of the block's inputs, weights and whatever else is taken, and gets those of the steps' results.
  BodyText(const Exported& exported, const MadeText& makes, const Block& block, const Unit& unit, ValueNames& values);
  std::string text();

private:
  Text operand(ValueId value);
  /// The application of something to one operand.
  static Text applied(const Text& operand, const std::string& callee, const std::string& arguments, bool isInstance);
  Text filledText(const Marked& marked, Binding binding);
  Text textOf(const Step& step);
  /// Whether the next step alone reads the result, and so has its text inside.
  bool isWrittenInNext(std::size_t at, const Text& text) const;
  std::string comment(const std::string& place);
  std::string declared(const Declared& weight) const;
  std::string chain(const Step& step);

  const Exported& exported;
  const MadeText& makes;
  const Block& block;
  const Unit& unit;
  ValueNames& values;
  std::map<ValueId, std::size_t> reads;  ///< how often the block reads each value
  std::map<ValueId, Text> waiting;       ///< texts that the next step has inside
  std::string lastPlace;
};

}  // namespace tbem::imports
