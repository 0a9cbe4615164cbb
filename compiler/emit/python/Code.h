// Pieces of Python from which classes are put together: expressions whose operands are tensors of the graph, and whose numbers
// may turn out to be parameters of the class.
#pragma once

#include "compiler/emit/module/ModuleTree.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tbem::emit {

/// How tightly an expression holds together, by Python's grammar ("Operator precedence").
enum class Binding : std::uint8_t { Any, Select, Or, And, Not, Compare, BitOr, BitAnd, Sum, Product, Sign, Power, Atom };

/// A number, list or flag of an expression, as Python text. Where it is another one in other modules of the class, it is a
/// parameter of the class, with this name unless the declaration has a better one.
struct Hole {
  std::string name;
  std::string text;
};

/// Text whose operands and holes are marked (Scribe); `marks` below read them.
using Marked = std::string;

struct Argument {
  std::string keyword;  ///< empty: by position
  Marked text;
  Marked standard;  ///< the framework's default: an argument of this text is not written
};

struct CallText {
  std::string callee;
  std::vector<Argument> arguments;
};

/// What a framework has for a call or an operator.
struct Code {
  Marked text;  ///< an expression; empty: `call`
  Binding binding = Binding::Atom;
  CallText call;
  std::optional<CallText> module;  ///< its constructor, where it holds weights; `call` is then that of the module
};

/// Makes the marks of one step.
class Scribe {
public:
  explicit Scribe(std::vector<Hole>& holes) : holes(holes) {}
  /// The tensor, in parentheses where it is an expression that holds together less than `least`.
  static Marked operand(graph::TensorId tensor, Binding least = Binding::Any);
  Marked hole(std::string name, std::string text);

private:
  std::vector<Hole>& holes;
};

/// A mark in a text: of operand `tensor` or of hole `hole`.
struct Mark {
  std::size_t begin = 0, end = 0;  ///< in the text
  std::optional<graph::TensorId> tensor;
  Binding least = Binding::Any;
  std::size_t hole = 0;
};
std::vector<Mark> marksOf(const Marked& text);
/// The text with what stands for each mark.
using Filling = std::function<std::string(const Mark&)>;
std::string filled(const Marked& text, const Filling& filling);
/// The call with its marks filled, without the arguments that are the framework's defaults then.
std::string filled(const CallText& call, const Filling& filling);

/// The expression of a call or operator whose operands are these names and whose holes are these texts.
std::string expressionText(const Code& code, const std::function<std::pair<std::string, Binding>(graph::TensorId)>& operand,
                           const std::vector<std::string>& holes);

/// What the operands of an infix operator have to hold together at least: on the left as much as it does, where it may follow
/// itself, else more; on the right more.
struct Sides {
  Binding left, right;
};
Sides sidesOf(Binding binding);

/// The word, with a number behind it where it is taken; it is taken then.
std::string freshName(std::set<std::string>& taken, const std::string& wanted);

/// Names that a program's own must not hide, in lists of words with a space behind each.
struct TakenWords {
  std::string_view attributes;  ///< of a module in the framework
  std::string_view variables;   ///< what functions of the program read by name
  std::string_view classes;     ///< what it imports or declares beside the network's classes
};

/// "conv_bn_relu" as a class: ConvBnRelu.
std::string className(std::string_view word);
/// The word as an attribute of a module: words of Python, and what modules have already, get an underscore. Different words have
/// different names.
std::string pythonName(std::string_view word, const TakenWords& taken);
/// A path as a variable or a parameter, which hides nothing that functions read by name: `xs[0]` is xs_0.
std::string variableName(std::string_view path, const TakenWords& taken);
/// The words of a list, each once.
std::set<std::string> wordsOf(std::string_view list);
/// "3", "(1, 2)", "0.1", "True" of whole numbers, of several, of a real one.
std::string pythonText(std::int64_t number);
std::string pythonText(const std::vector<std::int64_t>& numbers);
std::string pythonReal(const Rational& number);
std::string pythonText(bool flag);
/// What is left of 1: 0.9 for 0.1.
std::string pythonRest(const Rational& number);

}  // namespace tbem::emit
